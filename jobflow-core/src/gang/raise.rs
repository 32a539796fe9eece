//! What a change means. In: a pod as it was known and as it is seen; out: an event that a policy answers, at once or
//! after a timeout, or else the mere fact that something changed. Deliberately absent: doing anything about it.

use super::key::PodKey;
use super::look::Change;
use super::phase::PodPhase;
use super::pods::PodView;
use super::policy::{Event, Policy};
use super::state::{Delayed, Known, Raised};
use super::turn::Turn;

impl Turn<'_> {
    /// At most one event a change, and nothing for a pod that we stopped.
    pub(super) fn raise_for(&mut self, change: &Change<'_>) {
        let Change { key, was, view } = change;
        self.take_back(*key, *view);
        if was.stopped || was.version < self.next.status.version {
            self.changed = true;
            return;
        }
        let Some(view) = view else {
            return self.raise(Event::PodEvicted, None, Some(*key));
        };
        let event = self.event_of(*key, was.phase, view);
        let exit_code = (event == Event::PodFailed)
            .then(|| view.exit_codes.first().copied())
            .flatten();
        self.raise(event, exit_code, Some(*key));
    }

    fn event_of(&self, key: PodKey, was: PodPhase, view: &PodView) -> Event {
        if view.terminating {
            return Event::OutOfSync;
        }
        match view.phase {
            PodPhase::Failed if was != PodPhase::Failed => Event::PodFailed,
            PodPhase::Succeeded if was != PodPhase::Succeeded && self.is_task_completed(key) => {
                Event::TaskCompleted
            }
            PodPhase::Pending | PodPhase::Running if self.is_task_failed(key) => Event::TaskFailed,
            PodPhase::Pending => Event::PodPending,
            PodPhase::Running => Event::PodRunning,
            PodPhase::Failed | PodPhase::Succeeded | PodPhase::Unknown => Event::OutOfSync,
        }
    }

    /// Pods of the same task, without those on their way out: what they did belongs to a round that is over.
    fn pods_of(&self, key: PodKey) -> impl Iterator<Item = &Known> {
        let pods = self
            .known()
            .filter(move |(other, pod)| other.task == key.task && !pod.is_going());
        pods.map(|(_, pod)| pod)
    }

    fn is_task_completed(&self, key: PodKey) -> bool {
        let succeeded = self
            .pods_of(key)
            .filter(|pod| pod.phase == PodPhase::Succeeded)
            .count();
        self.spec
            .tasks
            .get(key.task as usize)
            .is_some_and(|task| succeeded >= task.replicas as usize)
    }

    fn is_task_failed(&self, key: PodKey) -> bool {
        let live = self.pods_of(key).filter(|pod| !pod.phase.is_ended());
        let restarts = live.fold(0_u32, |sum, pod| sum.saturating_add(pod.restarts));
        let limit = self
            .spec
            .tasks
            .get(key.task as usize)
            .and_then(|task| task.max_retry);
        limit.is_some_and(|limit| limit > 0 && restarts >= limit)
    }

    /// Asks the policies; what none of them speaks of is merely a change.
    pub(super) fn raise(&mut self, event: Event, exit_code: Option<i32>, pod: Option<PodKey>) {
        let task = pod.and_then(|key| self.spec.tasks.get(key.task as usize));
        let policies = task
            .into_iter()
            .flat_map(|task| &task.policies)
            .chain(&self.spec.policies);
        let asked = !matches!(event, Event::PodRunning | Event::OutOfSync);
        let policy = asked.then(|| Policy::find(policies, event, exit_code)).flatten();
        let Some(policy) = policy else {
            self.changed = true;
            return;
        };
        let raised = Raised {
            event,
            action: policy.action,
            pod,
        };
        match policy.timeout {
            None => self.next.raised.push(raised),
            Some(timeout) => self.delay(Delayed {
                raised,
                due: self.now + timeout,
            }),
        }
    }

    /// One delayed action a replica: the same one isn't put off further, another one takes its place.
    fn delay(&mut self, delayed: Delayed) {
        let replica = delayed.raised.replica();
        let same = |other: &Delayed| other.raised.replica() == replica;
        if self
            .next
            .delayed
            .iter()
            .any(|other| same(other) && other.raised.action == delayed.raised.action)
        {
            return;
        }
        self.next.delayed.retain(|other| !same(other));
        self.next.delayed.push(delayed);
    }

    /// Takes back delayed actions whose ground is gone: a pod that was pending isn't any more, or the replica of one
    /// that failed or was evicted runs again.
    fn take_back(&mut self, key: PodKey, view: Option<&PodView>) {
        let phase = view.map(|view| view.phase);
        self.next
            .delayed
            .retain(|Delayed { raised, due: _ }| match raised.event {
                Event::PodPending => raised.pod != Some(key) || phase == Some(PodPhase::Pending),
                Event::PodFailed | Event::PodEvicted => {
                    raised.replica() != Some((key.task, key.index)) || phase != Some(PodPhase::Running)
                }
                Event::Any
                | Event::PodRunning
                | Event::JobUnknown
                | Event::TaskCompleted
                | Event::TaskFailed
                | Event::OutOfSync
                | Event::CommandIssued
                | Event::JobUpdated => true,
            });
    }
}

impl Raised {
    /// The replica it is about, whichever incarnation.
    fn replica(&self) -> Option<(u32, u32)> {
        self.pod.map(|key| (key.task, key.index))
    }
}
