//! The life of one pod: init containers in order, then all others together, restarts, the deadline, the end.
//!
//! ```text
//! container:  Waiting ─► Asked ─► Running ─► Ended ─► Waiting (after a pause, when the restart policy says so)
//! pod:        Pending ────────────► Running ─────────► Succeeded | Failed      stopped: gone when nothing runs
//! ```

mod ready;

use std::time::Duration;

use jobflow_core::{
    Span, Time,
    gang::{PodPhase, PodView},
};

use crate::{
    pod::template::{Readiness, RestartPolicy},
    task::Outcome,
};
use ready::Ready;

/// The longest pause before a container is started again.
const LONGEST_PAUSE: Span = Span::from_secs(300);

/// What a pod of a task consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodPlan {
    /// Its containers, init containers first.
    pub containers: Vec<ContainerPlan>,
    /// What happens when a container ends.
    pub restart_policy: RestartPolicy,
    /// The longest that the pod may live.
    pub deadline: Option<Span>,
    /// Between SIGTERM and SIGKILL.
    pub grace: Duration,
}

/// What the life of a container depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerPlan {
    /// Its name.
    pub name: String,
    /// Whether it must succeed before the next one starts.
    pub init: bool,
    /// When it counts as ready; without it, as soon as it runs.
    pub readiness: Option<Readiness>,
}

/// A container as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// It may be started from this moment on.
    Waiting(Time),
    Asked,
    Running,
    /// It was told to go.
    Leaving,
    Ended(Outcome),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Container {
    state: State,
    run: u32,
    /// What its readiness probe found in this run.
    ready: Ready,
}

/// What a pod wants from the executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Start this container for this run.
    Start(u32, u32),
    /// Stop this container's run.
    Stop(u32, u32),
}

/// A pod that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodLife {
    containers: Vec<Container>,
    made: Time,
    /// It was told to go.
    stopping: bool,
    /// Its own deadline passed.
    overdue: bool,
    /// Something of it was lost: nobody saw it end.
    pub(super) lost: bool,
}

impl PodLife {
    pub(super) fn new(plan: &PodPlan, now: Time) -> Self {
        let container = Container {
            state: State::Waiting(now),
            run: 0,
            ready: Ready::default(),
        };
        Self {
            containers: vec![container; plan.containers.len()],
            made: now,
            stopping: false,
            overdue: false,
            lost: false,
        }
    }

    /// The executor says that a container runs; true when that belongs to the present run.
    pub(super) fn started(&mut self, container: u32, run: u32, at: Time) {
        if let Some(found) = self.containers.get_mut(container as usize)
            && run >= found.run
            && !matches!(found.state, State::Ended(_) if run == found.run)
        {
            *found = Container {
                state: State::Running,
                run,
                ready: Ready::since(at),
            };
        }
    }

    /// The executor says that a container ended.
    pub(super) fn ended(&mut self, container: u32, run: u32, outcome: &Outcome, at: Time, plan: &PodPlan) {
        self.lost |= matches!(outcome, Outcome::Lost);
        let restarts = self.is_restarted(container, outcome, plan);
        let Some(found) = self.containers.get_mut(container as usize) else {
            return;
        };
        if run < found.run {
            return;
        }
        *found = Container {
            state: State::Ended(outcome.clone()),
            run,
            ready: Ready::default(),
        };
        if restarts {
            let pause = pause(run);
            *found = Container {
                state: State::Waiting(at + pause),
                run: run.saturating_add(1),
                ready: Ready::default(),
            };
        }
    }

    /// A stopped, lost or overdue container is never started again.
    fn is_restarted(&self, container: u32, outcome: &Outcome, plan: &PodPlan) -> bool {
        let failed = outcome.exit_code() != Some(0);
        let init = plan
            .containers
            .get(container as usize)
            .is_some_and(|container| container.init);
        let wanted = match plan.restart_policy {
            RestartPolicy::Never => false,
            RestartPolicy::OnFailure => failed,
            RestartPolicy::Always => failed || !init,
        };
        wanted && !self.stopping && !self.overdue && !self.lost
    }

    /// Whether an end of it is somebody else's doing.
    pub(super) const fn is_going(&self) -> bool {
        self.stopping || self.overdue || self.lost
    }

    /// What was asked for and not seen to run is asked for again; true when there is any.
    pub(super) fn ask_again(&mut self, now: Time) -> bool {
        let mut asked = false;
        for container in &mut self.containers {
            if container.state == State::Asked {
                container.state = State::Waiting(now);
                asked = true;
            }
        }
        asked
    }

    pub(super) fn lose(&mut self) {
        self.lost = true;
    }

    pub(super) fn stop(&mut self) {
        self.stopping = true;
    }

    /// Whether nothing of it is left: it was stopped or lost, and no process of it runs.
    pub(super) fn is_gone(&self) -> bool {
        (self.stopping || self.lost) && !self.is_alive()
    }

    pub(super) fn is_alive(&self) -> bool {
        let alive = |state: &State| matches!(state, State::Asked | State::Running | State::Leaving);
        self.containers.iter().any(|container| alive(&container.state))
    }

