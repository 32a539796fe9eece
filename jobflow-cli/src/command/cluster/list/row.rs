//! One flow as the cells of a row.

use jobflow_core::NodePhase;
use jobflow_k8s::status::core_flow_phase;
use jobflow_k8s::types::JobFlow;

use crate::cluster::flow::Flow;
use crate::standing::Standing;
use crate::standing::stored::word;
use crate::table::span;

/// Which cells a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    /// Whether the namespace goes first.
    pub(super) namespace: bool,
    /// Whether there is more to see.
    pub(super) wide: bool,
}

impl Columns {
    /// The names of the columns.
    pub(super) fn head(self) -> Vec<String> {
        let mut head = vec![
            "NAMESPACE",
            "NAME",
            "PHASE",
            "PROGRESS",
            "RUNNING",
            "FAILED",
            "AGE",
        ];
        if !self.namespace {
            head.remove(0);
        }
        if self.wide {
            head.extend(["TOOK", "QUEUE", "REASON"]);
        }
        head.into_iter().map(str::to_owned).collect()
    }

    /// The cells of a flow; `now` is in milliseconds since 1970.
    pub(super) fn row(self, flow: &Flow, now: i64) -> Vec<String> {
        let mut row = Vec::new();
        if self.namespace {
            row.push(flow.namespace().to_owned());
        }
        row.push(flow.name().to_owned());
        row.push(phase(flow));
        match &flow.read {
            Ok(read) => row.extend(counts(read, now)),
            Err(_) => row.extend(["?"; 3].map(str::to_owned)),
        }
        row.push(age(flow, now));
        if self.wide {
            row.extend(more(flow, now));
        }
        row
    }
}

fn phase(flow: &Flow) -> String {
    if flow.object.metadata.deletion_timestamp.is_some() {
        return "Deleting".to_owned();
    }
    let phase = core_flow_phase(flow.phase()).to_string();
    match flow
        .read
        .as_ref()
        .is_ok_and(|read| read.spec.suspend == Some(true) && !flow.has_ended())
    {
        true => format!("{phase} (suspended)"),
        false => phase,
    }
}

/// Progress, running and failed: as the status says, or counted where it doesn't.
fn counts(flow: &JobFlow, now: i64) -> [String; 3] {
    let standing = Standing::of_flow(flow, now);
    let of = |phase: NodePhase| {
        standing
            .rows
            .iter()
            .filter(|row| row.phase == phase)
            .count()
            .to_string()
    };
    let status = flow.status.as_ref();
    let summary = status.and_then(|status| status.summary.as_ref());
    let progress = status.and_then(|status| status.progress.clone());
    [
        progress.unwrap_or_else(|| format!("{}/{}", standing.done(), standing.rows.len())),
        summary.map_or_else(
            || of(NodePhase::Running),
            |all| all.running.unwrap_or(0).to_string(),
        ),
        summary.map_or_else(
            || of(NodePhase::Failed),
            |all| all.failed.unwrap_or(0).to_string(),
        ),
    ]
}

fn age(flow: &Flow, now: i64) -> String {
    let created = flow.object.metadata.creation_timestamp.as_ref();
    created.map_or_else(String::new, |time| {
        span(now.saturating_sub(time.0.as_millisecond()))
    })
}

/// How long it took, its own queue, and why it stands there.
fn more(flow: &Flow, now: i64) -> [String; 3] {
    let Ok(read) = &flow.read else {
        let error = flow.read.as_ref().err().cloned().unwrap_or_default();
        return [String::new(), String::new(), format!("can't be read: {error}")];
    };
    let status = read.status.as_ref();
    let took = status
        .and_then(|status| status.start_time.as_ref())
        .map(|_| Standing::of_flow(read, now).took);
    let cause = status.and_then(|status| status.cause.as_ref());
    let reason = cause.and_then(|cause| cause.reason.as_deref()).map(word);
    let node = cause.and_then(|cause| cause.node.clone());
    let why = match (node, reason) {
        (Some(node), Some(reason)) => format!("{node}: {reason}"),
        (node, reason) => node.or(reason).unwrap_or_default(),
    };
    [
        took.map(span).unwrap_or_default(),
        read.spec.queue.clone().unwrap_or_default(),
        why,
    ]
}
