//! How a flow of a cluster stands, as its status says; Volcano's own controller writes less of it than ours.

mod old;

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::snapshot::{PodCounts, TaskCount};
use jobflow_core::{NodePhase, Reason};
use jobflow_k8s::names::job_name;
use jobflow_k8s::status::{core_flow_phase, core_phase};
use jobflow_k8s::types::{
    Entry, Instant, JobFlow, JobFlowSpec, JobFlowStatus, JobStatusEntry, NodeRecord, TaskRecord,
};

use super::words::reason_words;
use super::{Row, Standing};

impl Standing {
    /// Describes a flow; `now` is in milliseconds since 1970.
    pub(crate) fn of_flow(flow: &JobFlow, now: i64) -> Self {
        let status = flow.status.clone().unwrap_or_default();
        let created = flow.metadata.creation_timestamp.as_ref().map(Instant::from);
        let began = status.start_time.or(created);
        let mut rows = match &status.nodes {
            Some(records) => Recorded::of(flow, &status, records, now).rows(),
            None => old::rows(flow, &status, now),
        };
        wait_for_all(&mut rows, &flow.spec);
        Self {
            flow: flow.metadata.name.clone().unwrap_or_default(),
            run: flow.metadata.uid.clone().unwrap_or_default(),
            phase: core_flow_phase(status.state.and_then(|state| state.phase).unwrap_or_default()),
            took: took(began, status.completion_time, now).unwrap_or(0),
            rows,
        }
    }
}

/// The entries of a flow, those of `finally` last.
pub(crate) fn entries(spec: &JobFlowSpec) -> impl Iterator<Item = &Entry> {
    spec.flows.iter().flatten().chain(spec.finally.iter().flatten())
}

/// What each entry waits for that waits at all, where it is known how the others stand.
pub(crate) fn waits(flow: &JobFlow, rows: &[Row]) -> BTreeMap<String, Vec<String>> {
    let records = flow.status.as_ref().and_then(|status| status.nodes.as_deref());
    let by_name = by_name(records.unwrap_or_default());
    let phases: BTreeMap<&str, NodePhase> = rows.iter().map(|row| (row.name.as_str(), row.phase)).collect();
    let unmet = |entry: &Entry| {
        let depends = entry.depends_on.as_ref();
        let targets = depends
            .and_then(|depends| depends.targets.as_ref())
            .into_iter()
            .flatten();
        let is_open = |target: &&String| !phases.get(target.as_str()).is_some_and(|phase| phase.is_end());
        targets.filter(is_open).cloned().collect()
    };
    let of = |entry: &Entry| {
        let written = by_name
            .get(entry.name.as_str())
            .and_then(|record| record.waiting_for.clone());
        let is_waiting = phases.get(entry.name.as_str()) == Some(&NodePhase::Waiting);
        is_waiting.then(|| (entry.name.clone(), written.unwrap_or_else(|| unmet(entry))))
    };
    entries(&flow.spec).filter_map(of).collect()
}

/// Says of entries of `finally` that wait for no other of these what they wait for.
fn wait_for_all(rows: &mut [Row], spec: &JobFlowSpec) {
    let last = |name: &str| spec.finally.iter().flatten().any(|entry| entry.name == name);
    for row in rows
        .iter_mut()
        .filter(|row| row.phase == NodePhase::Waiting && row.why.is_empty())
    {
        if last(&row.name) {
            row.why = "waits for all others to end".to_owned();
        }
    }
}

/// The names and times of Jobs, as far as the status tells.
fn jobs(status: &JobFlowStatus) -> BTreeMap<&str, &JobStatusEntry> {
    let all = status.job_status_list.iter().flatten();
    all.filter_map(|job| Some((job.name.as_deref()?, job))).collect()
}

/// What our controller has recorded.
struct Recorded<'a> {
    flow: &'a str,
    spec: &'a JobFlowSpec,
    records: &'a [NodeRecord],
    by_name: BTreeMap<&'a str, &'a NodeRecord>,
    jobs: BTreeMap<&'a str, &'a JobStatusEntry>,
    now: i64,
}

impl<'a> Recorded<'a> {
    fn of(flow: &'a JobFlow, status: &'a JobFlowStatus, records: &'a [NodeRecord], now: i64) -> Self {
        Self {
            flow: flow.metadata.name.as_deref().unwrap_or_default(),
            spec: &flow.spec,
            records,
            by_name: by_name(records),
            jobs: jobs(status),
            now,
        }
    }

