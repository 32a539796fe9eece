//! Who says what becomes of a Job: its made-up life, or the processes that it runs as.

mod told;

use jobflow_core::gang::{GangPlan, GangState, PodKey, PodView};
use jobflow_core::{Span, Time};

use crate::life::Life;
pub(crate) use told::{News, Told};

/// The lead of one Job.
#[derive(Debug)]
pub(crate) enum Lead {
    MadeUp(Box<Life>),
    Told(Box<Told>),
}

/// A state whose status is to be written, and which counts only then.
#[derive(Debug)]
pub(crate) enum Proposal {
    MadeUp(Box<GangPlan>),
    Told(Box<GangState>),
}

impl Proposal {
    pub(crate) fn next(&self) -> &GangState {
        match self {
            Self::MadeUp(plan) => &plan.next,
            Self::Told(next) => next,
        }
    }
}

impl Lead {
    /// Whether there is anything to step for.
    pub(crate) fn look(&mut self, now: Time) -> bool {
        match self {
            Self::MadeUp(life) => life.look(now),
            Self::Told(told) => told.look(),
        }
    }

    /// What is to be written next, if anything.
    pub(crate) fn step(&mut self, now: Time) -> Option<Proposal> {
        match self {
            Self::MadeUp(life) => life.step(now).map(Box::new).map(Proposal::MadeUp),
            Self::Told(told) => told.step().map(Box::new).map(Proposal::Told),
        }
    }

    /// Takes over what was written.
    pub(crate) fn commit(&mut self, proposal: Proposal, now: Time) {
        match (self, proposal) {
            (Self::MadeUp(life), Proposal::MadeUp(plan)) => life.commit(*plan, now),
            (Self::Told(told), Proposal::Told(next)) => told.commit(*next),
            // A Job keeps its lead.
            (Self::MadeUp(_), Proposal::Told(_)) | (Self::Told(_), Proposal::MadeUp(_)) => {}
        }
    }

    /// The state that was written last.
    pub(crate) const fn gang(&self) -> &GangState {
        match self {
            Self::MadeUp(life) => life.gang(),
            Self::Told(told) => told.gang(),
        }
    }

    /// The pods that there are.
    pub(crate) fn pods(&self) -> Vec<(PodKey, &PodView)> {
        match self {
            Self::MadeUp(life) => life.pods().collect(),
            Self::Told(told) => told.pods().collect(),
        }
    }

    /// The name of a pod's task.
    pub(crate) fn task(&self, key: PodKey) -> &str {
        match self {
            Self::MadeUp(life) => life.task(key),
            Self::Told(told) => told.task(key),
        }
    }

    /// How long a pod takes to go; processes have gone by themselves.
    pub(crate) fn goes_within(&self, key: PodKey) -> Span {
        match self {
            Self::MadeUp(life) => life.goes_within(key),
            Self::Told(_) => Span::ZERO,
        }
    }

    /// When to look again at the latest.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        match self {
            Self::MadeUp(life) => life.wake_at(),
            Self::Told(_) => None,
        }
    }
}
