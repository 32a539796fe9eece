//! What was found out beside the jobs: templates, rendered jobs, answers to probes. A plan reads it and never waits.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::Hash;

use hashbrown::HashMap;

use crate::key::{JobKey, NodeId};
use crate::probe::{Probe, ProbeAnswer};
use crate::time::Time;

/// A question that a plan asks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum FactKey {
    /// Is the template of this node there?
    Template(NodeId),
    /// Can this job be built from its template and patch?
    Rendered(JobKey),
    /// How do the running pods of this job answer?
    Probe {
        /// The job of the target's present attempt.
        target: JobKey,
        /// What is asked, and how often.
        probe: Arc<Probe>,
    },
    /// Does the queue of this name take jobs? Not asked where nobody can tell.
    Queue(Arc<str>),
    /// What does the source of a custom predicate's kind say to this question?
    Custom {
        /// The kind.
        kind: Arc<str>,
        /// The question, in words of the kind's own.
        question: Arc<str>,
    },
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Answer {
    /// The template is there, or was not needed.
    Template(TemplateVersion),
    /// There is no such template.
    NoTemplate,
    /// The job can be built; the digest is of what was built.
    Rendered(u64),
    /// The job cannot be built, and why.
    Unrenderable(Arc<str>),
    /// How pods answered.
    Probe(ProbeAnswer),
    /// Whether the queue is there, and takes jobs.
    Queue(bool),
    /// What a custom source said.
    Custom(Arc<str>),
}

/// Which state of a template was used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TemplateVersion {
    /// The template's UID; empty for a job written inline.
    pub uid: Arc<str>,
    /// The template's generation.
    pub generation: i64,
}

/// An answer with its age.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fact {
    /// The answer.
    pub answer: Answer,
    /// When it was given; where an answer takes time, when the question was put.
    pub when: Time,
    /// How often in a row it was the same.
    pub streak: u32,
}

/// All answers known, looked up by question.
#[derive(Clone, Debug, Default)]
pub struct FactCache {
    facts: HashMap<FactKey, Fact>,
    templates: HashMap<NodeId, Fact>,
    rendered: HashMap<JobKey, Fact>,
    /// By target; there are as many as dependents ask different things of it.
    probes: HashMap<JobKey, Vec<Probed>>,
}

/// What is known of one probe of a target.
#[derive(Clone, Debug)]
struct Probed {
    probe: Arc<Probe>,
    fact: Fact,
    /// The last plan still asked it.
    wanted: bool,
}

impl FactCache {
    /// The answer to a question, if there is one.
    #[must_use]
    pub fn find(&self, key: &FactKey) -> Option<&Fact> {
        match key {
            FactKey::Template(node) => self.templates.get(node),
            FactKey::Rendered(job) => self.rendered.get(job),
            FactKey::Probe { target, probe } => self.find_probe(*target, probe),
            FactKey::Queue(_) | FactKey::Custom { .. } => self.facts.get(key),
        }
    }

    /// The answer to a probe, if there is one.
    #[must_use]
    pub fn find_probe(&self, target: JobKey, probe: &Arc<Probe>) -> Option<&Fact> {
        let mut known = self.probes.get(&target)?.iter();
        known
            .find(|known| is_same(&known.probe, probe))
            .map(|known| &known.fact)
    }

    /// Takes an answer in; true when a plan may come out differently: it isn't the same as the one before, or as many
    /// looks in a row have now succeeded as the probe asks for.
    pub fn learn(&mut self, key: FactKey, answer: Answer, now: Time) -> bool {
        match key {
            FactKey::Template(node) => note(&mut self.templates, node, answer, now),
            FactKey::Rendered(job) => note(&mut self.rendered, job, answer, now),
            FactKey::Probe { target, probe } => self.learn_probe(target, probe, answer, now),
            FactKey::Queue(_) | FactKey::Custom { .. } => note(&mut self.facts, key, answer, now),
        }
    }

    fn learn_probe(&mut self, target: JobKey, probe: Arc<Probe>, answer: Answer, now: Time) -> bool {
        let known = self.probes.entry(target).or_default();
        if let Some(known) = known.iter_mut().find(|known| is_same(&known.probe, &probe)) {
            let streak = if known.fact.answer == answer {
                known.fact.streak
            } else {
                0
            };
            known.fact = following(streak, answer, now);
            return streak == 0 || known.fact.streak == probe.success_threshold;
        }
        let fact = following(0, answer, now);
        known.push(Probed {
            probe,
            fact,
            wanted: true,
        });
        true
    }

    /// Drops the answers to probes that aren't asked any more, so that none is taken for news of later days.
    pub fn keep_probes(&mut self, wanted: &[FactKey]) {
        if self.probes.is_empty() {
            return;
        }
        for known in self.probes.values_mut().flatten() {
            known.wanted = false;
        }
        for key in wanted {
            let FactKey::Probe { target, probe } = key else {
                continue;
            };
            let known = self.probes.get_mut(target).into_iter().flatten();
            known
                .filter(|known| is_same(&known.probe, probe))
                .for_each(|known| known.wanted = true);
        }
        self.probes.retain(|_, known| {
            known.retain(|known| known.wanted);
            !known.is_empty()
        });
    }

    /// Drops an answer, so that a plan asks again.
    pub fn forget(&mut self, key: &FactKey) {
        match key {
            FactKey::Template(node) => drop(self.templates.remove(node)),
            FactKey::Rendered(job) => drop(self.rendered.remove(job)),
            FactKey::Probe { target, probe } => {
                if let Some(known) = self.probes.get_mut(target) {
                    known.retain(|known| !is_same(&known.probe, probe));
                }
            }
            FactKey::Queue(_) | FactKey::Custom { .. } => drop(self.facts.remove(key)),
        }
    }

    /// Drops every answer about how a job of this node is built.
    pub fn forget_rendered(&mut self, node: NodeId) {
        self.rendered.retain(|key, _| key.node != node);
    }
}

fn note<K: Eq + Hash>(facts: &mut HashMap<K, Fact>, key: K, answer: Answer, now: Time) -> bool {
    let streak = facts
        .get(&key)
        .filter(|fact| fact.answer == answer)
        .map_or(0, |fact| fact.streak);
    facts.insert(key, following(streak, answer, now));
    streak == 0
}

/// An answer after as many of the same.
const fn following(streak: u32, answer: Answer, now: Time) -> Fact {
    Fact {
        answer,
        when: now,
        streak: streak.saturating_add(1),
    }
}

/// Probes of one graph are mostly the same object; those of a graph that was built again are equal.
fn is_same(one: &Arc<Probe>, other: &Arc<Probe>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_changed_answer_is_news() {
        let mut facts = FactCache::default();
        let key = FactKey::Template(NodeId(1));
        assert!(facts.learn(key.clone(), Answer::NoTemplate, Time(1)));
        assert!(!facts.learn(key.clone(), Answer::NoTemplate, Time(2)));
        assert_eq!(facts.find(&key).map(|fact| fact.streak), Some(2));
        assert!(facts.learn(key.clone(), Answer::Template(TemplateVersion::default()), Time(3)));
        facts.forget(&key);
        assert_eq!(facts.find(&key), None);
    }
}