    /// What is to be asked now, and when to look again.
    pub(super) fn wants(&mut self, plan: &PodPlan, now: Time) -> (Vec<Want>, Option<Time>) {
        let deadline = plan.deadline.map(|span| self.made + span);
        self.overdue |= deadline.is_some_and(|at| at <= now) && !self.is_over(plan);
        if self.stopping || self.overdue || self.lost {
            return (self.stops(), None);
        }
        let mut wake = deadline.filter(|_| !self.is_over(plan));
        let mut wants = Vec::new();
        for place in self.startable(plan) {
            let container = &mut self.containers[place];
            match container.state {
                State::Waiting(at) if at > now => wake = Some(wake.map_or(at, |other| other.min(at))),
                State::Waiting(_) => {
                    container.state = State::Asked;
                    wants.push(Want::Start(number(place), container.run));
                }
                State::Asked | State::Running | State::Leaving | State::Ended(_) => {}
            }
        }
        (wants, wake)
    }

    /// Each container that runs is told once; the executor sees to it that it goes.
    fn stops(&mut self) -> Vec<Want> {
        let mut wants = Vec::new();
        for (place, container) in self.containers.iter_mut().enumerate() {
            if matches!(container.state, State::Asked | State::Running) {
                container.state = State::Leaving;
                wants.push(Want::Stop(number(place), container.run));
            }
        }
        wants
    }

    /// The first init container that hasn't succeeded, or all others.
    fn startable(&self, plan: &PodPlan) -> Vec<usize> {
        let all = || plan.containers.iter().zip(&self.containers).enumerate();
        let open = all().find(|(_, (plan, life))| plan.init && !life.succeeded());
        match open {
            Some((place, _)) => vec![place],
            None => all()
                .filter(|(_, (plan, _))| !plan.init)
                .map(|(place, _)| place)
                .collect(),
        }
    }

    fn is_over(&self, plan: &PodPlan) -> bool {
        matches!(self.phase(plan), PodPhase::Succeeded | PodPhase::Failed)
    }

    fn phase(&self, plan: &PodPlan) -> PodPhase {
        let mains = || {
            plan.containers
                .iter()
                .zip(&self.containers)
                .filter(|(plan, _)| !plan.init)
        };
        if self.lost {
            // Nobody saw how it ended, so it neither failed nor succeeded.
            let runs = |(_, life): (_, &Container)| matches!(life.state, State::Running | State::Leaving);
            return if mains().any(runs) {
                PodPhase::Running
            } else {
                PodPhase::Pending
            };
        }
        let init_failed = plan
            .containers
            .iter()
            .zip(&self.containers)
            .any(|(plan, life)| plan.init && life.failed());
        if init_failed || (self.overdue && !self.is_alive()) {
            return PodPhase::Failed;
        }
        if mains().all(|(_, life)| matches!(life.state, State::Ended(_))) {
            let well = mains().all(|(_, life)| life.succeeded());
            return if well {
                PodPhase::Succeeded
            } else {
                PodPhase::Failed
            };
        }
        let begun = |life: &Container| {
            life.run > 0 || matches!(life.state, State::Running | State::Leaving | State::Ended(_))
        };
        if mains().any(|(_, life)| begun(life)) {
            PodPhase::Running
        } else {
            PodPhase::Pending
        }
    }

    /// The pod as the gang machine sees it.
    pub(super) fn view(&self, plan: &PodPlan) -> PodView {
        let mains = || {
            plan.containers
                .iter()
                .zip(&self.containers)
                .filter(|(plan, _)| !plan.init)
        };
        let phase = self.phase(plan);
        PodView {
            phase,
            ready: phase == PodPhase::Running && mains().all(|(plan, life)| life.is_ready(plan)),
            terminating: self.stopping,
            exit_codes: self.containers.iter().filter_map(Container::exit_code).collect(),
            restarts: self
                .containers
                .iter()
                .fold(0, |sum, container| sum.saturating_add(container.run)),
            reason: self.overdue.then(|| "DeadlineExceeded".to_owned()),
        }
    }
}

impl Container {
    fn is_ready(&self, plan: &ContainerPlan) -> bool {
        self.state == State::Running && (plan.readiness.is_none() || self.ready.is_ready())
    }

    fn exit_code(&self) -> Option<i32> {
        match &self.state {
            State::Ended(outcome) => outcome.exit_code(),
            State::Waiting(_) | State::Asked | State::Running | State::Leaving => None,
        }
    }

    fn succeeded(&self) -> bool {
        self.exit_code() == Some(0)
    }

    fn failed(&self) -> bool {
        matches!(self.state, State::Ended(_)) && !self.succeeded()
    }
}

/// None before the first restart, then 1 s, 2 s, 4 s and so on.
fn pause(run: u32) -> Span {
    match run {
        0 => Span::ZERO,
        again => Span::from_secs(1 << (again - 1).min(9)).min(LONGEST_PAUSE),
    }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
