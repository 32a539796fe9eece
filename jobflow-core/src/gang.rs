//! The life of a Volcano Job as a pure machine.

use alloc::vec::Vec;

mod key;
mod names;
mod phase;
mod plan;
mod pods;
mod policy;
mod spec;
mod state;
mod status;

pub use key::{PodKey, PodKeyError};
pub use phase::{JobPhase, PodPhase};
pub use plan::{Cause, GangPlan};
pub use pods::{Admission, PodView, Pods};
pub use policy::{Action, Command, Event, Policy};
pub use spec::{DependsOn, GangSpec, GangTask, Iteration};
pub use state::GangState;
pub use status::{Condition, GangStatus, PodCounts};

use crate::time::Time;

/// Decides what comes next for a gang: one answer to what is new, one status write at most.
///
/// `now` never steps back in effect: a delayed action is due once its time has come.
#[must_use]
pub fn step(
    _spec: &GangSpec,
    state: &GangState,
    _pods: &Pods,
    _command: Option<Command>,
    _now: Time,
) -> GangPlan {
    GangPlan {
        next: state.clone(),
        written: false,
        start: Vec::new(),
        fleeting: Vec::new(),
        stop: Vec::new(),
        released: false,
        wake_at: None,
        cause: Cause::Nothing,
    }
}
