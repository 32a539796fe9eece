//! What the flow asks of pods, and what it takes of the answers.

use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::probe::ProbeAnswer;
use jobflow_core::{JobKey, Plan, Time};

use super::{FlowDriver, Stepped, Surroundings};

impl FlowDriver {
    /// Says what is asked of pods from now on, if that has changed.
    pub(super) fn probe(&mut self, stepped: &mut Stepped, plan: &Plan, around: &Surroundings<'_>, now: Time) {
        let mut probes = Vec::new();
        for key in &plan.wanted {
            let FactKey::Probe { target, .. } = key else {
                continue;
            };
            if !around.settings.probes {
                let answer = Answer::Probe(ProbeAnswer::SwitchedOff);
                self.facts.learn(key.clone(), answer, now);
            } else if let Some(uid) = self.uid_of(*target) {
                probes.push((key.clone(), uid));
            }
        }
        if probes != self.probes {
            self.probes.clone_from(&probes);
            stepped.probes = Some(probes);
        }
    }

    /// Pods have answered. What is said of a Job that isn't the one of that key any more is of no use.
    pub(super) fn probed(&mut self, key: FactKey, job: &str, answer: Answer, now: Time) {
        let FactKey::Probe { target, .. } = &key else {
            return;
        };
        if self.uid_of(*target).is_some_and(|uid| uid == job) {
            self.facts.learn(key, answer, now);
        }
    }

    fn uid_of(&self, key: JobKey) -> Option<String> {
        let job = self.jobs.by_key().get(&key)?;
        Some(job.uid().to_owned())
    }
}
