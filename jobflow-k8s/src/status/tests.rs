//! Tests of the status. The law of read and write is beside the crate, in `tests/status.rs`.

mod ended;
mod hostile;
mod ledger;
mod lists;
mod sizes;
mod spec;

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::graph::Entry;
use jobflow_core::key::{JobKey, NodeId};
use jobflow_core::node::NodeState;
use jobflow_core::record::{FlowRecord, NodeRecord, Nodes};
use jobflow_core::report::Report;
use jobflow_core::snapshot::Wishes;
use jobflow_core::{FlowGraph, NodePhase, Policy, Reason, Time};

use super::needs::needs;
use super::node::{self, Around, Detail};
use super::{TooLarge, Writing, Written, base_size, write};
use crate::observe::SlimJob;
use crate::parse::Flow;
use crate::types::{self, JobFlow, JobFlowStatus};

/// A parsed flow of these entries, none of which waits for another.
fn flow_of(names: &[&str]) -> Flow {
    flow_with(
        names
            .iter()
            .map(|name| Entry {
                hash: 7,
                ..Entry::job(*name)
            })
            .collect(),
    )
}

fn flow_with(entries: Vec<Entry<Arc<str>>>) -> Flow {
    let written = |entry: &Entry<Arc<str>>| types::Entry {
        name: entry.name.to_string(),
        ..types::Entry::default()
    };
    let written = entries.iter().map(written).collect();
    Flow {
        graph: FlowGraph::from_names(entries).unwrap(),
        policy: Policy::default(),
        wishes: Wishes::default(),
        entries: written,
        warnings: Vec::new(),
    }
}

/// The object of a flow called `flow`, at generation 3.
fn object(parsed: &Flow) -> JobFlow {
    let mut flow = JobFlow::default();
    flow.metadata.name = Some("flow".to_owned());
    flow.metadata.namespace = Some("default".to_owned());
    flow.metadata.uid = Some("11111111-2222-3333-4444-555555555555".to_owned());
    flow.metadata.generation = Some(3);
    flow.spec.flows = Some(parsed.entries.clone());
    flow
}

/// A node that stands so, in its first attempt if it has one.
fn node(phase: NodePhase, reason: Option<Reason>) -> NodeRecord {
    let mut node = NodeRecord::default();
    node.state = NodeState::recorded(phase);
    node.reason = reason;
    node.attempt = super::usual::attempt(phase);
    if node.attempt > 0 && phase.is_end() {
        node.finish_time = Some(Time(1_796_000_000_000));
    }
    node
}

fn record(nodes: impl IntoIterator<Item = NodeRecord>) -> FlowRecord {
    FlowRecord {
        nodes: nodes.into_iter().collect(),
        ..FlowRecord::default()
    }
}

/// One node's line with everything that fits.
fn node_line(parsed: &Flow, nodes: &Nodes, node: NodeId) -> Option<types::NodeRecord> {
    let detail = Detail {
        attempts: true,
        display: true,
    };
    let around = Around {
        flow: "flow",
        graph: &parsed.graph,
        nodes,
        detail,
    };
    node::record(around, node, needs(&parsed.graph)[node.position()], None)
}

/// The status of a record, with these Jobs.
fn written(
    flow: &JobFlow,
    parsed: &Flow,
    record: &FlowRecord,
    jobs: &BTreeMap<JobKey, Arc<SlimJob>>,
) -> Result<Written, TooLarge> {
    write(Writing {
        flow,
        base_size: base_size(flow),
        parsed,
        record,
        jobs,
        report: &Report::new(),
        now: Time(1_796_000_100_000),
    })
}

/// The status of a record of which no Job is seen.
fn status(parsed: &Flow, record: &FlowRecord) -> JobFlowStatus {
    written(&object(parsed), parsed, record, &BTreeMap::new())
        .unwrap()
        .status
}
