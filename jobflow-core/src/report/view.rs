//! One node looked at closely: each rule it waits for, the limit it meets, and the next node on the way to the cause.
//!
//! Comes in: a graph, a policy, a record with the report of the plan that made it, facts, the time. Goes out: ids, numbers
//! and times. A plan doesn't need them, so that they are worked out for the few nodes that somebody asks about.
//! Deliberately absent: text, and any decision.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::{Report, Why};
use crate::condition::{Condition, Rule, TargetView};
use crate::facts::{Fact, FactCache, FactKey};
use crate::graph::{FlowGraph, OnSkipped, Strategy, Target};
use crate::key::{JobKey, NodeId};
use crate::phase::NodePhase;
use crate::plan::{Judged, Judgement, Share, held, judge, share, takes_a_place, with_delay};
use crate::policy::Policy;
use crate::reason::Reason;
use crate::record::{Cause, FlowRecord, NodeRecord};
use crate::time::Time;

/// A flow as somebody looks at it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The graph.
    pub graph: &'a FlowGraph,
    /// The settings.
    pub policy: &'a Policy,
    /// The record.
    pub record: &'a FlowRecord,
    /// What the plan that made the record said.
    pub report: &'a Report,
    /// What is known beside the jobs.
    pub facts: &'a FactCache,
    /// The time.
    pub now: Time,
}

/// What keeps one node where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The node.
    pub node: NodeId,
    /// What the plan said; none of a node that has ended.
    pub why: Option<Why>,
    /// Each rule on each target, while the node's dependencies are not decided.
    pub waits: Vec<Wait>,
    /// The limit that holds it back.
    pub limit: Option<Limit>,
    /// The next node on the way to the cause: the one it waits for, or the one that ended it.
    pub next: Option<NodeId>,
}

/// A rule on a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The target.
    pub target: NodeId,
    /// Which of the rules on it.
    pub rule: u32,
    /// What it comes to.
    pub stands: Stands,
    /// How many pods it counts, where it counts some that are known.
    pub share: Option<Share>,
    /// What a custom condition asks, with the last answers.
    pub asked: Vec<Asked>,
}

/// What a rule comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// Not yet.
    NotYet,
    /// Its condition has held since then, and its delay is over at this time.
    Delayed {
        /// Since when.
        since: Time,
        /// Until when.
        until: Time,
    },
    /// It holds.
    Holds {
        /// Since when.
        since: Time,
    },
    /// It can never hold.
    Never {
        /// Why.
        reason: Reason,
        /// What brought that about.
        cause: Cause,
    },
    /// Its target was skipped for a benign reason, and is left out.
    LeftOut,
}

/// A question with its last answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The question.
    pub question: FactKey,
    /// The answer; none so far.
    pub answer: Option<Fact>,
}

/// A limit that is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The most jobs alive at once.
    pub most: u32,
    /// Whose jobs are alive.
    pub alive: Vec<NodeId>,
}

