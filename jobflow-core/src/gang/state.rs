//! What a gang remembers between steps. Whatever a later step would decide otherwise is in here, so it may be written
//! down and read back between any two steps. Deliberately absent: handles of processes and names of objects.

use alloc::vec::Vec;

use super::key::PodKey;
use super::phase::{JobPhase, PodPhase};
use super::pods::Admission;
use super::policy::{Action, Event};
use super::status::GangStatus;
use crate::time::Time;

/// The record of one Job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GangState {
    /// When the Job was made.
    pub created: Time,
    /// When it first was Running.
    pub started: Option<Time>,
    /// When it came to its present rest (an end, or Aborted); `None` while it isn't at rest.
    pub ended: Option<Time>,
    /// The status that was written last.
    pub status: GangStatus,
    /// Replicas by task and index.
    pub(super) slots: Vec<Vec<Slot>>,
    /// What happened and is to be answered at once, oldest first.
    pub(super) raised: Vec<Raised>,
    /// Actions that policies put off, oldest first.
    pub(super) delayed: Vec<Delayed>,
    /// The admission that the last step saw.
    pub(super) admission: Option<Admission>,
    /// Since when nothing can be decided for want of a queue.
    pub(super) queue_missing_since: Option<Time>,
    /// Whether the present phase has been looked at since it was reached.
    pub(super) settled: bool,
}

/// One replica of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Slot {
    /// How many pods it had, the present one included.
    pub(super) made: u32,
    /// The pod it has.
    pub(super) pod: Option<Known>,
}

/// What was last made of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Known {
    /// Version of the Job when the pod was asked for.
    pub(super) version: u32,
    /// Whether it has been seen at all.
    pub(super) seen: bool,
    /// Whether we stopped it: nothing that becomes of it is an event.
    pub(super) stopped: bool,
    pub(super) phase: PodPhase,
    pub(super) ready: bool,
    pub(super) terminating: bool,
    pub(super) restarts: u32,
}

/// An event and what the policy that speaks of it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Raised {
    pub(super) event: Event,
    pub(super) action: Action,
    /// The pod it is about; `None` for an event of the whole job.
    pub(super) pod: Option<PodKey>,
}

/// An action that waits for its time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Delayed {
    pub(super) raised: Raised,
    pub(super) due: Time,
}

impl GangState {
    /// The state of a Job that was just made.
    #[must_use]
    pub fn new(created: Time) -> Self {
        Self {
            created,
            started: None,
            ended: None,
            status: GangStatus::default(),
            slots: Vec::new(),
            raised: Vec::new(),
            delayed: Vec::new(),
            admission: None,
            queue_missing_since: None,
            settled: false,
        }
    }

    /// The phase of the Job.
    #[must_use]
    pub const fn phase(&self) -> JobPhase {
        self.status.phase
    }

    /// The pod that a replica has.
    pub(super) fn pod(&self, key: PodKey) -> Option<&Known> {
        let slot = self.slots.get(key.task as usize)?.get(key.index as usize)?;
        slot.pod
            .as_ref()
            .filter(|_| slot.made == key.incarnation.saturating_add(1))
    }

    /// The version of the Job under which a pod was asked for; `None` unless the replica still has that pod.
    #[must_use]
    pub fn version_of(&self, key: PodKey) -> Option<u32> {
        self.pod(key).map(|pod| pod.version)
    }

    /// Whether a pod was asked for and not seen yet: it is asked for again until it is. A driver whose pods can go
    /// before anybody saw them shows such a pod once, so that the replica gets another one.
    #[must_use]
    pub fn asks_for(&self, key: PodKey) -> bool {
        self.pod(key).is_some_and(|pod| !pod.seen && !pod.stopped)
    }
}

impl Slot {
    /// The key of the present pod.
    pub(super) fn key(&self, task: usize, index: usize) -> PodKey {
        PodKey {
            task: place(task),
            index: place(index),
            incarnation: self.made.saturating_sub(1),
        }
    }

    /// Asks for a pod; the replica has none.
    pub(super) fn make(&mut self, version: u32) {
        self.made = self.made.saturating_add(1);
        self.pod = Some(Known::asked(version));
    }
}

impl Known {
    /// Whether it is on its way out, by us or by others.
    pub(super) const fn is_going(&self) -> bool {
        self.stopped || self.terminating
    }

    /// A pod that was just asked for.
    pub(super) const fn asked(version: u32) -> Self {
        Self {
            version,
            seen: false,
            stopped: false,
            phase: PodPhase::Pending,
            ready: false,
            terminating: false,
            restarts: 0,
        }
    }
}

/// A place in a list as part of a key; lists are never that long.
fn place(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
