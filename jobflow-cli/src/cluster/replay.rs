//! What a plan would say of a flow of a cluster, from its status and what lives: the same reasons that its controller
//! goes by, which no status can hold.
//!
//! Comes in: the record, the Jobs, what is known of templates, and the words of the status. Goes out: a report. Nothing
//! of the plan but that is used. Deliberately absent: asking for anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobflow_core::condition::Condition;
use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::plan::plan_with_answers;
use jobflow_core::probe::ProbeAnswer;
use jobflow_core::report::{Report, Why};
use jobflow_core::snapshot::{EffectKind, JobView, Refusal, RefusalClass, Sighting, Snapshot};
use jobflow_core::{FactCache, FlowRecord, JobKey, NodeId, NodePhase, Reason, Time};
use jobflow_k8s::parse::Flow;
use jobflow_k8s::status::ledger;
use jobflow_k8s::types::JobFlow;

/// What is known of a flow.
pub(crate) struct Known<'a> {
    pub(crate) object: &'a JobFlow,
    pub(crate) flow: &'a Flow,
    pub(crate) record: &'a FlowRecord,
    /// Jobs of attempts, as far as they are there.
    pub(crate) jobs: BTreeMap<JobKey, JobView>,
    /// The templates that are there; none if nobody could look.
    pub(crate) templates: Option<BTreeSet<String>>,
}

impl Known<'_> {
    /// What a plan says, and the facts that it went by.
    pub(crate) fn report(&self, now: Time) -> (Report, FactCache) {
        let mut facts = FactCache::default();
        let first = self.plan(&mut facts, now);
        if self.learn_answers(&first, &mut facts, now) {
            return (self.plan(&mut facts, now), facts);
        }
        (first, facts)
    }

    fn plan(&self, facts: &mut FactCache, now: Time) -> Report {
        let Flow { graph, policy, .. } = self.flow;
        let snapshot = self.snapshot(now);
        let answer = |question: &FactKey| self.answer(question);
        plan_with_answers(graph, policy, &snapshot, facts, answer, now).report
    }

    fn snapshot(&self, now: Time) -> Snapshot {
        let seen = self.jobs.iter();
        let mut jobs: BTreeMap<JobKey, Sighting> = seen
            .map(|(key, job)| (*key, Sighting::Seen(job.clone())))
            .collect();
        let mut in_flight = BTreeSet::new();
        for (node, record) in self.record.nodes.iter() {
            let key = JobKey {
                node,
                index: 0,
                attempt: record.attempt,
            };
            if record.phase() != NodePhase::Submitting || jobs.contains_key(&key) {
                continue;
            }
            match record.reason.and_then(class) {
                Some(class) => {
                    let refusal = Refusal {
                        class,
                        message: record.message.clone().unwrap_or_default(),
                        at: now,
                        count: 1,
                        not_before: None,
                    };
                    jobs.insert(key, Sighting::Refused(refusal));
                }
                None if record.reason == Some(Reason::TemplateNotFound) => {
                    jobs.insert(key, Sighting::Gone { last: None, at: now });
                }
                // The controller is about to create it.
                None => {
                    in_flight.extend([(key, EffectKind::Create), (key, EffectKind::Look)]);
                }
            }
        }
        Snapshot {
            record: self.record.clone(),
            wishes: self.flow.wishes.clone(),
            ledger: ledger(self.object),
            jobs,
            in_flight,
            ..Snapshot::default()
        }
    }

    /// What can't be looked at is believed as the record has it.
    fn answer(&self, question: &FactKey) -> Option<Answer> {
        let FactKey::Template(node) = question else {
            return matches!(question, FactKey::Rendered(_)).then_some(Answer::Rendered(0));
        };
        let entry = self.flow.entries.get(node.position())?;
        let name = entry.template.as_ref().unwrap_or(&entry.name);
        let record = &self.record.nodes[*node];
        let is_there = match &self.templates {
            Some(templates) => templates.contains(name),
            None => record.reason != Some(Reason::TemplateNotFound),
        };
        if entry.job_spec.is_none() && !is_there {
            return Some(Answer::NoTemplate);
        }
        let version = record.template.clone().unwrap_or_default();
        Some(Answer::Template(version))
    }

    /// The last answers to probes, which the status tells in words. True if there are any.
    fn learn_answers(&self, report: &Report, facts: &mut FactCache, now: Time) -> bool {
        let mut any = false;
        for (node, why) in report {
            let Why::Unanswered { first, .. } = why else {
                continue;
            };
            let asked = self.question(*node, *first);
            let Some((question, answer)) = asked.zip(self.said(*node, *first)) else {
                continue;
            };
            any |= facts.learn(question, Answer::Probe(answer), now);
        }
        any
    }

    fn question(&self, node: NodeId, target: NodeId) -> Option<FactKey> {
        let entry = self.flow.graph.entry(node);
        let target = entry.targets.iter().find(|known| known.node == target)?;
        let mut rules = target.rules.as_slice().iter();
        rules.find_map(|rule| {
            let Condition::Probe(probe) = &rule.condition else {
                return None;
            };
            let target = JobKey {
                node: target.node,
                index: 0,
                attempt: self.record.nodes[target.node].attempt,
            };
            Some(FactKey::Probe {
                target,
                probe: Arc::clone(probe),
            })
        })
    }

    fn said(&self, node: NodeId, target: NodeId) -> Option<ProbeAnswer> {
        let name = &*self.flow.graph.entry(node).name;
        let nodes = self.object.status.as_ref()?.nodes.as_ref()?;
        let line = nodes.iter().find(|line| line.name == name)?;
        let target = &*self.flow.graph.entry(target).name;
        let words = line.message.as_deref()?.strip_prefix(target)?.strip_prefix(' ')?;
        ProbeAnswer::in_words(words)
    }
}

/// The kind of refusal that a reason stands for.
fn class(reason: Reason) -> Option<RefusalClass> {
    let classes = [
        (Reason::QueueUnavailable, RefusalClass::Queue),
        (Reason::QuotaExceeded, RefusalClass::Quota),
        (Reason::NotPermitted, RefusalClass::NotPermitted),
        (Reason::NamespaceTerminating, RefusalClass::NamespaceTerminating),
        (Reason::ServerUnavailable, RefusalClass::Passing),
    ];
    let mut classes = classes.into_iter();
    classes
        .find(|(known, _)| *known == reason)
        .map(|(_, class)| class)
}
