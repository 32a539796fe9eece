//! The record that a stored status amounts to, for the flow as it is now.
//!
//! Nodes are found by name: entries may have been added, removed or moved since. What points to an entry that is gone
//! is dropped with it. A word or number that can't have been written here is a fault with its path; nothing panics.

mod node;

use std::collections::{BTreeMap, HashMap};

use jobflow_core::key::NodeId;
use jobflow_core::record::{Cause, FlowRecord, FlowStop, NodeRecord, Nodes};

use super::{node as written, words};
use crate::fault::{Code, Fault, FieldPath, MOST_FAULTS};
use crate::parse::Flow;
use crate::types::{self, JobFlow, JobFlowStatus};

/// What a controller that just started knows of a flow: the record in its status, by the nodes of `parsed`.
///
/// The hash of an ended node is left out while the entry is as it was; it is known again only if the status is about
/// the present generation.
///
/// # Errors
///
/// Every value that can't be read, with its path from the root of the object.
pub fn read(flow: &JobFlow, parsed: &Flow) -> Result<FlowRecord, Vec<Fault>> {
    let nothing = JobFlowStatus::default();
    let status = flow.status.as_ref().unwrap_or(&nothing);
    let same = status.observed_generation.is_some() && status.observed_generation == flow.metadata.generation;
    let mut reading = Reading {
        faults: Vec::new(),
        names: names(parsed),
        parsed,
        same_generation: same,
    };
    let nodes = reading.nodes(status);
    let record = reading.flow(status, nodes);
    if reading.faults.is_empty() {
        Ok(record)
    } else {
        Err(reading.faults)
    }
}

/// A reading in progress.
struct Reading<'a> {
    faults: Vec<Fault>,
    names: HashMap<&'a str, NodeId>,
    parsed: &'a Flow,
    same_generation: bool,
}

fn names(parsed: &Flow) -> HashMap<&str, NodeId> {
    (0..)
        .zip(parsed.graph.entries())
        .map(|(at, entry)| (&*entry.name, NodeId(at)))
        .collect()
}

fn root() -> FieldPath {
    FieldPath::root().field("status")
}

impl Reading<'_> {
    fn fault(&mut self, code: Code, path: FieldPath, message: impl Into<String>) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(Fault::error(code, path, message));
        }
    }

    /// A number that must be none of a thing, or so many.
    fn count(&mut self, number: Option<i64>, path: impl FnOnce() -> FieldPath) -> Option<u32> {
        let number = number?;
        let count = u32::try_from(number).ok();
        if count.is_none() {
            self.fault(Code::BadValue, path(), format!("{number} is no number of things"));
        }
        count
    }

    fn reason(
        &mut self,
        word: Option<&str>,
        path: impl FnOnce() -> FieldPath,
    ) -> Option<jobflow_core::Reason> {
        let word = word?;
        let reason = words::reason(word);
        if reason.is_none() {
            self.fault(Code::BadValue, path(), format!("`{}` is no reason", shown(word)));
        }
        reason
    }

    fn clock(
        &mut self,
        clocks: Option<&BTreeMap<String, types::Clock>>,
        name: &str,
        path: impl FnOnce() -> FieldPath,
    ) -> Option<jobflow_core::record::Clock> {
        let clock = clocks?.get(name)?;
        let read = words::core_clock(clock);
        if read.is_none() {
            let path = path().field(name);
            self.fault(Code::BadValue, path, "a clock has a start, and no negative wait");
        }
        read
    }

    /// All nodes of the graph; those that the status doesn't mention wait.
    fn nodes(&mut self, status: &JobFlowStatus) -> Nodes {
        let mut read: Vec<NodeRecord> = vec![NodeRecord::default(); self.parsed.graph.len()];
        let mut causes = Vec::new();
        let mut seen = vec![false; read.len()];
        for (at, written) in status.nodes.iter().flatten().enumerate() {
            let Some(node) = self.names.get(written.name.as_str()).copied() else {
                continue;
            };
            let place = words::position(node);
            if std::mem::replace(&mut seen[place], true) {
                let path = root().field("nodes").index(at).field("name");
                self.fault(
                    Code::DuplicateName,
                    path,
                    format!("`{}` stands twice", shown(&written.name)),
                );
                continue;
            }
            read[place] = self.node(at, node, written);
            if let Some(cause) = &written.cause {
                causes.push((at, node, cause));
            }
        }
        let mut nodes: Nodes = read.into_iter().collect();
        for (at, node, cause) in causes {
            let own = nodes[node].reason;
            let path = || root().field("nodes").index(at).field("cause");
            if let Some(cause) = self.cause(cause, own, &nodes, path) {
                nodes.change(node).cause = Some(cause);
            }
        }
        nodes
    }

    /// A cause; none if its node is no longer in the flow.
    fn cause(
        &mut self,
        cause: &types::Cause,
        own: Option<jobflow_core::Reason>,
        nodes: &Nodes,
        path: impl Fn() -> FieldPath,
    ) -> Option<Cause> {
        let word = cause.reason.as_deref();
        let reason = self.reason(word, || path().field("reason"));
        let node = self.names.get(cause.node.as_deref()?).copied()?;
        let implied = || written::implied_reason(nodes, node, own);
        let reason = if word.is_some() { reason } else { implied() };
        if reason.is_none() && word.is_none() {
            self.fault(Code::MissingField, path().field("reason"), "a cause has a reason");
        }
        reason.map(|reason| Cause { node, reason })
    }

    fn flow(&mut self, status: &JobFlowStatus, nodes: Nodes) -> FlowRecord {
        let phase = status.state.as_ref().and_then(|state| state.phase);
        let cause = status.cause.as_ref();
        FlowRecord {
            phase: phase.map(words::core_flow_phase).unwrap_or_default(),
            start_time: status.start_time.map(Into::into),
            completion_time: status.completion_time.map(Into::into),
            cause: cause.and_then(|cause| self.cause(cause, None, &nodes, || root().field("cause"))),
            stop: self.flow_stop(status.stop.as_ref()),
            deadline: self.clock(status.clocks.as_ref(), "deadline", || root().field("clocks")),
            finally_since: status.finally_since.map(Into::into),
            ledger_lost: status.ledger_lost.unwrap_or(false),
            nodes,
        }
    }

    fn flow_stop(&mut self, stop: Option<&types::Stop>) -> Option<FlowStop> {
        let stop = stop?;
        let word = stop.cause.as_deref().unwrap_or_default();
        let (cause, since) = (words::core_flow_stop(word), stop.since);
        if cause.is_none() {
            let path = root().field("stop").field("cause");
            self.fault(Code::BadValue, path, format!("`{}` stops no flow", shown(word)));
        }
        if since.is_none() {
            self.fault(
                Code::MissingField,
                root().field("stop").field("since"),
                "a stop has a time",
            );
        }
        Some(FlowStop {
            cause: cause?,
            since: since?.into(),
        })
    }
}

/// As much of a foreign word as a message needs.
fn shown(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).take(64).collect()
}
