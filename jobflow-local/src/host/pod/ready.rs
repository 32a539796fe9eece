//! Whether a container is ready, by how its readiness probe went: it takes some looks in a row to become ready, and some
//! to be ready no longer.

use jobflow_core::Time;

use super::{Container, PodLife, PodPlan, State, number};
use crate::pod::template::Readiness;

/// What looks at one run of a container have found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ready {
    /// When the container started.
    since: Time,
    ready: bool,
    /// How many looks in a row spoke against `ready`.
    against: u32,
}

impl Ready {
    /// Nothing was looked at since the container started.
    pub(super) const fn since(since: Time) -> Self {
        Self {
            since,
            ready: false,
            against: 0,
        }
    }

    pub(super) const fn is_ready(self) -> bool {
        self.ready
    }

    /// Takes a look in; true when it tipped the scale.
    const fn take(&mut self, well: bool, readiness: &Readiness) -> bool {
        if well == self.ready {
            self.against = 0;
            return false;
        }
        self.against = self.against.saturating_add(1);
        let threshold = if well {
            readiness.success_threshold
        } else {
            readiness.failure_threshold
        };
        let tips = self.against >= threshold;
        if tips {
            self.ready = well;
            self.against = 0;
        }
        tips
    }
}

impl PodLife {
    /// The containers to look at now, each with its run.
    pub(in super::super) fn checks<'a>(
        &'a self,
        plan: &'a PodPlan,
        now: Time,
    ) -> impl Iterator<Item = (u32, u32, &'a Readiness)> {
        let going = self.is_going();
        let places = plan.containers.iter().zip(&self.containers).enumerate();
        places.filter_map(move |(place, (plan, life))| {
            let readiness = plan.readiness.as_ref().filter(|_| !going)?;
            let due = life.state == State::Running && life.ready.since + readiness.initial_delay <= now;
            due.then_some((number(place), life.run, readiness))
        })
    }

    /// Takes in how a look at a run of a container went; true when the container became ready, or is no longer.
    pub(in super::super) fn checked(&mut self, container: u32, run: u32, well: bool, plan: &PodPlan) -> bool {
        let plan = plan.containers.get(container as usize);
        let Some(readiness) = plan.and_then(|plan| plan.readiness.as_ref()) else {
            return false;
        };
        let present = |life: &&mut Container| life.run == run && life.state == State::Running;
        let life = self.containers.get_mut(container as usize).filter(present);
        life.is_some_and(|life| life.ready.take(well, readiness))
    }
}

#[cfg(test)]
mod tests {
    use jobflow_core::{Span, probe::Ask};

    use super::*;
    use crate::pod::template::Check;

    #[test]
    fn it_takes_some_looks_to_become_ready_and_some_to_be_so_no_longer() {
        let readiness = Readiness {
            check: Check::Port(1, Ask::TcpSocket),
            initial_delay: Span::ZERO,
            period: Span::from_secs(1),
            timeout: Span::from_secs(1),
            success_threshold: 2,
            failure_threshold: 3,
        };
        let mut ready = Ready::since(Time(0));
        let looks = [
            (true, false),
            (false, false),
            (true, false),
            (true, true),
            (false, true),
            (true, true),
            (false, true),
            (false, true),
            (false, false),
        ];
        for (at, (well, is_ready)) in looks.into_iter().enumerate() {
            ready.take(well, &readiness);
            assert_eq!(ready.is_ready(), is_ready, "after look {at}");
        }
    }
}
