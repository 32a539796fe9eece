//! What this machine has.

use std::{collections::BTreeMap, fs, thread};

use serde::{Deserialize, Serialize};

use super::{Amounts, Quantity};

/// The whole of what may be taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// By resource: `cpu`, `memory`, `nvidia.com/gpu`, …
    pub amounts: Amounts,
}

impl Machine {
    /// Asks the system for processors and memory.
    pub fn of_this_system() -> Self {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let mut amounts = BTreeMap::from([("cpu".to_owned(), Quantity::whole(cpus as u64))]);
        amounts.insert("memory".to_owned(), memory().unwrap_or_default());
        Self { amounts }
    }

    /// Sets an amount, as `--cpus`, `--memory` and `--resources` do.
    pub fn set(&mut self, resource: &str, amount: Quantity) {
        self.amounts.insert(resource.to_owned(), amount);
    }
}

fn memory() -> Option<Quantity> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Quantity::whole(kibibytes.saturating_mul(1024)))
}
