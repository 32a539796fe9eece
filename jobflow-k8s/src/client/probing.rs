//! The pods of flows as a prober sees them: where they are now, and which flow hears of an answer that is news.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, Weak};

use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::probe::{Probe, ProbeAnswer};

use super::cell::locked;
use super::flow::Input;
use super::hub::Hub;
use crate::observe::addresses;
use crate::probe::Field;

/// How many looks there are at a time.
pub(super) const LOOKS: usize = 128;

/// What a probe is wanted as: by which flow, of which Job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    pub(super) flow: Arc<str>,
    pub(super) job: String,
    pub(super) fact: FactKey,
}

/// The pods of all flows of a driver.
pub(super) struct Probed {
    hub: Weak<Hub>,
    /// The last answers, and how often in a row they came.
    last: Mutex<BTreeMap<Wanted, (ProbeAnswer, u32)>>,
}

impl Probed {
    pub(super) const fn of(hub: Weak<Hub>) -> Self {
        Self {
            hub,
            last: Mutex::new(BTreeMap::new()),
        }
    }

    /// Drops what is known of a flow's probes that it doesn't want any more.
    pub(super) fn keep(&self, flow: &str, wanted: &[(FactKey, String)]) {
        locked(&self.last).retain(|known, _| {
            let is_it = |(fact, job): &(FactKey, String)| *job == known.job && *fact == known.fact;
            *known.flow != *flow || wanted.iter().any(is_it)
        });
    }

    /// Whether an answer may change a plan: it is another one, or a success that is still counted.
    fn is_news(&self, wanted: &Wanted, answer: ProbeAnswer) -> bool {
        let mut last = locked(&self.last);
        let before = last.get(wanted).copied();
        let streak = before
            .filter(|(before, _)| *before == answer)
            .map_or(0, |(_, streak)| streak);
        last.insert(wanted.clone(), (answer, streak.saturating_add(1)));
        let counted = match &wanted.fact {
            FactKey::Probe { probe, .. } => probe.success_threshold,
            FactKey::Template(_) | FactKey::Rendered(_) | FactKey::Queue(_) | FactKey::Custom { .. } => 0,
            _ => 0,
        };
        streak == 0 || (answer == ProbeAnswer::Success && streak < counted)
    }
}

impl Field for Probed {
    type Key = Wanted;

    fn addresses(&self, key: &Wanted, probe: &Probe) -> Vec<Result<IpAddr, ProbeAnswer>> {
        let Some(hub) = self.hub.upgrade() else {
            return Vec::new();
        };
        hub.pods_of(&key.flow, &key.job, |job, pods| addresses(job, pods, &probe.task))
            .unwrap_or_default()
    }

    fn answered(&self, key: Wanted, answer: ProbeAnswer) {
        if !self.is_news(&key, answer) {
            return;
        }
        let Some(hub) = self.hub.upgrade() else { return };
        let Wanted { flow, job, fact } = key;
        if let Some(cell) = hub.cell(&flow) {
            hub.deliver(&cell, Input::Probed(fact, job, Answer::Probe(answer)));
        }
    }
}
