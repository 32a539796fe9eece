//! One Job: the gang machine with its pods, and what its end is to be told by.

use std::collections::BTreeMap;

use jobflow_core::{
    JobKey, Time,
    gang::{self, Admission, Command, GangSpec, GangState, JobPhase, PodKey, Pods},
};

use super::{
    Ask,
    keys::ContainerKey,
    pod::{PodLife, PodPlan, Want},
};
use crate::{pod::template::Readiness, task::Outcome};

/// What a Job consists of beside its gang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobPlan {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// A pod of each task, in the order of the spec.
    pub pods: Vec<PodPlan>,
}

/// The first container that ended non-zero.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Failure {
    pub(super) at: Time,
    pub(super) pod: PodKey,
    pub(super) container: u32,
    pub(super) outcome: FailedOutcome,
}

/// How a container failed, in the order in which two at the same time are told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FailedOutcome {
    Code(i32),
    NotStarted(String),
}

/// A Job that exists.
#[derive(Debug)]
pub struct JobLife {
    key: JobKey,
    pub(super) plan: JobPlan,
    pub(super) spec: GangSpec,
    gang: GangState,
    pods: BTreeMap<PodKey, PodLife>,
    command: Option<Command>,
    admitted: bool,
    pub(super) deleting: bool,
    pub(super) failure: Option<Failure>,
    pub(super) lost: bool,
    /// Whether any container of it ever ran.
    pub(super) started: bool,
    wake_at: Option<Time>,
    /// Whether any container of it has a readiness probe.
    is_checked: bool,
}

