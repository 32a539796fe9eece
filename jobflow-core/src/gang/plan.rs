//! What one step decided.

use alloc::vec::Vec;

use super::key::PodKey;
use super::policy::{Action, Command, Event};
use super::state::GangState;
use crate::time::Time;

/// The outcome of one [`step`](super::step): the next state, and effects that follow from it.
///
/// The state is written down first, then effects are carried out. Each effect may happen twice or not at all: a step
/// asks again for what it doesn't see.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GangPlan {
    /// The state after the step; its `status` is what a Job would show.
    pub next: GangState,
    /// Whether Volcano would write the status. Never twice the same.
    pub written: bool,
    /// Pods to start. Again and again, until they are seen.
    pub start: Vec<PodKey>,
    /// Pods that Volcano makes and deletes before they can run, for the Job ended in the same write. A driver of
    /// objects makes them; a driver of processes leaves them alone.
    pub fleeting: Vec<PodKey>,
    /// Pods to stop, or to take away if they ended. Again and again, until they are terminating or gone.
    pub stop: Vec<PodKey>,
    /// Whether the gang gives its place back (Volcano deletes the PodGroup): it must be admitted anew.
    pub released: bool,
    /// When to step again even if nothing is seen to change; `now` when there is more to decide at once, never before.
    pub wake_at: Option<Time>,
    /// What the step answered to.
    pub cause: Cause,
}

/// Why a step did what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Cause {
    /// Nothing was new.
    Nothing,
    /// Something was new, and no policy speaks of it.
    Changed,
    /// Somebody asked for it.
    Commanded(Command),
    /// A policy, at once or after its timeout.
    Policy {
        /// What happened.
        event: Event,
        /// What the policy says.
        action: Action,
        /// The pod it happened to; `None` for an event of the whole job.
        pod: Option<PodKey>,
    },
    /// The queue has been missing for so long that Volcano gives up.
    QueueMissing,
}
