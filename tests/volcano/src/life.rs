//! One Job with made-up pods. Pure: the time is handed in, and what is to be written goes out.
//!
//! A pod goes on only when the Job has been seen to settle, so that no phase is skipped however fast the time runs. What is
//! decided counts only once it was written: `step` proposes, `commit` takes over.

mod pod;

use std::collections::{BTreeMap, VecDeque};

use jobflow_core::gang::{
    self, Admission, Cause, Command, GangPlan, GangSpec, GangState, PodKey, PodView, Pods,
};
use jobflow_core::{Span, Time};

use crate::course::Course;
use crate::options::Detail;
use pod::Pod;

/// How a life is led.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Which statuses are proposed.
    pub(crate) detail: Detail,
    /// Whether pods are objects: then they are gone when the API server says so.
    pub(crate) pods: bool,
}

/// A Job that isn't deleted.
#[derive(Debug)]
pub(crate) struct Life {
    spec: GangSpec,
    gang: GangState,
    course: Course,
    manner: Manner,
    queue_there: bool,
    admitted: bool,
    /// When the gang gets its place.
    admitted_at: Option<Time>,
    pods: BTreeMap<PodKey, Pod>,
    commands: VecDeque<Command>,
    /// Whether there is something that the gang hasn't looked at.
    fresh: bool,
    wake_at: Option<Time>,
}

impl Life {
    pub(crate) fn new(spec: GangSpec, course: Course, manner: Manner, queue_there: bool, now: Time) -> Self {
        Self {
            gang: GangState::new(now),
            admitted: false,
            admitted_at: course.admitted_after.map(|span| now + span),
            spec,
            course,
            manner,
            queue_there,
            pods: BTreeMap::new(),
            commands: VecDeque::new(),
            fresh: true,
            wake_at: None,
        }
    }

    fn disappears_at(&self) -> Option<Time> {
        self.course.disappears_after.map(|span| self.gang.created + span)
    }

    /// Whether it is time for somebody to delete the Job; true once.
    pub(crate) fn disappears(&mut self, now: Time) -> bool {
        let due = self.disappears_at().is_some_and(|at| at <= now);
        if due {
            self.course.disappears_after = None;
        }
        due
    }

    /// The state that was written last.
    pub(crate) const fn gang(&self) -> &GangState {
        &self.gang
    }

    /// The pods that there are.
    pub(crate) fn pods(&self) -> impl Iterator<Item = (PodKey, &PodView)> {
        self.pods.iter().map(|(key, pod)| (*key, &pod.view))
    }

    /// The name of a task.
    pub(crate) fn task(&self, key: PodKey) -> &str {
        self.spec
            .tasks
            .get(key.task as usize)
            .map_or("", |task| &task.name)
    }

    /// How long pods of a task take to go.
    pub(crate) fn goes_within(&self, key: PodKey) -> Span {
        self.course.pod(key.task).goes_within
    }

    pub(crate) fn command(&mut self, command: Command) {
        self.commands.push_back(command);
        self.fresh = true;
    }

    pub(crate) fn queue(&mut self, there: bool) {
        self.fresh |= there != self.queue_there;
        self.queue_there = there;
    }

    /// Somebody told a pod to go.
    pub(crate) fn told_to_go(&mut self, key: PodKey) {
        if let Some(pod) = self.pods.get_mut(&key).filter(|pod| !pod.view.terminating) {
            pod.go(None);
            self.fresh = true;
        }
    }

    /// A pod is gone.
    pub(crate) fn gone(&mut self, key: PodKey) {
        self.fresh |= self.pods.remove(&key).is_some();
    }

    /// Whether there is anything to step for. What is due happens if the gang has looked at all that happened before.
    pub(crate) fn look(&mut self, now: Time) -> bool {
        if !self.fresh {
            self.fresh = self.advance(now);
        }
        self.fresh
    }

    /// The first pod that runs is seen to run alone, as a node starts one after the other; those that follow go together.
    fn advance(&mut self, now: Time) -> bool {
        let mut any = self.wake_at.take_if(|at| *at <= now).is_some();
        if !self.admitted && self.queue_there && self.admitted_at.is_some_and(|at| at <= now) {
            (self.admitted, any) = (true, true);
        }
        let (course, pods) = (&self.course, self.manner.pods);
        let mut alone = !self.pods.values().any(Pod::has_run);
        self.pods.retain(|key, pod| {
            let due = pod.due.is_some_and(|at| at <= now);
            if !due || (any && alone) {
                return true;
            }
            any = true;
            let stays = pod.advance(*key, &course.pod(key.task), pods, now);
            alone &= pod.has_run();
            stays
        });
        any
    }

    /// Decides; a plan that comes out is to be written and committed, everything else is committed already.
    pub(crate) fn step(&mut self, now: Time) -> Option<GangPlan> {
        let command = self.commands.front().copied();
        let plan = gang::step(&self.spec, &self.gang, &self.observe(), command, now);
        if plan.written && self.is_told(&plan) {
            return Some(plan);
        }
        self.commit(plan, now);
        None
    }

    fn is_told(&self, plan: &GangPlan) -> bool {
        match self.manner.detail {
            Detail::AsVolcano => true,
            Detail::Phases => plan.next.phase() != self.gang.phase(),
        }
    }

    /// Takes over what was decided, and carries it out on the pods.
    pub(crate) fn commit(&mut self, plan: GangPlan, now: Time) {
        let GangPlan {
            next,
            written: _,
            start,
            fleeting: _,
            stop,
            released,
            wake_at,
            cause,
        } = plan;
        if matches!(cause, Cause::Commanded(_)) {
            self.commands.pop_front();
        }
        self.gang = next;
        self.fresh = wake_at.is_some_and(|at| at <= now) || !self.commands.is_empty();
        self.wake_at = wake_at.filter(|at| *at > now);
        start.into_iter().for_each(|key| self.start(key, now));
        stop.into_iter().for_each(|key| self.stop(key, now));
        if released {
            self.admitted = false;
            self.admitted_at = self.course.admitted_after.map(|span| now + span);
            self.fresh = true;
        }
    }

    fn start(&mut self, key: PodKey, now: Time) {
        if !self.pods.contains_key(&key) {
            self.pods.insert(key, Pod::new(&self.course.pod(key.task), now));
            self.fresh = true;
        }
    }

    fn stop(&mut self, key: PodKey, now: Time) {
        let within = self.goes_within(key);
        let by_itself = !self.manner.pods;
        if let Some(pod) = self.pods.get_mut(&key).filter(|pod| !pod.view.terminating) {
            pod.go(by_itself.then(|| now + within));
            self.fresh = true;
        }
    }

    fn observe(&self) -> Pods {
        let admission = match (self.queue_there, self.admitted) {
            (false, _) => Admission::QueueMissing,
            (true, false) => Admission::Waiting,
            (true, true) => Admission::Granted,
        };
        Pods {
            admission,
            seen: self.pods().map(|(key, view)| (key, view.clone())).collect(),
        }
    }

    /// When to look again at the latest.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        let pods = self.pods.values().filter_map(|pod| pod.due);
        let admitted = self.admitted_at.filter(|_| !self.admitted && self.queue_there);
        let others = [self.wake_at, admitted, self.disappears_at()];
        pods.chain(others.into_iter().flatten()).min()
    }
}

#[cfg(test)]
mod tests;
