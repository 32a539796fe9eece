//! What takes time to answer: says what is wanted, and takes in what was heard.

use std::{sync::Arc, time::Duration};

use jobflow_core::{
    JobKey, Time,
    facts::FactKey,
    gang::PodPhase,
    probe::{Probe, ProbeAnswer},
};
use jobflow_k8s::extensions::Asker;

use super::{Drive, RunError};
use crate::{
    executor::command_of,
    host::ContainerKey,
    pod::template::{Check, Readiness},
    questions::{Heard, Places, Purpose, Questions, Wanted},
};

/// The time so long before, or a little earlier.
fn before(now: Time, passed: Duration) -> Time {
    let passed = i64::try_from(passed.as_micros().div_ceil(1_000)).unwrap_or(i64::MAX);
    Time(now.0.saturating_sub(passed))
}

impl Drive<'_> {
    /// Takes in the answers that have come.
    pub(super) fn hear_answers(&mut self, now: Time) {
        let heard: Vec<Heard> = self.questions.iter().flat_map(Questions::heard).collect();
        for heard in heard {
            match heard {
                Heard::Fact(key, answer, began) => {
                    self.facts.learn(key, answer, before(now, began.elapsed()));
                }
                Heard::Ready(key, well) => self.host.checked(key, well),
            }
        }
    }

    /// Asks for what the last plan and the containers want to know.
    pub(super) fn ask_for_answers(&mut self, now: Time) -> Result<(), RunError> {
        self.run_commands(now);
        let wanted = self.wanted_answers(now);
        let questions = match &mut self.questions {
            Some(questions) => questions,
            None if wanted.is_empty() => return Ok(()),
            None => {
                let asker = Asker {
                    namespace: self.input.namespace().to_owned(),
                    flow: self.input.name().to_owned(),
                };
                let extensions = self.surroundings.extensions.clone();
                self.questions
                    .insert(Questions::start(extensions, asker, self.seed())?)
            }
        };
        questions.ask(wanted);
        Ok(())
    }

    /// Moves the jitter of looks, so that runs beside each other don't look in step.
    pub(super) fn seed(&self) -> u64 {
        let [first, second, ..] = self.surroundings.random;
        u64::from(u16::from_be_bytes([first, second]))
    }

    fn wanted_answers(&self, now: Time) -> Wanted {
        let mut wanted = Wanted::default();
        for key in &self.wanted {
            match key {
                FactKey::Probe { target, probe } => {
                    let places = self.places(*target, probe);
                    let purpose = Purpose::Fact(key.clone());
                    wanted.probes.insert(purpose, (Arc::clone(probe), places));
                }
                FactKey::Custom { kind, question } => {
                    wanted.custom.insert((Arc::clone(kind), Arc::clone(question)));
                }
                // Answered on the spot, or not asked here.
                FactKey::Template(_) | FactKey::Rendered(_) | FactKey::Queue(_) => {}
                // Of a kind that isn't known here.
                _ => {}
            }
        }
        for (key, readiness) in self.host.readiness(now) {
            if let (Some(probe), Some(held)) = (readiness.probe(), self.held.get(&key.job)) {
                let address = held.ready.prepared.address(key.pod, held.addresses);
                let purpose = Purpose::Ready(key);
                wanted.probes.insert(purpose, (probe, vec![Ok(address.into())]));
            }
        }
        wanted
    }

    /// Where the running pods of a task listen. A port that no container declares may be somebody else's.
    fn places(&self, target: JobKey, probe: &Probe) -> Places {
        let (Some(job), Some(held)) = (self.host.job(target), self.held.get(&target)) else {
            return Places::new();
        };
        let prepared = &held.ready.prepared;
        let names: Vec<&str> = prepared.tasks().collect();
        let is_asked = |task: u32| {
            let name = names.get(task as usize);
            name.is_some_and(|name| probe.task.is_empty() || **name == *probe.task)
        };
        let running = job
            .pods()
            .filter(|(key, pod)| pod.phase == PodPhase::Running && !pod.terminating && is_asked(key.task));
        running
            .map(
                |(key, _)| match prepared.declares(key.task as usize, probe.port) {
                    true => Ok(prepared.address(key, held.addresses).into()),
                    false => Err(ProbeAnswer::NotPermitted),
                },
            )
            .collect()
    }

    /// Looks at containers whose readiness a command tells.
    fn run_commands(&mut self, now: Time) {
        let by_command = |(key, readiness): (ContainerKey, &Readiness)| {
            let Check::Exec(words) = &readiness.check else {
                return None;
            };
            Some((key, readiness.times(), words.clone()))
        };
        let wanted: Vec<_> = self.host.readiness(now).filter_map(by_command).collect();
        if wanted.is_empty() && self.commands.is_idle() {
            return;
        }
        let times = wanted.iter().map(|(key, times, _)| (*key, Arc::clone(times)));
        self.commands.want(times.collect(), now);
        let mut commands = std::mem::take(&mut self.commands);
        let told = commands.turn(now, |key| {
            let (_, _, words) = wanted.iter().find(|(wanted, ..)| *wanted == key)?;
            self.command_in(key, words)
        });
        self.commands = commands;
        for (key, well) in told {
            self.host.checked(key, well);
        }
    }

    /// A command in a container; none when it can't be made, which is a look that failed.
    fn command_in(&self, key: ContainerKey, words: &[String]) -> Option<std::process::Command> {
        let (job, held) = (self.host.job(key.job)?, self.held.get(&key.job)?);
        let state = (
            job.gang().version_of(key.pod).unwrap_or_default(),
            job.gang().status.retry_count,
        );
        let prepared = &held.ready.prepared;
        let mut spec = prepared.command(key, words, state, held.addresses).ok()?;
        spec.cwd = self.folder.path().join(&spec.cwd);
        command_of(&spec).ok()
    }
}
