//! Runs Jobs as pods of processes: drives the gang machine with what the executor tells, and turns its decisions into
//! tasks.
//!
//! Comes in: Jobs to run or to end, and lines of the executor's journal. Goes out: what to ask of the executor, and
//! each Job as a cluster would show it. Deliberately absent: rules about phases (the gang machine has them), and
//! rules about flows. A host is made anew from the gangs that were written down and the executor's journal.

mod job;
mod keys;
mod pod;
mod view;

use std::{collections::BTreeMap, time::Duration};

use jobflow_core::{
    JobKey, Time,
    gang::{Command, GangSpec, GangState},
    snapshot::JobView,
};

pub use job::{JobLife, JobPlan};
pub use keys::ContainerKey;
pub use pod::{ContainerPlan, PodPlan};

use crate::{
    executor::line::Line,
    pod::template::Readiness,
    task::{Outcome, TaskKey},
};

/// Something to ask of the executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Start a container.
    Start(ContainerKey),
    /// End a container: SIGTERM, and SIGKILL after the grace period.
    Stop(ContainerKey, Duration),
}

/// What a round of steps came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// Jobs whose gang changed; to be written down before anything is asked.
    pub changed: Vec<JobKey>,
    /// What to ask.
    pub asks: Vec<Ask>,
    /// When to step again at the latest.
    pub wake_at: Option<Time>,
}

/// All Jobs of a run.
#[derive(Debug, Default)]
pub struct Host {
    jobs: BTreeMap<JobKey, JobLife>,
    /// Jobs that are to be stepped, because something of them changed.
    stirred: Vec<JobKey>,
    /// Ends between these moments are an interruption's, not the program's own.
    interrupted: Vec<(Time, Time)>,
    /// What came of steps between two rounds.
    pending: Round,
}

impl Host {
    /// Takes a Job in.
    pub fn create(&mut self, key: JobKey, plan: JobPlan, spec: GangSpec, now: Time) {
        self.restore(key, plan, spec, GangState::new(now));
    }

    /// Takes a Job in as it was written down.
    pub fn restore(&mut self, key: JobKey, plan: JobPlan, spec: GangSpec, gang: GangState) {
        self.jobs.insert(key, JobLife::new(key, plan, spec, gang));
        self.stirred.push(key);
    }

    /// Notes that everything was interrupted at a moment: what ended from then until the run was taken up again is
    /// lost, not failed.
    pub fn note_interruption(&mut self, from: Time, until: Time) {
        self.interrupted.push((from, until));
    }

    /// The Jobs that are there.
    pub fn jobs(&self) -> impl Iterator<Item = (&JobKey, &JobLife)> {
        self.jobs.iter()
    }

    /// One Job.
    #[must_use]
    pub fn job(&self, key: JobKey) -> Option<&JobLife> {
        self.jobs.get(&key)
    }

    /// A Job as a cluster would show it.
    #[must_use]
    pub fn view(&self, key: JobKey) -> Option<JobView> {
        self.jobs.get(&key).map(view::view)
    }

    /// Gives a Job a command; it takes effect in the next round.
    pub fn command(&mut self, key: JobKey, command: Command) {
        if let Some(job) = self.jobs.get_mut(&key) {
            job.command(command);
            self.stirred.push(key);
        }
    }

    /// Deletes a Job: it is gone when its processes are.
    pub fn delete(&mut self, key: JobKey) {
        if let Some(job) = self.jobs.get_mut(&key) {
            job.delete();
            self.stirred.push(key);
        }
    }

    /// Forgets a Job of which nothing runs.
    pub fn forget(&mut self, key: JobKey) {
        self.jobs.remove(&key);
    }

    /// Takes all pods of a Job away, as when the machine under them goes.
    pub fn evict(&mut self, key: JobKey) {
        if let Some(job) = self.jobs.get_mut(&key) {
            job.evict();
            self.stirred.push(key);
        }
    }

    /// Whether anything of any Job still runs or waits to run.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.jobs.values().all(JobLife::is_quiet)
    }

    /// Asks once more for every container that was asked for and not seen to run: whoever was asked is gone, and may
    /// never have heard of it. Asking twice for the same one starts it once.
    pub fn ask_again(&mut self, now: Time) {
        for (key, job) in &mut self.jobs {
            if job.ask_again(now) {
                self.stirred.push(*key);
            }
        }
    }

    /// Lets a Job have its pods, or not yet.
    pub fn admit(&mut self, key: JobKey, admitted: bool) {
        if let Some(job) = self.jobs.get_mut(&key)
            && job.admit(admitted)
        {
            self.stirred.push(key);
        }
    }

    /// Hears a line of the executor's journal.
    pub fn hear(&mut self, line: &Line) {
        match line {
            Line::Executor { .. } | Line::Starting { .. } => {}
            Line::Started { key, at, .. } => self.container(key, |job, key| job.started(key, Time(*at))),
            Line::Ended { key, outcome, at, .. } => {
                let at = Time(*at);
                self.catch_up(key, at);
                let outcome = if self.was_interrupted(at) {
                    &Outcome::Lost
                } else {
                    outcome
                };
                self.container(key, |job, key| job.ended(key, outcome, at));
            }
        }
    }

    /// Lets a Job see that a container runs before it sees that it ended: none of its phases is skipped.
    fn catch_up(&mut self, key: &TaskKey, at: Time) {
        let Some(key) = ContainerKey::parse(key.as_str()).filter(|key| self.stirred.contains(&key.job))
        else {
            return;
        };
        if let Some(job) = self.jobs.get_mut(&key.job)
            && job.is_admitted()
            && job.step(at, &mut self.pending.asks)
        {
            self.pending.changed.push(key.job);
        }
    }

    fn was_interrupted(&self, at: Time) -> bool {
        self.interrupted
            .iter()
            .any(|(from, until)| (*from..=*until).contains(&at))
    }

    fn container(&mut self, key: &TaskKey, tell: impl FnOnce(&mut JobLife, ContainerKey)) {
        let Some(key) = ContainerKey::parse(key.as_str()) else {
            return;
        };
        if let Some(job) = self.jobs.get_mut(&key.job) {
            tell(job, key);
            self.stirred.push(key.job);
        }
    }

    /// The containers whose readiness is to be looked at now.
    pub fn readiness(&self, now: Time) -> impl Iterator<Item = (ContainerKey, &Readiness)> {
        self.jobs.values().flat_map(move |job| job.readiness(now))
    }

    /// A look at a container's readiness was done.
    pub fn checked(&mut self, key: ContainerKey, well: bool) {
        if let Some(job) = self.jobs.get_mut(&key.job)
            && job.checked(key, well)
        {
            self.stirred.push(key.job);
        }
    }

    /// Steps every Job of which something changed, or whose time has come.
    pub fn round(&mut self, now: Time) -> Round {
        let mut round = std::mem::take(&mut self.pending);
        let mut stirred = std::mem::take(&mut self.stirred);
        stirred.extend(
            self.jobs
                .iter()
                .filter(|(_, job)| job.is_due(now))
                .map(|(key, _)| *key),
        );
        stirred.sort_unstable();
        stirred.dedup();
        for key in stirred {
            let Some(job) = self.jobs.get_mut(&key) else {
                continue;
            };
            if job.step(now, &mut round.asks) && !round.changed.contains(&key) {
                round.changed.push(key);
            }
            if job.is_gone() {
                self.jobs.remove(&key);
            }
        }
        round.wake_at = self.jobs.values().filter_map(JobLife::wake_at).min();
        round
    }
}

#[cfg(test)]
mod tests;
