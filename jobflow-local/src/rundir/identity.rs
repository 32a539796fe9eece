//! Who runs, and on which machine.

use std::fs;

use nix::unistd;
use serde::{Deserialize, Serialize};

/// A user on a host: process numbers and files of a run mean something only to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The effective user's number.
    pub user: u32,
    /// The machine's id, or its name where it has none.
    pub host: String,
}

impl Identity {
    /// Asks the system.
    pub fn of_this_process() -> Self {
        Self {
            user: unistd::geteuid().as_raw(),
            host: host(),
        }
    }
}

fn host() -> String {
    let id = fs::read_to_string("/etc/machine-id")
        .unwrap_or_default()
        .trim()
        .to_owned();
    if !id.is_empty() {
        return id;
    }
    unistd::gethostname().map_or_else(
        |_| "localhost".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
