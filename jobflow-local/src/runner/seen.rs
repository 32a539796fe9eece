//! The checkpoint of a run: how it stood when it last said so, and why.
//!
//! Comes in and goes out: the JSON of `flow.json`. Deliberately absent: text, and anything that is decided from it; a run
//! that goes on reads its journal.

use jobflow_core::{FlowGraph, FlowPhase, FlowRecord, NodeId, NodePhase, Reason, report::Report};
use serde::{Deserialize, Serialize};

use crate::resources::Shortage;

/// What stands in the checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// The flow's name.
    pub flow: String,
    /// Its phase.
    pub phase: FlowPhase,
    /// When it began, in milliseconds since 1970.
    pub started: Option<i64>,
    /// When it ended.
    pub finished: Option<i64>,
    /// When this was written.
    pub at: i64,
    /// A line an entry, in the order of the spec.
    pub nodes: Vec<NodeLine>,
    /// Why each of them stands where it does.
    #[serde(default)]
    pub reasons: Option<Reasons>,
}

/// What there is to know about why.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reasons {
    /// The record.
    pub record: FlowRecord,
    /// What the last plan said.
    pub report: Report,
    /// What the machine has too little of, for each Job that waits for its pods.
    pub shortages: Vec<(NodeId, Shortage)>,
}

/// What is known of one node, for a display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeLine {
    /// The entry's name.
    pub name: String,
    /// Its phase.
    pub phase: NodePhase,
    /// Why.
    pub reason: Option<Reason>,
    /// The attempt.
    pub attempt: u32,
    /// When it began, in milliseconds since 1970.
    pub started: Option<i64>,
    /// When it ended.
    pub finished: Option<i64>,
    /// The exit code of its last attempt, when that failed.
    pub exit_code: Option<i32>,
    /// What was said beside the reason.
    pub message: Option<String>,
}

impl NodeLine {
    /// Describes one node.
    #[must_use]
    pub fn of(graph: &FlowGraph, record: &FlowRecord, node: NodeId) -> Self {
        let state = &record.nodes[node];
        Self {
            name: graph.entry(node).name.to_string(),
            phase: state.phase(),
            reason: state.reason,
            attempt: state.attempt,
            started: state.start_time.map(|time| time.0),
            finished: state.finish_time.map(|time| time.0),
            exit_code: state.exit_code,
            message: state.message.as_deref().map(str::to_owned),
        }
    }
}
