//! The life of a Volcano Job as a pure machine.
//!
//! Comes in: a spec, the state after the last step, what is seen of pods and admission, a command, and the time. Goes
//! out: the next state with the status that Volcano would write, pods to start and to stop, and when to look again.
//! Deliberately absent: processes and objects, the books of a queue, read-time defaults, names of pods.
//!
//! ```text
//!                    the first look            enough pods run or ran
//!            (empty) ──────────────▶ Pending ─────────────────────────▶ Running ──── all ended ───▶ Completed
//!                                    ▲  │  ▲                            │  │  └───── minSuccess         or
//!              a retry is left, and  │  │  └── more pending than spare ─┘  │                         Failed
//!              enough pods are gone  │  │                                  │                            ▲
//!                                    │  ├──────── AbortJob ────────────────┤                            │
//!                                    │  │           └─▶ Aborting ── gone ─▶ Aborted                     │
//!                                    │  │                  └── ResumeJob ────┤                          │
//!                                    │  │                     (one retry)    │                          │
//!                                    │  ├──────── Restart… (one retry) ────┐ │                          │
//!                                    └──┼───────────────────────────── Restarting ── no retry is left ──┘
//!                                       ├──────── CompleteJob ──▶ Completing ── gone ──▶ Completed
//!                                       └──────── TerminateJob ─▶ Terminating ─ gone ──▶ Terminated
//! ```
//!
//! Pending and Running hear the same actions; (empty) too. The whole table, each phase with each action, is the
//! snapshot beside `matrix`. Where the rules come from: recordings of a real Volcano (`tests/traces`, each of which the
//! machine reproduces), and for what they don't show, the source of its job controller.
//!
//! One step answers one thing and writes one status at most, so that a stand-in for Volcano writes what Volcano writes;
//! [`GangPlan::wake_at`] is `now` while there is more to answer. A driver loops:
//!
//! ```
//! use jobflow_core::Time;
//! use jobflow_core::gang::{Admission, GangSpec, GangState, GangTask, JobPhase, PodPhase, PodView, Pods, step};
//!
//! /// Steps until nothing more is to be decided. A real driver writes each state down before it acts.
//! fn settle(spec: &GangSpec, state: &mut GangState, pods: &mut Pods, now: Time) {
//!     loop {
//!         let plan = step(spec, state, pods, None, now);
//!         for key in &plan.start {
//!             pods.seen.entry(*key).or_insert_with(|| PodView::new(PodPhase::Pending));
//!         }
//!         for key in &plan.stop {
//!             pods.seen.remove(key);
//!         }
//!         *state = plan.next;
//!         if plan.wake_at.is_none_or(|at| at > now) {
//!             return;
//!         }
//!     }
//! }
//!
//! let task = GangTask { name: "main".into(), replicas: 2, min_available: 2, ..GangTask::default() };
//! let spec = GangSpec { min_available: 2, max_retry: 3, tasks: vec![task], ..GangSpec::default() };
//! let (mut state, mut pods) = (GangState::new(Time(0)), Pods::default());
//!
//! settle(&spec, &mut state, &mut pods, Time(1));
//! assert_eq!(state.phase(), JobPhase::Pending);
//! assert!(pods.seen.is_empty(), "no pod before there is room for the gang");
//!
//! pods.admission = Admission::Granted;
//! settle(&spec, &mut state, &mut pods, Time(2));
//! assert_eq!(state.status.counts.pending, 2);
//!
//! pods.seen.values_mut().for_each(|pod| *pod = PodView::new(PodPhase::Running));
//! settle(&spec, &mut state, &mut pods, Time(3));
//! assert_eq!(state.phase(), JobPhase::Running);
//!
//! pods.seen.values_mut().for_each(|pod| *pod = PodView::new(PodPhase::Succeeded));
//! settle(&spec, &mut state, &mut pods, Time(4));
//! assert_eq!(state.phase(), JobPhase::Completed);
//! ```
//!
//! Known differences from Volcano: a pod that Succeeded counts for tasks that depend on its task; an action that was
//! put off dies with the version of the job that it was put off in; an end is rewritten once, not for every late
//! update.

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
/// Of several new things a command comes first, then a queue that has been missing for too long, then an action whose
/// time has come, then events in the order in which they were seen (of one look: by task and replica), then mere
/// changes. A command is consumed: hand it in once, and not again once the plan's state is written down.
///
/// A step with nothing new returns the state as it was, and asks again for starts and stops that it doesn't see done.
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
