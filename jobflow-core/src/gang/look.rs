//! Takes in what is seen. In: the pods and the admission; out: what is known is up to date, and each change is handed
//! on. Deliberately absent: what a change means, which `raise` knows.

use alloc::vec::Vec;

use super::key::PodKey;
use super::pods::{Admission, PodView};
use super::policy::Event;
use super::state::{Known, Slot};
use super::turn::Turn;

/// A pod that changed: as it was known, and as it is seen, if it still is.
pub(super) struct Change<'a> {
    pub(super) key: PodKey,
    pub(super) was: Known,
    pub(super) view: Option<&'a PodView>,
}

impl<'a> Turn<'a> {
    /// Takes in what is seen and raises events, in the order of tasks and replicas.
    pub(super) fn look(&mut self) {
        self.fit_slots();
        let changes = self.take_in();
        for change in changes {
            self.raise_for(&change);
        }
        self.look_at_admission();
    }

    /// Makes room for the replicas of the spec. Places beyond them stay until their pods are gone.
    fn fit_slots(&mut self) {
        let tasks = self.spec.tasks.len().max(self.next.slots.len());
        self.next.slots.resize_with(tasks, Vec::new);
        for (slots, task) in self.next.slots.iter_mut().zip(&self.spec.tasks) {
            let replicas = task.replicas as usize;
            if slots.len() < replicas {
                slots.resize_with(replicas, Slot::default);
                self.changed = true;
            }
        }
    }

    fn look_at_admission(&mut self) {
        let admission = self.pods.admission;
        if self.next.admission.replace(admission) == Some(admission) {
            return;
        }
        self.changed = true;
        if !matches!(admission, Admission::QueueMissing) {
            self.next.queue_missing_since = None;
        }
        if matches!(admission, Admission::Unknown) {
            self.raise(Event::JobUnknown, None, None);
        }
    }

    /// Brings what is known up to what is seen, all of it before any event is judged.
    fn take_in(&mut self) -> Vec<Change<'a>> {
        let (pods, mut changes) = (self.pods, Vec::new());
        for (task, slots) in self.next.slots.iter_mut().enumerate() {
            for (index, slot) in slots.iter_mut().enumerate() {
                let key = slot.key(task, index);
                let view = pods.seen.get(&key);
                changes.extend(slot.take_in(key, view));
            }
        }
        changes
    }
}

impl Slot {
    fn take_in<'a>(&mut self, key: PodKey, view: Option<&'a PodView>) -> Option<Change<'a>> {
        let was = self.pod.clone()?;
        let gone = view.is_none() && (was.seen || was.stopped);
        let now = view.map_or_else(|| was.clone(), |view| was.as_seen(view));
        let changed = gone || now != was;
        self.pod = (!gone).then_some(now);
        changed.then_some(Change { key, was, view })
    }
}

impl Known {
    fn as_seen(&self, view: &PodView) -> Self {
        let PodView {
            phase,
            ready,
            terminating,
            restarts,
            exit_codes: _,
            reason: _,
        } = *view;
        Self {
            seen: true,
            phase,
            ready,
            terminating,
            restarts,
            ..*self
        }
    }
}
