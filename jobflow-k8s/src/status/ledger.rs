//! How far the record in a status can be trusted, and what is made of one that is lost or was written by somebody else.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_core::graph::Entry;
use jobflow_core::key::NodeId;
use jobflow_core::node::NodeState;
use jobflow_core::record::{FlowRecord, NodeRecord, Nodes};
use jobflow_core::snapshot::Ledger;
use jobflow_core::{FlowGraph, FlowPhase, NodePhase, Reason, Time};

use super::words;
use crate::names::job_name;
use crate::parse::Flow;
use crate::types::{self, JobFlow, JobFlowStatus, JobStatusEntry};

/// Annotation: the UID of the flow itself, set once before its first job is created.
pub const BIRTH_MARK: &str = "flow.volcano.sh/started";

/// How far the record can be trusted: a flow that bears its mark and has no `status.nodes` has lost it.
///
/// A mark with another UID came with a copied manifest, and is none.
#[must_use]
pub fn ledger(flow: &JobFlow) -> Ledger {
    let annotations = flow.metadata.annotations.as_ref();
    let mark = annotations.and_then(|annotations| annotations.get(BIRTH_MARK));
    let marked = mark.is_some() && mark == flow.metadata.uid.as_ref();
    let kept = flow.status.as_ref().is_some_and(|status| status.nodes.is_some());
    match (marked, kept) {
        (true, true) => Ledger::Kept,
        (true, false) => Ledger::Lost,
        (false, _) => Ledger::Unborn,
    }
}

/// Whether the status was written by Volcano's controller, so that the flow is taken over from it: it has a phase, and
/// neither `observedGeneration` nor `flowConditions`, which Volcano's controller never writes.
#[must_use]
pub fn is_taken_over(flow: &JobFlow) -> bool {
    let Some(status) = &flow.status else { return false };
    let theirs =
        status.observed_generation.is_none() && status.flow_conditions.is_none() && status.nodes.is_none();
    let phase = status.state.as_ref().and_then(|state| state.phase);
    theirs && phase.is_some() && ledger(flow) == Ledger::Unborn
}

/// The flow with an entry more for each node that the status knows as live and the spec no longer has: it runs to its
/// end, excused, and nothing of it is started again.
#[must_use]
pub fn with_removed(mut flow: Flow, status: &JobFlowStatus) -> Flow {
    let known: BTreeSet<&str> = flow.graph.entries().iter().map(|entry| &*entry.name).collect();
    let is_live = |node: &&types::NodeRecord| words::core_phase(node.phase.unwrap_or_default()).is_live();
    let removed: BTreeSet<String> = status
        .nodes
        .iter()
        .flatten()
        .filter(is_live)
        .map(|node| node.name.clone())
        .filter(|name| !known.contains(name.as_str()))
        .collect();
    if removed.is_empty() {
        return flow;
    }
    let extra = removed.iter().map(|name| Entry {
        allow_failure: true,
        ..Entry::job(name.as_str())
    });
    let entries: Vec<Entry> = flow.graph.entries().iter().cloned().chain(extra).collect();
    if let Ok(graph) = FlowGraph::build(entries) {
        flow.graph = graph;
        flow.entries.extend(removed.into_iter().map(|name| types::Entry {
            name,
            ..types::Entry::default()
        }));
    }
    flow
}

