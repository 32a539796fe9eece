//! Stops pods and writes the status that follows. Volcano counts what it stops and nothing else: pods that are kept
//! don't show in the counts any more.

use alloc::collections::BTreeMap;

use super::key::PodKey;
use super::matrix::{Keep, Then};
use super::state::Known;
use super::status::{GangStatus, PodCounts};
use super::target::Target;
use super::turn::Turn;
use crate::time::{Span, Time};

impl Turn<'_> {
    /// Stops the whole job: a new version begins, and the gang's place is given back.
    pub(super) fn stop_all(&mut self, keep: Keep, then: Then) {
        let keep = if self.is_last_retry() { Keep::Ended } else { keep };
        let kept = |_: PodKey, pod: &Known| matches!(keep, Keep::Ended) && pod.phase.is_ended();
        let (stopped, terminating) = self.stop(kept);
        self.write_stop(
            then,
            stopped,
            terminating,
            self.next.status.version.saturating_add(1),
        );
        if self.written {
            self.released = true;
            self.next.raised.clear();
            self.next.delayed.clear();
        }
    }

    /// Stops a part of the job; the version stays, and so does the place.
    pub(super) fn stop_target(&mut self, target: Target, then: Then) {
        let (stopped, terminating) = self.stop(|key, _| !target.contains(key));
        self.write_stop(then, stopped, terminating, self.next.status.version);
    }

    /// Pods that ended stay for inspection when no retry is left.
    const fn is_last_retry(&self) -> bool {
        self.next.status.retry_count.saturating_add(1) >= self.spec.max_retry
    }

    /// Whether any pod was stopped that wasn't before, and how many go, of those that aren't kept.
    fn stop(&mut self, kept: impl Fn(PodKey, &Known) -> bool) -> (bool, u32) {
        self.next.queue_missing_since = None;
        let (mut stopped, mut terminating) = (false, 0_u32);
        for (task, slots) in self.next.slots.iter_mut().enumerate() {
            for (index, slot) in slots.iter_mut().enumerate() {
                let key = slot.key(task, index);
                let Some(pod) = slot.pod.as_mut().filter(|pod| pod.is_going() || !kept(key, pod)) else {
                    continue;
                };
                stopped |= !pod.is_going();
                pod.stopped = true;
                terminating = terminating.saturating_add(1);
            }
        }
        (stopped, terminating)
    }

    /// Writes if it tells anything new, and once when a phase of rest was reached.
    fn write_stop(&mut self, then: Then, stopped: bool, terminating: u32, version: u32) {
        let before = &self.next.status;
        let counts = PodCounts {
            terminating,
            ..PodCounts::default()
        };
        let mut status = GangStatus {
            counts,
            version,
            task_status_count: BTreeMap::new(),
            ..before.clone()
        };
        self.follow(then, &mut status);
        let moved = status.phase != before.phase;
        let rewritten = before.phase.is_at_rest() && !self.next.settled;
        if !moved && !stopped && !rewritten && before.counts == counts && before.task_status_count.is_empty()
        {
            return;
        }
        if moved {
            status.transit(self.now);
        }
        status.running_duration = self.running_duration(&status, moved);
        self.write(status);
    }

    /// Since the Job was made. Volcano keeps whole seconds of the transition, and so does every later write.
    fn running_duration(&self, status: &GangStatus, moved: bool) -> Option<Span> {
        let (last, created) = (status.last_transition?, self.next.created);
        Some(if moved {
            last.since(whole(created))
        } else {
            whole(last).since(whole(created))
        })
    }
}

/// The whole second at or before `time`.
const fn whole(time: Time) -> Time {
    Time(time.0.saturating_sub(time.0.rem_euclid(1000)))
}
