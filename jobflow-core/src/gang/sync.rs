//! Makes missing pods, counts all of them, and writes the status that follows.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::judge::judge;
use super::phase::{JobPhase, PodPhase};
use super::spec::{DependsOn, GangTask, Iteration};
use super::state::Slot;
use super::status::{GangStatus, PodCounts};
use super::turn::Turn;

/// Counts of all tasks, and of each.
#[derive(Default)]
struct Count {
    counts: PodCounts,
    tasks: BTreeMap<String, BTreeMap<PodPhase, u32>>,
}

impl Turn<'_> {
    pub(super) fn sync(&mut self) {
        if self.is_queue_missing() {
            self.next.queue_missing_since.get_or_insert(self.now);
            return;
        }
        if matches!(self.next.phase(), JobPhase::Empty) {
            return self.initiate();
        }
        let mut status = self.next.status.clone();
        if self.pods.admission.is_granted() {
            self.make_missing();
            self.count_into(&mut status);
        }
        status.phase = judge(self.spec, &status);
        if status != self.next.status {
            status.transit(self.now);
            self.write(status);
        }
    }

    /// The first status of a Job.
    fn initiate(&mut self) {
        let min_available = Some(self.spec.min_available);
        let mut status = GangStatus {
            phase: JobPhase::Pending,
            min_available,
            ..self.next.status.clone()
        };
        status.transit(self.now);
        self.write(status);
    }

    /// A pod for each replica that has none, unless its task has to wait; surplus ones are stopped.
    fn make_missing(&mut self) {
        let wanted: Vec<u32> = self.spec.tasks.iter().map(|task| self.wanted(task)).collect();
        let version = self.next.status.version;
        for (task, slots) in self.next.slots.iter_mut().enumerate() {
            let replicas = self.spec.tasks.get(task).map_or(0, |task| task.replicas as usize);
            let wanted = wanted.get(task).copied().unwrap_or(0);
            let kept = replicas.min(slots.len());
            let (slots, surplus) = slots.split_at_mut(kept);
            slots
                .iter_mut()
                .take(wanted as usize)
                .filter(|slot| slot.pod.is_none())
                .for_each(|slot| slot.make(version));
            surplus
                .iter_mut()
                .filter_map(|slot| slot.pod.as_mut())
                .for_each(|pod| pod.stopped = true);
        }
    }

    /// How many pods a task may have made for it now.
    fn wanted(&self, task: &GangTask) -> u32 {
        let met = task
            .depends_on
            .as_ref()
            .is_none_or(|depends_on| self.is_met(depends_on));
        if met { task.replicas } else { 0 }
    }

    fn is_met(&self, DependsOn { tasks, iteration }: &DependsOn) -> bool {
        let mut ready = tasks.iter().map(|task| self.is_task_ready(*task));
        match iteration {
            Iteration::Any => tasks.is_empty() || ready.any(|ready| ready),
            Iteration::All => ready.all(|ready| ready),
        }
    }

    /// `minAvailable` pods of the task succeeded, or run with all containers ready.
    fn is_task_ready(&self, task: u32) -> bool {
        let pods = self
            .known()
            .filter(|(key, pod)| key.task == task && !pod.is_going());
        let ready = pods.filter(|(_, pod)| match pod.phase {
            PodPhase::Succeeded => true,
            PodPhase::Running => pod.ready,
            PodPhase::Pending | PodPhase::Failed | PodPhase::Unknown => false,
        });
        let task = self.spec.tasks.get(task as usize);
        task.is_some_and(|task| ready.count() >= task.min_available as usize)
    }

    fn count_into(&self, status: &mut GangStatus) {
        let mut count = Count::default();
        for (slots, task) in self.next.slots.iter().zip(&self.spec.tasks) {
            slots.iter().for_each(|slot| count.add(&task.name, slot));
        }
        let Count { counts, tasks } = count;
        status.counts = counts;
        status.task_status_count = tasks;
        status.min_available = Some(self.spec.min_available);
        status.running_duration = None;
    }
}

impl Count {
    fn add(&mut self, task: &str, slot: &Slot) {
        let Some(pod) = &slot.pod else { return };
        if pod.is_going() {
            self.counts.terminating = self.counts.terminating.saturating_add(1);
            return;
        }
        let of_task = self
            .tasks
            .entry(String::from(task))
            .or_default()
            .entry(pod.phase)
            .or_insert(0);
        for count in [self.counts.of(pod.phase), of_task] {
            *count = count.saturating_add(1);
        }
    }
}
