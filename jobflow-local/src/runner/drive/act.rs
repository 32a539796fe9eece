//! Carries out what a plan asks for, and what Jobs ask of the executor.

use jobflow_core::{JobKey, Plan, Time, gang::Command, plan::Effect, snapshot::EffectKind};
use nix::libc;

use super::{Control, Drive, Held, Line, RunError, addresses};
use crate::{
    client::ClientError,
    host::{Ask, ContainerKey, JobLife, JobPlan},
    task::TaskSpec,
};

impl Drive<'_> {
    /// Takes over what was asked from outside.
    pub(super) fn heed(&mut self) {
        while let Some(control) = self.surroundings.controls.next() {
            self.controlled = true;
            let wishes = &mut self.prepared.flow.wishes;
            match control {
                Control::Cancel(mode) => wishes.cancel = Some(mode),
                Control::Suspend { running } => (wishes.suspend, wishes.suspend_running) = (true, running),
                Control::Resume => (wishes.suspend, wishes.suspend_running) = (false, false),
                Control::DeleteJob(entry) => self
                    .job_of(&entry)
                    .into_iter()
                    .for_each(|key| self.host.delete(key)),
                Control::EvictPods(entry) => self
                    .job_of(&entry)
                    .into_iter()
                    .for_each(|key| self.host.evict(key)),
            }
        }
    }

    fn job_of(&self, entry: &str) -> Option<JobKey> {
        let node = self.prepared.flow.graph.find(entry)?;
        Some(JobKey {
            node,
            index: 0,
            attempt: self.record.nodes[node].attempt,
        })
    }

    pub(super) fn act(&mut self, plan: &Plan, now: Time) -> Result<(), RunError> {
        for effect in &plan.effects {
            match effect {
                Effect::Create { key } => self.create(*key, now)?,
                Effect::Terminate { key, uid: _ } => {
                    self.stop_requests.insert(*key, (EffectKind::Terminate, now));
                    self.host.command(*key, Command::Terminate);
                }
                Effect::Delete { key, uid: _ } => {
                    self.stop_requests.insert(*key, (EffectKind::Delete, now));
                    self.host.delete(*key);
                }
                // There is no object of a flow to mark or to delete, and nothing that this process doesn't know already.
                Effect::MarkBirth
                | Effect::Look { .. }
                | Effect::LookAtPods { .. }
                | Effect::DeleteStray(_)
                | Effect::Reread
                | Effect::DeleteFlow => {}
            }
        }
        Ok(())
    }

    /// Makes a Job. It was built once before, for the fact that the plan went by.
    fn create(&mut self, key: JobKey, now: Time) -> Result<(), RunError> {
        if self.host.job(key).is_some() {
            return Ok(());
        }
        let uid = self.uid(key);
        let ready = self
            .prepared
            .job(self.input, key, &uid)
            .map_err(RunError::Faults)?;
        let spec = ready.rendered.view.gang();
        let addresses = addresses(&mut self.addresses, spec.replicas());
        let plan = JobPlan {
            name: ready.name(),
            uid,
            pods: ready.prepared.pods(),
        };
        self.held.insert(key, Held { ready, addresses });
        self.host.create(key, plan, spec, now);
        self.write_job(key)
    }

    /// The UID of a Job is made from the run's and the key, and so the same after a restart.
    pub(super) fn uid(&self, key: JobKey) -> String {
        format!(
            "{}-{}-{}-{}",
            self.folder.record().id.as_str(),
            key.node.0,
            key.index,
            key.attempt
        )
    }

    pub(super) fn ask(&mut self, ask: &Ask) -> Result<(), RunError> {
        let asked = match ask {
            Ask::Start(key) => match self.task(*key) {
                Some(spec) => self
                    .client
                    .start(key.task().map_err(std::io::Error::other)?, spec),
                None => return Ok(()),
            },
            Ask::Stop(key, grace) => self.client.stop(
                key.task().map_err(std::io::Error::other)?,
                libc::SIGTERM,
                Some(*grace),
            ),
        };
        match asked {
            Ok(()) => Ok(()),
            // Whoever takes over is asked for all that was not seen to run, this included.
            Err(ClientError::ExecutorGone) => self.replace_executor(),
            Err(other) => Err(other.into()),
        }
    }

    /// The task of a container. What can't be made is a task that says so and fails, as a container that can't start.
    fn task(&self, key: ContainerKey) -> Option<TaskSpec> {
        let (job, held) = (self.host.job(key.job)?, self.held.get(&key.job)?);
        let version = job.gang().version_of(key.pod).unwrap_or_default();
        let retries = job.gang().status.retry_count;
        Some(held.ready.prepared.task(key, version, retries, held.addresses))
    }

    /// Jobs that are gone, or of no more use, are forgotten. What still runs of one that has ended (beyond its
    /// `minSuccess`, say) is stopped first: nobody waits for it.
    pub(super) fn forget_gone(&mut self) -> Result<(), RunError> {
        let spent: Vec<JobKey> = self
            .held
            .keys()
            .copied()
            .filter(|key| self.is_spent(*key))
            .collect();
        let runs = |key: &JobKey| self.host.job(*key).is_some_and(JobLife::has_processes);
        let (running, over): (Vec<JobKey>, Vec<JobKey>) = spent.into_iter().partition(runs);
        running.into_iter().for_each(|key| self.host.delete(key));
        let missing = self
            .held
            .keys()
            .copied()
            .filter(|key| self.host.job(*key).is_none());
        let gone: Vec<JobKey> = missing.chain(over).collect();
        for key in gone {
            self.journal.append(&Line::Gone { key })?;
            self.host.forget(key);
            self.books.give_back(&key);
            self.stop_requests.remove(&key);
            if let Some(held) = self.held.remove(&key) {
                self.addresses.give_back(held.addresses);
            }
        }
        Ok(())
    }
}
