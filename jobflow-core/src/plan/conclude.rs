//! The phase of the flow: a pure function of the record, never of the order in which things were seen.

use super::planning::Planning;
use crate::graph::FlowGraph;
use crate::key::NodeId;
use crate::phase::{FlowPhase, NodePhase};
use crate::reason::Reason;
use crate::record::{Cause, FlowRecord, FlowStopCause, NodeRecord};

pub(super) fn conclude(planning: &mut Planning<'_>) {
    let (phase, cause) = phase(planning.graph, &planning.next);
    let cause = planning.next.cause.or(planning.failing).or(cause);
    if phase == planning.next.phase && cause == planning.next.cause {
        return;
    }
    if phase.is_end() && planning.next.completion_time.is_none() {
        planning.next.completion_time = Some(planning.now);
    }
    if !phase.is_end() {
        planning.next.completion_time = None;
    }
    planning.next.phase = phase;
    planning.next.cause = cause.filter(|_| phase != FlowPhase::Succeed);
    planning.must_write();
}

/// What a pass over the nodes finds.
#[derive(Default)]
struct Found {
    open: bool,
    submitted: bool,
    bad: Option<Cause>,
    bad_finally: Option<Cause>,
}

/// The phase that the record amounts to, with the first cause when that is a failure.
#[must_use]
pub(super) fn phase(graph: &FlowGraph, record: &FlowRecord) -> (FlowPhase, Option<Cause>) {
    let mut found = Found::default();
    for (node, state) in record.joined() {
        found.open |= !state.phase().is_end();
        found.submitted |= state.attempt > 0;
        if !is_bad(graph, node, state) {
            continue;
        }
        let cause = Cause {
            node,
            reason: state.reason.unwrap_or(Reason::JobFailed),
        };
        if graph.is_finally(node) {
            found.bad_finally.get_or_insert(Cause {
                reason: Reason::FinallyFailed,
                ..cause
            });
        } else {
            found.bad.get_or_insert(cause);
        }
    }
    let stop = record.stop.map(|stop| stop.cause);
    let ended = matches!(
        stop,
        Some(FlowStopCause::CancelGraceful | FlowStopCause::CancelNow | FlowStopCause::Deadline)
    );
    let cause = found.bad.or(found.bad_finally);
    let phase = match found.open {
        true if stop.is_some() => FlowPhase::Terminating,
        true if !found.submitted => FlowPhase::Pending,
        true => FlowPhase::Running,
        false if ended || cause.is_some() => FlowPhase::Failed,
        false => FlowPhase::Succeed,
    };
    (phase, cause.filter(|_| !found.open))
}

fn is_bad(graph: &FlowGraph, node: NodeId, record: &NodeRecord) -> bool {
    match record.phase() {
        NodePhase::Failed => !graph.entry(node).allow_failure,
        NodePhase::Cancelled => record.reason != Some(Reason::NotNeeded),
        NodePhase::Skipped => !record.is_skipped_benignly(),
        NodePhase::Waiting
        | NodePhase::Blocked
        | NodePhase::Submitting
        | NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::BackingOff
        | NodePhase::Paused
        | NodePhase::Succeeded => false,
    }
}