impl JobLife {
    pub(super) fn new(key: JobKey, plan: JobPlan, spec: GangSpec, gang: GangState) -> Self {
        let mut containers = plan.pods.iter().flat_map(|pod| &pod.containers);
        let is_checked = containers.any(|container| container.readiness.is_some());
        Self {
            key,
            plan,
            spec,
            gang,
            pods: BTreeMap::new(),
            command: None,
            admitted: false,
            deleting: false,
            failure: None,
            lost: false,
            started: false,
            wake_at: None,
            is_checked,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// The gang, to be written down.
    #[must_use]
    pub const fn gang(&self) -> &GangState {
        &self.gang
    }

    /// The gang's shape.
    #[must_use]
    pub const fn spec(&self) -> &GangSpec {
        &self.spec
    }

    /// Its pods as the gang machine sees them.
    pub fn pods(&self) -> impl Iterator<Item = (PodKey, gang::PodView)> {
        self.pods
            .iter()
            .filter_map(|(key, life)| Some((*key, life.view(self.plan.pods.get(key.task as usize)?))))
    }

    /// Whether its gang may have pods.
    #[must_use]
    pub const fn is_admitted(&self) -> bool {
        self.admitted
    }

    /// Whether it needs to be admitted: it is not at rest and has no place.
    #[must_use]
    pub fn needs_admission(&self) -> bool {
        !self.admitted && !self.gang.phase().is_at_rest() && !self.deleting
    }

    pub(super) fn command(&mut self, command: Command) {
        self.command = Some(command);
    }

    pub(super) fn delete(&mut self) {
        self.deleting = true;
        self.pods.values_mut().for_each(PodLife::stop);
    }

    /// Takes all its pods away, as when the machine under them goes.
    pub(super) fn evict(&mut self) {
        self.lost |= !self.pods.is_empty();
        self.pods.values_mut().for_each(PodLife::lose);
    }

    /// Asks once more for what was asked for and not seen to run; true when there is any.
    pub(super) fn ask_again(&mut self, now: Time) -> bool {
        let again = |any, pod: &mut PodLife| pod.ask_again(now) || any;
        self.pods.values_mut().fold(false, again)
    }

    pub(super) fn admit(&mut self, admitted: bool) -> bool {
        std::mem::replace(&mut self.admitted, admitted) != admitted
    }

    /// Whether nothing of it runs or will run by itself.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.gang.phase().is_at_rest() && !self.has_processes()
    }

    /// Whether a process of it runs, or is about to. Pods that ended stay with their Job.
    #[must_use]
    pub fn has_processes(&self) -> bool {
        self.pods.values().any(PodLife::is_alive)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.deleting && !self.has_processes()
    }

    pub(super) fn is_due(&self, now: Time) -> bool {
        self.wake_at.is_some_and(|at| at <= now)
    }

    pub(super) const fn wake_at(&self) -> Option<Time> {
        self.wake_at
    }

    /// A container runs. A pod that isn't known is one from before a restart, if the gang still has it.
    pub(super) fn started(&mut self, key: ContainerKey, at: Time) {
        let plan = self.plan.pods.get(key.pod.task as usize);
        let container = plan.and_then(|plan| plan.containers.get(key.container as usize));
        // A pod that is still initialised has not run.
        self.started |= container.is_some_and(|container| !container.init);
        self.revive(key.pod, at);
        if let Some(pod) = self.pods.get_mut(&key.pod) {
            pod.started(key.container, key.run, at);
        }
    }

    pub(super) fn ended(&mut self, key: ContainerKey, outcome: &Outcome, at: Time) {
        self.revive(key.pod, at);
        self.remember(key, outcome, at);
        let Some(plan) = self.plan.pods.get(key.pod.task as usize) else {
            return;
        };
        if let Some(pod) = self.pods.get_mut(&key.pod) {
            pod.ended(key.container, key.run, outcome, at, plan);
        }
    }

    /// The containers whose readiness is to be looked at now.
    pub(super) fn readiness(&self, now: Time) -> impl Iterator<Item = (ContainerKey, &Readiness)> {
        let (job, is_checked) = (self.key, self.is_checked);
        let pods = self.pods.iter().filter(move |_| is_checked);
        pods.filter_map(move |(key, pod)| Some((*key, pod, self.plan.pods.get(key.task as usize)?)))
            .flat_map(move |(key, pod, plan)| {
                pod.checks(plan, now).map(move |(container, run, readiness)| {
                    let key = ContainerKey {
                        job,
                        pod: key,
                        container,
                        run,
                    };
                    (key, readiness)
                })
            })
    }

    /// A look at a container's readiness was done; true when the container became ready, or is no longer.
    pub(super) fn checked(&mut self, key: ContainerKey, well: bool) -> bool {
        let Some(plan) = self.plan.pods.get(key.pod.task as usize) else {
            return false;
        };
        self.pods
            .get_mut(&key.pod)
            .is_some_and(|pod| pod.checked(key.container, key.run, well, plan))
    }

    fn revive(&mut self, key: PodKey, at: Time) {
        let plan = self.plan.pods.get(key.task as usize);
        if let Some(plan) = plan.filter(|_| self.gang.version_of(key).is_some()) {
            self.pods.entry(key).or_insert_with(|| PodLife::new(plan, at));
        }
    }

    /// Keeps the first failure by time, pod and container; what was stopped by us is none.
    fn remember(&mut self, key: ContainerKey, outcome: &Outcome, at: Time) {
        let outcome = match outcome {
            Outcome::Lost => {
                self.lost = true;
                return;
            }
            Outcome::Cancelled => return,
            Outcome::StartError(message) => FailedOutcome::NotStarted(message.clone()),
            Outcome::Exited(_) | Outcome::Signalled(_) => match outcome.exit_code() {
                Some(code) if code != 0 => FailedOutcome::Code(code),
                Some(_) | None => return,
            },
        };
        let stopped = self.pods.get(&key.pod).is_none_or(PodLife::is_going);
        let failure = Failure {
            at,
            pod: key.pod,
            container: key.container,
            outcome,
        };
        if !stopped && self.failure.as_ref().is_none_or(|first| failure < *first) {
            self.failure = Some(failure);
        }
    }

    /// Steps the gang until it has nothing more to decide; true when its state changed.
    pub(super) fn step(&mut self, now: Time, asks: &mut Vec<Ask>) -> bool {
        let mut changed = false;
        let mut wake = None;
        self.drop_gone();
        while !self.deleting {
            let before = self.gang.phase();
            let command = self.command.take();
            let plan = gang::step(&self.spec, &self.gang, &self.observe(), command, now);
            changed |= plan.next != self.gang;
            self.gang = plan.next;
            self.make(&plan.start, now);
            self.end(&plan.stop);
            self.admitted &= !plan.released;
            let fewer = self.drop_gone();
            wake = plan.wake_at;
            let more = wake == Some(now) || fewer;
            if more && self.gang.phase() != before {
                // Whoever looks sees every phase: the rest is for the next round.
                wake = Some(now);
                break;
            }
            if !more {
                break;
            }
        }
        self.wake_at = wake;
        self.ask(now, asks);
        self.drop_gone();
        changed
    }

    fn observe(&self) -> Pods {
        let admission = if self.admitted {
            Admission::Granted
        } else {
            Admission::Waiting
        };
        Pods {
            admission,
            seen: self.pods().collect(),
        }
    }

    fn make(&mut self, keys: &[PodKey], now: Time) {
        for key in keys {
            if let Some(plan) = self.plan.pods.get(key.task as usize) {
                self.pods.entry(*key).or_insert_with(|| PodLife::new(plan, now));
            }
        }
    }

    fn end(&mut self, keys: &[PodKey]) {
        keys.iter().for_each(|key| {
            self.pods.get_mut(key).into_iter().for_each(PodLife::stop);
        });
    }

    /// Forgets pods of which nothing is left; true when there were some. One that the gang still asks for stays until
    /// it was seen: the gang would ask for the same pod again, of which the executor knows that it is over.
    fn drop_gone(&mut self) -> bool {
        let (before, gang) = (self.pods.len(), &self.gang);
        self.pods.retain(|key, pod| !pod.is_gone() || gang.asks_for(*key));
        self.pods.len() < before
    }

    fn ask(&mut self, now: Time, asks: &mut Vec<Ask>) {
        for (key, pod) in &mut self.pods {
            let Some(plan) = self.plan.pods.get(key.task as usize) else {
                continue;
            };
            let (wants, wake) = pod.wants(plan, now);
            self.wake_at = self.wake_at.into_iter().chain(wake).min();
            let of = |container, run| ContainerKey {
                job: self.key,
                pod: *key,
                container,
                run,
            };
            asks.extend(wants.into_iter().map(|want| match want {
                Want::Start(container, run) => Ask::Start(of(container, run)),
                Want::Stop(container, run) => Ask::Stop(of(container, run), plan.grace),
            }));
        }
    }

    /// The phase that a cluster would show.
    #[must_use]
    pub const fn phase(&self) -> JobPhase {
        self.gang.phase()
    }
}
