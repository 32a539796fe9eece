//! The status of a Job as Volcano writes it, in numbers. Deliberately absent: JSON, texts, and `reason` and `message`
//! of the state, which Volcano leaves empty.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::phase::{JobPhase, PodPhase};
use crate::time::{Span, Time};

/// What stands in a Job's `status` after a write.
///
/// `counts.terminating` is the only count that survives a write that stops pods: Volcano counts what it stops and
/// nothing else, so an end that was written with counts is written a second time without.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GangStatus {
    /// `state.phase`.
    pub phase: JobPhase,
    /// `state.lastTransitionTime`; set anew by every write that counts pods, also within a phase.
    pub last_transition: Option<Time>,
    /// The minimum that was in force; `None` until the first look.
    pub min_available: Option<u32>,
    /// Raised by each stop of the whole job.
    pub version: u32,
    /// Restarts so far; a resume counts too.
    pub retry_count: u32,
    /// Pods by phase.
    pub counts: PodCounts,
    /// The same for each task that has a pod which isn't terminating.
    pub task_status_count: BTreeMap<String, BTreeMap<PodPhase, u32>>,
    /// Each phase with the last time it was reached, oldest first.
    pub conditions: Vec<Condition>,
    /// From creation to the last transition, set when pods are stopped.
    pub running_duration: Option<Span>,
}

/// Pods by phase; one that is terminating counts as nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PodCounts {
    /// Not running yet.
    pub pending: u32,
    /// Running.
    pub running: u32,
    /// Ended well.
    pub succeeded: u32,
    /// Ended badly.
    pub failed: u32,
    /// Told to go.
    pub terminating: u32,
    /// Out of sight.
    pub unknown: u32,
}

/// One entry of `conditions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Condition {
    /// The phase.
    pub status: JobPhase,
    /// When it was last written with a change.
    pub last_transition: Time,
}

impl PodCounts {
    /// The count of one phase, to be raised.
    pub(super) const fn of(&mut self, phase: PodPhase) -> &mut u32 {
        match phase {
            PodPhase::Pending => &mut self.pending,
            PodPhase::Running => &mut self.running,
            PodPhase::Succeeded => &mut self.succeeded,
            PodPhase::Failed => &mut self.failed,
            PodPhase::Unknown => &mut self.unknown,
        }
    }

    /// Running, succeeded and failed: pods that got a place.
    pub(super) const fn placed(self) -> u32 {
        self.running
            .saturating_add(self.succeeded)
            .saturating_add(self.failed)
    }
}

impl GangStatus {
    /// Notes a transition: the phase's older condition gives way to one at `now`.
    pub(super) fn transit(&mut self, now: Time) {
        let status = self.phase;
        self.last_transition = Some(now);
        self.conditions.retain(|condition| condition.status != status);
        self.conditions.push(Condition {
            status,
            last_transition: now,
        });
    }
}