impl View<'_> {
    /// The node and all that lies between it and the cause, which is the last one.
    ///
    /// Positions that the graph or the record doesn't have give nothing.
    #[must_use]
    pub fn chain(&self, node: NodeId) -> Vec<Explanation> {
        let mut chain = Vec::new();
        let mut seen = BTreeSet::new();
        let mut next = Some(node);
        while let Some(explanation) = next
            .filter(|node| seen.insert(*node))
            .and_then(|node| self.explain(node))
        {
            next = explanation.next;
            chain.push(explanation);
        }
        chain
    }

    /// What keeps a node where it is; none where there is no such node.
    #[must_use]
    pub fn explain(&self, node: NodeId) -> Option<Explanation> {
        let record = self.record.nodes.get(node)?;
        self.graph.entries().get(node.position())?;
        let ended = record.phase().is_end();
        let why = self.said(node).filter(|_| !ended);
        let waits = match record.phase().is_undecided() {
            true => self.waits(node),
            false => Vec::new(),
        };
        Some(Explanation {
            node,
            why,
            limit: self.limit(why),
            next: self.next(node, record, why, &waits),
            waits,
        })
    }

    /// The last thing that was said of a node: what comes later in a plan knows more.
    fn said(&self, node: NodeId) -> Option<Why> {
        self.report
            .iter()
            .rev()
            .find(|(of, _)| *of == node)
            .map(|(_, why)| *why)
    }

    fn waits(&self, node: NodeId) -> Vec<Wait> {
        let entry = self.graph.entry(node);
        let rules = |target: &Target| {
            let rules = target.rules.as_slice().iter().zip(0..);
            rules
                .filter_map(|(rule, index)| self.wait(node, target.node, rule, index))
                .collect::<Vec<_>>()
        };
        entry.targets.iter().flat_map(rules).collect()
    }

    fn wait(&self, node: NodeId, target: NodeId, rule: &Rule, index: u32) -> Option<Wait> {
        let record = self.record.nodes.get(target)?;
        Some(Wait {
            target,
            rule: index,
            stands: self.stands(node, target, rule, index),
            share: share(&rule.condition, record),
            asked: self.asked(target, record, &rule.condition),
        })
    }

    fn stands(&self, node: NodeId, target: NodeId, rule: &Rule, index: u32) -> Stands {
        let record = &self.record.nodes[target];
        let leaves_out = self.graph.entry(node).strategy == Strategy::All
            && self.graph.on_skipped(node) == OnSkipped::Satisfy;
        if leaves_out && record.is_skipped_benignly() {
            return Stands::LeftOut;
        }
        let judged = Judged {
            node: target,
            entry: self.graph.entry(target),
            record,
        };
        let judgement = match held(&self.record.nodes[node], target, index, record) {
            Some(since) => Judgement::Holds(since),
            None => judge(&rule.condition, judged, self.facts, self.now),
        };
        match (judgement, with_delay(rule, judgement, self.now)) {
            (Judgement::Holds(since), (_, Some(until))) => Stands::Delayed { since, until },
            (Judgement::Holds(since), (_, None)) => Stands::Holds { since },
            (Judgement::Pending, _) => Stands::NotYet,
            (Judgement::Never { reason, cause }, _) => Stands::Never { reason, cause },
        }
    }

    fn asked(&self, target: NodeId, record: &NodeRecord, condition: &Condition) -> Vec<Asked> {
        let questions = match condition {
            Condition::Custom(custom) => {
                let name = &self.graph.entry(target).name;
                custom.0.wants(TargetView { name, record })
            }
            Condition::Probe(probe) => vec![FactKey::Probe {
                target: JobKey {
                    node: target,
                    index: 0,
                    attempt: record.attempt,
                },
                probe: Arc::clone(probe),
            }],
            Condition::Completed
            | Condition::Started
            | Condition::Running
            | Condition::Ready(_)
            | Condition::Failed
            | Condition::Finished
            | Condition::Task(_) => return Vec::new(),
        };
        let asked = |question: FactKey| Asked {
            answer: self.facts.find(&question).cloned(),
            question,
        };
        questions.into_iter().map(asked).collect()
    }

    fn limit(&self, why: Option<Why>) -> Option<Limit> {
        let most = self.policy.parallelism?;
        let alive = || {
            self.record
                .nodes
                .iter()
                .filter(|(_, record)| takes_a_place(record))
        };
        (why == Some(Why::HeldBack(Reason::ParallelismLimit))).then(|| Limit {
            most,
            alive: alive().map(|(node, _)| node).collect(),
        })
    }

    fn next(&self, node: NodeId, record: &NodeRecord, why: Option<Why>, waits: &[Wait]) -> Option<NodeId> {
        if record.phase().is_end() {
            return record
                .cause
                .map(|cause| cause.node)
                .filter(|cause| *cause != node);
        }
        match why? {
            // A delay is a cause of its own: its target has done its part.
            Why::Targets { .. } | Why::Unanswered { .. } => waits
                .iter()
                .find(|wait| wait.stands == Stands::NotYet)
                .map(|wait| wait.target),
            Why::Gate(gate) => Some(gate),
            Why::FinallyNotOpen => self.first_open(),
            Why::HeldBack(_)
            | Why::Preparing
            | Why::NextWave
            | Why::Until(_)
            | Why::PodsLeft
            | Why::InFlight
            | Why::Job => None,
        }
    }

    /// The first node for which `finally` waits: one that stands still rather than one that waits for it.
    fn first_open(&self) -> Option<NodeId> {
        let is_open = |node: &NodeId| {
            let ended = self
                .record
                .nodes
                .get(*node)
                .is_none_or(|record| record.phase().is_end());
            !self.graph.is_finally(*node) && !ended
        };
        let mut open = self.graph.order().iter().copied().filter(is_open);
        let first = open.clone().next();
        let waits = |node: &NodeId| self.record.nodes[*node].phase() == NodePhase::Waiting;
        open.find(|node| !waits(node)).or(first)
    }
}

#[cfg(test)]
mod tests;