    /// In the order of the spec; what was taken out of it comes last.
    fn rows(&self) -> Vec<Row> {
        let nobody = NodeRecord::default();
        let in_spec = entries(self.spec).map(|entry| {
            let record = self.by_name.get(entry.name.as_str()).copied().unwrap_or(&nobody);
            self.row(&entry.name, record, why(record, || unmet(entry, &self.by_name)))
        });
        let known: Vec<&str> = entries(self.spec).map(|entry| entry.name.as_str()).collect();
        let others = self
            .records
            .iter()
            .filter(|record| !known.contains(&record.name.as_str()));
        let others = others.map(|record| self.row(&record.name, record, why(record, Vec::new)));
        in_spec.chain(others).collect()
    }

    fn row(&self, name: &str, record: &NodeRecord, why: String) -> Row {
        Row {
            name: name.to_owned(),
            phase: core_phase(record.phase.unwrap_or_default()),
            attempt: attempt(record),
            took: self.took(name, record),
            tasks: record.tasks.as_ref().map(counted).unwrap_or_default(),
            exit_code: record.exit_code.and_then(|code| i32::try_from(code).ok()),
            why,
        }
    }

    /// From the first attempt on; of an ended node the record often keeps the end only, and its Job is listed.
    fn took(&self, name: &str, record: &NodeRecord) -> Option<i64> {
        let usual = || job_name(self.flow, name, None, attempt(record).max(1));
        let job = record.job.clone().unwrap_or_else(usual);
        let listed = self
            .jobs
            .get(job.as_str())
            .and_then(|job| job.start_timestamp.as_ref());
        let began = record.start_time.or_else(|| listed.map(Instant::from));
        let is_over = core_phase(record.phase.unwrap_or_default()).is_end();
        match (is_over, record.finish_time) {
            (true, None) => None,
            (_, ended) => took(began, ended, self.now),
        }
    }
}

fn by_name(records: &[NodeRecord]) -> BTreeMap<&str, &NodeRecord> {
    records
        .iter()
        .map(|record| (record.name.as_str(), record))
        .collect()
}

/// The number of the attempt; 0 before the first.
pub(crate) fn attempt(record: &NodeRecord) -> u32 {
    let written = record.attempt.and_then(|attempt| u32::try_from(attempt).ok());
    let phase = core_phase(record.phase.unwrap_or_default());
    let usual = u32::from(!phase.is_undecided() && phase != NodePhase::Skipped);
    written.unwrap_or(usual)
}

/// Targets that have not ended, as far as the status tells.
fn unmet(entry: &Entry, records: &BTreeMap<&str, &NodeRecord>) -> Vec<String> {
    let has_ended = |name: &str| {
        let phase = records.get(name).and_then(|record| record.phase);
        core_phase(phase.unwrap_or_default()).is_end()
    };
    let depends = entry.depends_on.as_ref();
    let targets = depends
        .and_then(|depends| depends.targets.as_ref())
        .into_iter()
        .flatten();
    targets.filter(|target| !has_ended(target)).cloned().collect()
}

/// One line; empty where the phase says it all.
fn why(record: &NodeRecord, unmet: impl FnOnce() -> Vec<String>) -> String {
    let phase = core_phase(record.phase.unwrap_or_default());
    let waits = match phase {
        NodePhase::Waiting => waits_for(record.waiting_for.clone().unwrap_or_else(unmet).as_slice()),
        NodePhase::Blocked
        | NodePhase::Submitting
        | NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::BackingOff
        | NodePhase::Paused
        | NodePhase::Succeeded
        | NodePhase::Failed
        | NodePhase::Skipped
        | NodePhase::Cancelled => None,
    };
    let reason = record.reason.as_deref().map(word);
    let cause = record.cause.as_ref().and_then(|cause| cause.node.as_deref());
    let cause = cause
        .filter(|node| *node != record.name)
        .map(|node| format!("because of {node}"));
    let parts = [waits, reason, cause, instances(record), record.message.clone()];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("; ")
}

/// A reason as people say it.
pub(crate) fn word(written: &str) -> String {
    let known = Reason::ALL.iter().find(|reason| reason.as_str() == written);
    known.map_or_else(|| written.to_owned(), |reason| reason_words(*reason).to_owned())
}

fn waits_for(targets: &[String]) -> Option<String> {
    match targets {
        [] => None,
        [only] => Some(format!("waits for {only}")),
        [first, others @ ..] => Some(format!("waits for {first} and {} more", others.len())),
    }
}

/// How many instances of a group are in which phase.
fn instances(record: &NodeRecord) -> Option<String> {
    let phases = record.instances.as_ref()?;
    let parts = phases
        .iter()
        .map(|(phase, set)| format!("{} {}", size(set), phase.to_ascii_lowercase()));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("instances: {}", parts.join(", ")))
}

