//! The life of a Volcano Job as a pure machine.

mod act;
mod judge;
mod key;
mod look;
mod matrix;
mod names;
mod phase;
mod plan;
mod pods;
mod policy;
mod raise;
mod request;
mod spec;
mod state;
mod status;
mod stop;
mod sync;
mod target;
mod turn;

pub use key::{PodKey, PodKeyError};
pub use phase::{JobPhase, PodPhase};
pub use plan::{Cause, GangPlan};
pub use pods::{Admission, PodView, Pods};
pub use policy::{Action, Command, Event, Policy};
pub use spec::{DependsOn, GangSpec, GangTask, Iteration};
pub use state::GangState;
pub use status::{Condition, GangStatus, PodCounts};

use crate::time::Time;
use turn::Turn;

/// Decides what comes next for a gang: one answer to what is new, one status write at most.
///
/// `now` never steps back in effect: a delayed action is due once its time has come.
#[must_use]
pub fn step(
    spec: &GangSpec,
    state: &GangState,
    pods: &Pods,
    command: Option<Command>,
    now: Time,
) -> GangPlan {
    let mut turn = Turn::new(spec, state, pods, now);
    turn.look();
    let cause = turn.request(command);
    if let Some((action, pod)) = cause.request() {
        turn.act(action, pod);
    }
    turn.plan(cause)
}
