//! Carries out what a step took up. In: an action and the pod it came from; out: the next status. Deliberately absent:
//! any rule about phases, which are in `matrix` and `judge`.

use super::key::PodKey;
use super::matrix::{Move, Then};
use super::phase::JobPhase;
use super::policy::Action;
use super::state::{Delayed, Raised};
use super::status::GangStatus;
use super::turn::Turn;
use super::{judge, target::Target};

impl Turn<'_> {
    pub(super) fn act(&mut self, action: Action, pod: Option<PodKey>) {
        let (before, merely_new) = (self.next.phase(), matches!(action, Action::SyncJob));
        let target = Target::of(self.spec, action, pod);
        match Move::of(before, action) {
            Move::Sync => self.sync(),
            Move::Stop { keep, then } => self.stop_all(keep, then),
            Move::StopTarget { then } => self.stop_target(target, then),
        }
        self.forget_delayed(action, target);
        let refused = self.next.queue_missing_since.is_some();
        self.next.settled = merely_new && !refused && self.next.phase() == before;
    }

    /// The phase after a stop; a restart spends a retry.
    pub(super) fn follow(&self, then: Then, status: &mut GangStatus) {
        status.phase = match then {
            Then::Go(phase) => phase,
            Then::Await(phase) if status.counts.terminating == 0 => phase,
            Then::Restart => JobPhase::Restarting,
            Then::JudgeRestart => judge::while_restarting(self.spec, status),
            Then::Await(_) | Then::Stay => status.phase,
        };
        if matches!(then, Then::Restart) {
            status.retry_count = status.retry_count.saturating_add(1);
        }
    }

    /// Makes `status` the one that the Job shows.
    pub(super) fn write(&mut self, status: GangStatus) {
        let phase = status.phase;
        if phase != self.next.phase() {
            self.next.ended = phase.is_at_rest().then_some(self.now);
        }
        if matches!(phase, JobPhase::Running) {
            self.next.started.get_or_insert(self.now);
        }
        self.next.status = status;
        self.written = true;
    }

    /// What was done needs no doing later: delayed actions of the same reach are dropped.
    fn forget_delayed(&mut self, action: Action, target: Target) {
        if matches!(action, Action::SyncJob | Action::EnqueueJob) {
            return;
        }
        let spec = self.spec;
        self.next.delayed.retain(
            |Delayed {
                 raised:
                     Raised {
                         action,
                         pod,
                         event: _,
                     },
                 due: _,
             }| { Target::of(spec, *action, *pod) != target },
        );
    }
}