/// How many numbers a set such as `0-41,43` holds.
fn size(set: &str) -> u64 {
    let one = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u64, u64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        to.checked_sub(from)?.checked_add(1)
    };
    set.split(',').filter_map(one).fold(0, u64::saturating_add)
}

fn counted(tasks: &BTreeMap<String, TaskRecord>) -> Vec<TaskCount> {
    let number = |count: Option<i64>| u32::try_from(count.unwrap_or(0)).unwrap_or(0);
    let count = |(task, record): (&String, &TaskRecord)| TaskCount {
        task: Arc::from(task.as_str()),
        replicas: number(record.replicas),
        counts: PodCounts {
            pending: number(record.pending),
            running: number(record.running),
            ready: number(record.ready),
            succeeded: number(record.succeeded),
            failed: number(record.failed),
        },
    };
    tasks.iter().map(count).collect()
}

/// Milliseconds between two times, or up to now.
fn took(began: Option<Instant>, ended: Option<Instant>, now: i64) -> Option<i64> {
    let milliseconds = |instant: Instant| jobflow_core::Time::from(instant).0;
    let ended = ended.map_or(now, milliseconds);
    Some(ended.saturating_sub(milliseconds(began?)).max(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::display::{Size, frame};

    fn shown(flow: serde_json::Value) -> String {
        let flow: JobFlow = serde_json::from_value(flow).unwrap();
        let size = Size {
            width: 100,
            height: None,
            charset: crate::console::Charset::Ascii,
        };
        let lines = frame(&Standing::of_flow(&flow, 1_000_000), size).join("\n");
        anstream::adapter::strip_str(&lines).to_string()
    }

    fn flow(status: serde_json::Value) -> serde_json::Value {
        json!({
            "metadata": { "name": "nightly", "creationTimestamp": "1970-01-01T00:00:00Z" },
            "spec": { "flows": [
                { "name": "prepare" },
                { "name": "train", "dependsOn": { "targets": ["prepare"] } },
                { "name": "each", "dependsOn": { "targets": ["prepare", "train"] } },
                { "name": "report", "dependsOn": { "targets": ["train", "each"] } },
            ], "finally": [{ "name": "tidy" }] },
            "status": status,
        })
    }

    #[test]
    fn our_own_status_is_shown_with_what_is_waited_for() {
        insta::assert_snapshot!(
            "ours",
            shown(flow(json!({
                "state": { "phase": "Running" },
                "startTime": "1970-01-01T00:10:00Z",
            "jobStatusList": [{ "name": "nightly-prepare", "startTimestamp": "1970-01-01T00:10:00Z" }],
                "nodes": [
                    { "name": "prepare", "phase": "Succeeded", "startTime": "1970-01-01T00:10:00Z",
                      "finishTime": "1970-01-01T00:12:05Z" },
                    { "name": "train", "phase": "Running", "attempt": 2, "startTime": "1970-01-01T00:13:00Z",
                      "tasks": { "worker": { "replicas": 3, "running": 2, "succeeded": 1 } } },
                    { "name": "each", "phase": "Running", "instances": { "Succeeded": "0-41,43", "Running": "42" } },
                    { "name": "gone", "phase": "Failed", "reason": "JobFailed", "exitCode": 3, "message": "\u{1b}[31m" },
                ],
            })))
        );
    }

    #[test]
    fn the_status_of_volcanos_controller_is_read_too() {
        insta::assert_snapshot!(
            "volcanos",
            shown(flow(json!({
                "state": { "phase": "Running" },
                "jobStatusList": [
                    { "name": "nightly-prepare", "state": "Completed", "startTimestamp": "1970-01-01T00:10:00Z",
                      "endTimestamp": "1970-01-01T00:11:00Z" },
                    { "name": "nightly-train", "state": "Aborted", "startTimestamp": "1970-01-01T00:11:00Z" },
                ],
                "conditions": { "nightly-train": { "taskStatusCount": { "worker": { "phase": { "Failed": 1 } } } } },
            })))
        );
        insta::assert_snapshot!("nothing_yet", shown(flow(json!(null))));
    }

    #[test]
    fn a_set_of_instances_is_counted() {
        for (set, count) in [
            ("", 0),
            ("7", 1),
            ("0-41,43", 43),
            ("0-4294967295", 4_294_967_296),
            ("9-1,x,2", 1),
        ] {
            assert_eq!(size(set), count, "{set}");
        }
    }
}