/// The record of a flow that has none of ours, from Volcano's lists: what ended there has ended.
///
/// For a flow that lost its record (the core then adds what is known of Jobs, and blocks the rest), and for one that is
/// taken over. `with_jobs` are the nodes of which a Job was seen: an entry that has neither a Job nor a line, while one
/// of its dependents has either, must have succeeded.
#[must_use]
pub fn salvage(flow: &JobFlow, parsed: &Flow, with_jobs: &BTreeSet<NodeId>) -> FlowRecord {
    let nothing = JobFlowStatus::default();
    let status = flow.status.as_ref().unwrap_or(&nothing);
    let phase = status
        .state
        .as_ref()
        .and_then(|state| state.phase)
        .map(words::core_flow_phase)
        .unwrap_or_default();
    let name = flow.metadata.name.as_deref().unwrap_or_default();
    let lines: BTreeMap<&str, &JobStatusEntry> = status
        .job_status_list
        .iter()
        .flatten()
        .filter_map(|line| Some((line.name.as_deref()?, line)))
        .collect();
    // The Job of a node tells more than its line, unless the flow is over: then nothing of it counts any more.
    let over = is_taken_over(flow) && phase.is_end();
    let of = |node: NodeId| line(name, parsed, node, &lines);
    let mut records: Vec<NodeRecord> = (0..)
        .map(NodeId)
        .take(parsed.graph.len())
        .map(|node| {
            of(node)
                .filter(|_| over || !with_jobs.contains(&node))
                .map(ended)
                .unwrap_or_default()
        })
        .collect();
    if is_taken_over(flow) {
        let known = |node: NodeId| with_jobs.contains(&node) || of(node).is_some();
        passed(parsed, &mut records, known);
        if phase.is_end() {
            conclude(&mut records, phase, with_jobs);
        }
    }
    FlowRecord {
        nodes: records.into_iter().collect::<Nodes>(),
        ..FlowRecord::default()
    }
}

/// The line of a node, and the attempt whose Job it names. More attempts than these are never made.
fn line<'a>(
    flow: &str,
    parsed: &Flow,
    node: NodeId,
    lines: &BTreeMap<&str, &'a JobStatusEntry>,
) -> Option<(u32, &'a JobStatusEntry)> {
    let entry = parsed.graph.entry(node);
    let most = entry
        .retry
        .limit
        .saturating_add(entry.retry.infrastructure_limit)
        .saturating_add(1)
        .min(100);
    let of = |attempt| {
        lines
            .get(job_name(flow, &entry.name, None, attempt).as_str())
            .map(|line| (attempt, *line))
    };
    (1..=most).rev().find_map(of)
}

/// The record of a node whose Job is listed as ended; one that is listed as live may have ended since, or be gone.
fn ended((attempt, line): (u32, &JobStatusEntry)) -> NodeRecord {
    let (phase, reason) = match line.state.as_deref() {
        Some("Completed") => (NodePhase::Succeeded, None),
        Some("Failed") => (NodePhase::Failed, Some(Reason::JobFailed)),
        Some("Terminated") => (NodePhase::Failed, Some(Reason::JobTerminated)),
        _ => return NodeRecord::default(),
    };
    let mut record = NodeRecord::default();
    record.state = NodeState::recorded(phase);
    record.reason = reason;
    record.attempt = attempt;
    record.finish_time = line
        .end_timestamp
        .as_ref()
        .map(|time| Time(time.0.as_millisecond()));
    record
}

/// An entry of which nothing is known any more, while something that waited for it was started, has succeeded.
fn passed(parsed: &Flow, records: &mut [NodeRecord], known: impl Fn(NodeId) -> bool) {
    for &node in parsed.graph.order().iter().rev() {
        let Some(record) = records.get(node.position()) else {
            continue;
        };
        let unknown = record.phase() == NodePhase::Waiting && !known(node);
        let started = |dependent: &NodeId| {
            known(*dependent)
                || records
                    .get(dependent.position())
                    .is_some_and(|record| record.phase() == NodePhase::Succeeded)
        };
        if unknown && parsed.graph.dependents(node).iter().any(started) {
            succeed(&mut records[node.position()]);
        }
    }
}

fn succeed(record: &mut NodeRecord) {
    record.state = NodeState::recorded(NodePhase::Succeeded);
    record.attempt = 1;
}

/// A flow that had ended stays so: what isn't known to have ended did so in its way.
fn conclude(records: &mut [NodeRecord], phase: FlowPhase, with_jobs: &BTreeSet<NodeId>) {
    for (position, record) in records.iter_mut().enumerate() {
        let node = NodeId(u32::try_from(position).unwrap_or(u32::MAX));
        if record.phase().is_end() {
            continue;
        }
        if phase == FlowPhase::Succeed {
            succeed(record);
            continue;
        }
        let had_job = with_jobs.contains(&node);
        let (phase, reason) = if had_job {
            (NodePhase::Failed, Reason::JobFailed)
        } else {
            (NodePhase::Skipped, Reason::UpstreamFailed)
        };
        record.state = NodeState::recorded(phase);
        record.reason = Some(reason);
        record.attempt = u32::from(had_job);
    }
}
