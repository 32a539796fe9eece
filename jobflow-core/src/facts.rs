//! What was found out beside the jobs: templates, rendered jobs, answers to probes. A plan reads it and never waits.

use alloc::sync::Arc;
use core::hash::Hash;

use hashbrown::HashMap;

use crate::key::{JobKey, NodeId};
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
    /// When it was given.
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
}

impl FactCache {
    /// The answer to a question, if there is one.
    #[must_use]
    pub fn find(&self, key: &FactKey) -> Option<&Fact> {
        match key {
            FactKey::Template(node) => self.templates.get(node),
            FactKey::Rendered(job) => self.rendered.get(job),
            FactKey::Custom { .. } => self.facts.get(key),
        }
    }

    /// Takes an answer in; true when it differs from the one before, so that a plan may come out differently.
    pub fn learn(&mut self, key: FactKey, answer: Answer, now: Time) -> bool {
        match key {
            FactKey::Template(node) => note(&mut self.templates, node, answer, now),
            FactKey::Rendered(job) => note(&mut self.rendered, job, answer, now),
            FactKey::Custom { .. } => note(&mut self.facts, key, answer, now),
        }
    }

    /// Drops an answer, so that a plan asks again.
    pub fn forget(&mut self, key: &FactKey) {
        match key {
            FactKey::Template(node) => drop(self.templates.remove(node)),
            FactKey::Rendered(job) => drop(self.rendered.remove(job)),
            FactKey::Custom { .. } => drop(self.facts.remove(key)),
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
    facts.insert(
        key,
        Fact {
            answer,
            when: now,
            streak: streak.saturating_add(1),
        },
    );
    streak == 0
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
