//! The list of nodes: every one that isn't as it is by default, and what stays of those whose entry is gone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jobflow_core::key::NodeId;
use jobflow_core::record::NodeRecord;
use jobflow_core::report::Why;
use jobflow_core::{NodePhase, Time};

use super::Writing;
use super::needs::{Need, needs};
use super::node::{self, Around, Detail};
use crate::types;

/// How many bytes of messages are kept, together.
const MESSAGES: usize = 16_000;

/// How many bytes of a message are kept.
const LONGEST_MESSAGE: usize = 400;

/// What all lists of the same record have in common.
pub(super) struct Listed<'a> {
    writing: Writing<'a>,
    needs: Vec<Need>,
    waiting: BTreeMap<NodeId, Vec<String>>,
    answers: BTreeMap<NodeId, String>,
    removed: Vec<types::NodeRecord>,
}

impl<'a> Listed<'a> {
    pub(super) fn of(writing: Writing<'a>) -> Self {
        let graph = &writing.parsed.graph;
        let needs = if writing.parsed.wishes.frozen {
            vec![Need::EVERYTHING; graph.len()]
        } else {
            needs(graph)
        };
        Self {
            writing,
            needs,
            waiting: waiting(writing),
            answers: answers(writing),
            removed: removed(writing),
        }
    }

    /// The list with so much detail; nodes whose entry is gone come last.
    pub(super) fn nodes(&self, detail: Detail) -> Vec<types::NodeRecord> {
        let Writing {
            flow, parsed, record, ..
        } = self.writing;
        let around = Around {
            flow: flow.metadata.name.as_deref().unwrap_or_default(),
            graph: &parsed.graph,
            nodes: &record.nodes,
            detail,
        };
        let mut messages = if detail.display { MESSAGES } else { 0 };
        let mut written = Vec::with_capacity(record.nodes.len() + self.removed.len());
        for (node, kept) in record.nodes.iter() {
            let need = self.needs.get(node.position()).copied().unwrap_or_default();
            let waiting_for = self.waiting.get(&node).filter(|_| detail.display).cloned();
            if let Some(mut line) = node::record(around, node, need, waiting_for) {
                let said = kept.message.as_deref();
                let said = said.or_else(|| self.answers.get(&node).map(String::as_str));
                line.message = message(kept, said, &mut messages);
                written.push(line);
            }
        }
        written.extend(self.removed.iter().cloned());
        written
    }
}

/// What was said of a node that failed, waits or is held back, as long as there is room for it.
fn message(kept: &NodeRecord, said: Option<&str>, left: &mut usize) -> Option<String> {
    let told = !kept.phase().is_end() || kept.phase() == NodePhase::Failed;
    let message = said.filter(|_| told)?;
    let cut = &message[..message.floor_char_boundary(LONGEST_MESSAGE)];
    *left = left.checked_sub(cut.len())?;
    Some(cut.to_owned())
}

/// What nodes wait for: up to three targets that haven't ended, or the switch above.
fn waiting(writing: Writing<'_>) -> BTreeMap<NodeId, Vec<String>> {
    const MOST: usize = 3;
    let graph = &writing.parsed.graph;
    let name = |node: NodeId| graph.entry(node).name.to_string();
    let is_open = |node: &NodeId| !writing.record.nodes[*node].phase().is_end();
    let mut waiting = BTreeMap::new();
    for (node, why) in writing.report {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the enum is non-exhaustive, and all else names no node"
        )]
        let names = match why {
            Why::Targets { first, .. } | Why::Unanswered { first, .. } => {
                let others = graph.entry(*node).targets.iter().map(|target| target.node);
                let others = others.filter(|target| target != first).filter(is_open);
                std::iter::once(*first)
                    .chain(others)
                    .take(MOST)
                    .map(name)
                    .collect()
            }
            Why::Gate(gate) => vec![name(*gate)],
            _ => continue,
        };
        waiting.insert(*node, names);
    }
    waiting
}

/// How the first target of a node that waits for an answer to a probe answered last.
fn answers(writing: Writing<'_>) -> BTreeMap<NodeId, String> {
    let graph = &writing.parsed.graph;
    let answer = |(node, why): &(NodeId, Why)| {
        let Why::Unanswered {
            unmet: _,
            first,
            answer,
        } = why
        else {
            return None;
        };
        Some((*node, format!("{} {}", graph.entry(*first).name, (*answer)?)))
    };
    writing.report.iter().filter_map(answer).collect()
}

/// The most records that stay of nodes whose entry is gone.
pub(super) const MOST_REMOVED: usize = 100;

/// What stays of nodes whose entry is gone: how they ended, and which attempts they had. Of many the newest ends, in the
/// order in which they stand.
fn removed(writing: Writing<'_>) -> Vec<types::NodeRecord> {
    let Some(nodes) = writing
        .flow
        .status
        .as_ref()
        .and_then(|status| status.nodes.as_ref())
    else {
        return Vec::new();
    };
    let known: BTreeSet<&str> = writing
        .parsed
        .graph
        .entries()
        .iter()
        .map(|entry| &*entry.name)
        .collect();
    let gone = nodes.iter().filter(|node| !known.contains(node.name.as_str()));
    let mut kept: Vec<(usize, &types::NodeRecord)> = gone
        .filter(|node| {
            node.attempt.is_some() || node.phase.is_some_and(|phase| phase != types::NodePhase::Blocked)
        })
        .enumerate()
        .collect();
    if kept.len() > MOST_REMOVED {
        kept.sort_by_key(|(at, node)| (Reverse(node.finish_time.map(Time::from)), Reverse(*at)));
        kept.truncate(MOST_REMOVED);
        kept.sort_unstable_by_key(|(at, _)| *at);
    }
    kept.into_iter().map(|(_, node)| node.clone()).collect()
}
