//! Which of Volcano's lists the Job of each node belongs to.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::key::{JobKey, NodeId};
use jobflow_core::record::{FlowRecord, NodeRecord};
use jobflow_core::snapshot::TaskCount;
use jobflow_core::{NodePhase, Reason, Time};

use super::MOST_JOBS;
use crate::names::job_name;
use crate::observe::SlimJob;
use crate::parse::Flow;
use crate::types::JobPhase;

/// Volcano's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::status) enum Class {
    /// No phase yet, or Pending.
    Pending,
    /// Running, Restarting, Completing.
    Running,
    /// Completed.
    Completed,
    /// Failed, or deleted.
    Failed,
    /// Terminating, Terminated, stopped by us.
    Terminated,
    /// Aborting, Aborted.
    Unknown,
}

/// The Job of a node's current attempt.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::status) struct Row {
    pub(super) key: JobKey,
    pub(super) name: String,
    pub(super) class: Class,
    /// The phase in Volcano's words.
    pub(super) phase: &'static str,
    /// When the attempt ended; none while it lives.
    pub(super) ended: Option<Time>,
    /// The last counts of its pods.
    pub(super) tasks: Option<Arc<[TaskCount]>>,
    live: bool,
}

/// The rows of all nodes that have or had a Job, in the order of the spec.
pub(in crate::status) fn rows(
    flow: &str,
    parsed: &Flow,
    record: &FlowRecord,
    jobs: &BTreeMap<JobKey, Arc<SlimJob>>,
) -> Vec<Row> {
    record
        .nodes
        .iter()
        .filter_map(|(node, kept)| row(flow, parsed, node, kept, jobs))
        .collect()
}

fn row(
    flow: &str,
    parsed: &Flow,
    node: NodeId,
    kept: &NodeRecord,
    jobs: &BTreeMap<JobKey, Arc<SlimJob>>,
) -> Option<Row> {
    let key = JobKey {
        node,
        index: 0,
        attempt: kept.attempt,
    };
    let seen = jobs.get(&key).map(|job| job.phase);
    let (class, phase) = class(kept, seen)?;
    let live = kept.phase().is_live();
    let ended = if kept.phase() == NodePhase::BackingOff {
        kept.attempts.last().map(|attempt| attempt.finish_time)
    } else {
        kept.finish_time
    };
    let entry = &parsed.graph.entry(node).name;
    let tasks = kept.tasks.clone();
    Some(Row {
        key,
        name: job_name(flow, entry, None, kept.attempt),
        class,
        phase,
        ended,
        tasks,
        live,
    })
}

/// The list and the phase; none for a node whose current attempt has no Job that was ever seen.
fn class(kept: &NodeRecord, seen: Option<JobPhase>) -> Option<(Class, &'static str)> {
    if kept.attempt == 0 || kept.jobless {
        return None;
    }
    match kept.phase() {
        NodePhase::Waiting | NodePhase::Blocked => None,
        NodePhase::Submitting => kept.uid.is_some().then_some((Class::Pending, "Pending")),
        NodePhase::Queued => Some((Class::Pending, "Pending")),
        NodePhase::Running => Some((Class::Running, running(seen))),
        NodePhase::Stopping => Some(stopping(seen)),
        NodePhase::Paused if kept.reason == Some(Reason::Suspended) => {
            Some((Class::Terminated, "Terminated"))
        }
        NodePhase::Paused => Some((Class::Unknown, "Aborted")),
        NodePhase::Succeeded => Some((Class::Completed, "Completed")),
        NodePhase::Failed | NodePhase::BackingOff => Some(failed(kept.reason)),
        NodePhase::Skipped | NodePhase::Cancelled => Some((Class::Terminated, "Terminated")),
    }
}

const fn running(seen: Option<JobPhase>) -> &'static str {
    match seen {
        Some(JobPhase::Restarting) => "Restarting",
        Some(JobPhase::Completing) => "Completing",
        _ => "Running",
    }
}

const fn stopping(seen: Option<JobPhase>) -> (Class, &'static str) {
    match seen {
        Some(JobPhase::Aborting) => (Class::Unknown, "Aborting"),
        Some(JobPhase::Aborted) => (Class::Unknown, "Aborted"),
        Some(JobPhase::Pending) => (Class::Pending, "Pending"),
        Some(JobPhase::Running) => (Class::Running, "Running"),
        Some(JobPhase::Restarting) => (Class::Running, "Restarting"),
        Some(JobPhase::Completing) => (Class::Running, "Completing"),
        Some(
            JobPhase::New
            | JobPhase::Completed
            | JobPhase::Terminating
            | JobPhase::Terminated
            | JobPhase::Failed
            | JobPhase::Unknown,
        )
        | None => (Class::Terminated, "Terminating"),
    }
}

const fn failed(reason: Option<Reason>) -> (Class, &'static str) {
    match reason {
        Some(Reason::JobTerminated | Reason::Timeout) => (Class::Terminated, "Terminated"),
        Some(Reason::JobAborted) => (Class::Unknown, "Aborted"),
        _ => (Class::Failed, "Failed"),
    }
}

/// The rows that are listed, sorted by name.
pub(super) fn listed(rows: &[Row], all: bool) -> Vec<&Row> {
    let ended_well = |row: &&Row| row.class == Class::Completed;
    let mut listed: Vec<&Row> = rows.iter().filter(|row| all || !ended_well(row)).collect();
    listed.sort_by_key(|row| {
        let rank = match row.class {
            _ if row.live => 0,
            Class::Completed => 2,
            Class::Pending | Class::Running | Class::Failed | Class::Terminated | Class::Unknown => 1,
        };
        (rank, std::cmp::Reverse(row.ended))
    });
    listed.truncate(MOST_JOBS);
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    listed
}
