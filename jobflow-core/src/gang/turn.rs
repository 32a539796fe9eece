//! One step being taken: what goes in, and what it has come to so far. Its parts look (`look`), take up one thing
//! (`request`) and carry it out (`act`), in this order.

use alloc::vec::Vec;

use super::key::PodKey;
use super::plan::{Cause, GangPlan};
use super::pods::{Admission, Pods};
use super::spec::GangSpec;
use super::state::{GangState, Known};
use crate::time::{Span, Time};

/// How long Volcano tries to sync a job without a queue: 15 tries, the pause doubled from 5 ms each time.
const QUEUE_PATIENCE: Span = Span(5 * ((1 << 15) - 1));

/// A step half way.
pub(super) struct Turn<'a> {
    pub(super) spec: &'a GangSpec,
    pub(super) pods: &'a Pods,
    pub(super) now: Time,
    pub(super) next: GangState,
    /// Whether anything was seen that only needs counting.
    pub(super) changed: bool,
    pub(super) written: bool,
    pub(super) released: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(spec: &'a GangSpec, state: &GangState, pods: &'a Pods, now: Time) -> Self {
        let next = state.clone();
        Self {
            spec,
            pods,
            now,
            next,
            changed: false,
            written: false,
            released: false,
        }
    }

    /// The pods that there are, or were asked for.
    pub(super) fn known(&self) -> impl Iterator<Item = (PodKey, &Known)> {
        self.next.slots.iter().enumerate().flat_map(|(task, slots)| {
            let pods = slots.iter().enumerate();
            pods.filter_map(move |(index, slot)| Some((slot.key(task, index), slot.pod.as_ref()?)))
        })
    }

    /// When the queue has been missing for too long; `None` while it is there.
    pub(super) fn queue_deadline(&self) -> Option<Time> {
        self.next.queue_missing_since.map(|since| since + QUEUE_PATIENCE)
    }

    /// Whether nothing can be synced for want of a queue.
    pub(super) fn is_queue_missing(&self) -> bool {
        matches!(self.pods.admission, Admission::QueueMissing)
    }

    /// Closes the step.
    pub(super) fn plan(self, cause: Cause) -> GangPlan {
        let asked = self.asked();
        let at_rest = self.next.phase().is_at_rest();
        let (start, fleeting) = if at_rest {
            (Vec::new(), asked)
        } else {
            (asked, Vec::new())
        };
        let (stop, wake_at) = (self.to_stop(), self.wake_at());
        let Self {
            next,
            written,
            released,
            spec: _,
            pods: _,
            now: _,
            changed: _,
        } = self;
        GangPlan {
            next,
            written,
            start,
            fleeting,
            stop,
            released,
            wake_at,
            cause,
        }
    }

    fn asked(&self) -> Vec<PodKey> {
        let asked = self.known().filter(|(_, pod)| !pod.seen && !pod.stopped);
        asked.map(|(key, _)| key).collect()
    }

    /// What we stopped and what is nobody's, as long as it doesn't go.
    fn to_stop(&self) -> Vec<PodKey> {
        let stopped = self
            .known()
            .filter(|(_, pod)| pod.stopped && !pod.terminating)
            .map(|(key, _)| key);
        let strays = self
            .pods
            .seen
            .iter()
            .filter(|(key, view)| self.next.pod(**key).is_none() && !view.terminating);
        let mut stop: Vec<PodKey> = stopped.chain(strays.map(|(key, _)| *key)).collect();
        stop.sort_unstable();
        stop
    }

    fn wake_at(&self) -> Option<Time> {
        if self.has_more() {
            return Some(self.now);
        }
        let due = self.next.delayed.iter().map(|delayed| delayed.due);
        due.chain(self.queue_deadline()).min().map(|at| at.max(self.now))
    }

    /// Whether the next step has something to do even if nothing is seen to change. A pod that was stopped before it
    /// was seen may never be: it is gone by then.
    fn has_more(&self) -> bool {
        let unlooked = !self.next.settled && self.next.queue_missing_since.is_none();
        let unseen = self.known().any(|(_, pod)| pod.stopped && !pod.seen);
        unlooked || unseen || !self.next.raised.is_empty()
    }
}
