//! Volcano's lists from our records.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::key::{JobKey, NodeId, Uid};
use jobflow_core::{NodePhase, Reason, Time};
use serde_json::json;

use super::{flow_of, node, object, record, status, written};
use crate::observe::SlimJob;
use crate::types::{JobFlowStatus, JobPhase};

const A: JobKey = JobKey {
    node: NodeId(0),
    index: 0,
    attempt: 1,
};

fn seen(phase: JobPhase) -> BTreeMap<JobKey, Arc<SlimJob>> {
    let job = SlimJob {
        phase,
        ..SlimJob::default()
    };
    BTreeMap::from([(A, Arc::new(job))])
}

/// The list in which the job stands, and its phase.
fn place(phase: NodePhase, reason: Option<Reason>, job: Option<JobPhase>) -> Option<(&'static str, String)> {
    let parsed = flow_of(&["a"]);
    let mut kept = node(phase, reason);
    if phase.is_live() && phase != NodePhase::Submitting {
        kept.uid = Some(Uid::from("u"));
    }
    let jobs = job.map(seen).unwrap_or_default();
    let status = written(&object(&parsed), &parsed, &record([kept]), &jobs)
        .unwrap()
        .status;
    let lists = [
        ("pendingJobs", &status.pending_jobs),
        ("runningJobs", &status.running_jobs),
        ("completedJobs", &status.completed_jobs),
        ("failedJobs", &status.failed_jobs),
        ("terminatedJobs", &status.terminated_jobs),
        ("unKnowJobs", &status.unknown_jobs),
    ];
    let found: Vec<_> = lists
        .iter()
        .filter(|(_, names)| names.is_some())
        .map(|(list, _)| *list)
        .collect();
    assert!(found.len() <= 1, "{found:?}");
    let lines = status.job_status_list.unwrap_or_default();
    assert_eq!(lines.len(), found.len());
    Some((*found.first()?, lines[0].state.clone().unwrap()))
}

#[test]
fn every_node_stands_in_the_list_of_its_job() {
    use JobPhase as Job;
    use NodePhase::{
        BackingOff, Blocked, Cancelled, Failed, Paused, Queued, Running, Skipped, Stopping, Submitting,
        Succeeded, Waiting,
    };
    let table = [
        (Waiting, None, None, ""),
        (Blocked, Some(Reason::Suspended), None, ""),
        (Submitting, None, None, ""),
        (Queued, None, Some(Job::New), "pendingJobs Pending"),
        (Queued, None, Some(Job::Pending), "pendingJobs Pending"),
        (Running, None, Some(Job::Running), "runningJobs Running"),
        (Running, None, Some(Job::Restarting), "runningJobs Restarting"),
        (Running, None, Some(Job::Completing), "runningJobs Completing"),
        (Running, None, None, "runningJobs Running"),
        (
            Stopping,
            None,
            Some(Job::Terminating),
            "terminatedJobs Terminating",
        ),
        (Stopping, None, Some(Job::Aborting), "unKnowJobs Aborting"),
        (Stopping, None, Some(Job::Running), "runningJobs Running"),
        (Stopping, None, None, "terminatedJobs Terminating"),
        (
            Paused,
            Some(Reason::AbortedFromOutside),
            Some(Job::Aborted),
            "unKnowJobs Aborted",
        ),
        (
            Paused,
            Some(Reason::Suspended),
            Some(Job::Terminated),
            "terminatedJobs Terminated",
        ),
        (BackingOff, Some(Reason::JobFailed), None, "failedJobs Failed"),
        (
            BackingOff,
            Some(Reason::Timeout),
            None,
            "terminatedJobs Terminated",
        ),
        (Succeeded, None, Some(Job::Completed), "completedJobs Completed"),
        (Succeeded, None, None, "completedJobs Completed"),
        (
            Failed,
            Some(Reason::JobFailed),
            Some(Job::Failed),
            "failedJobs Failed",
        ),
        (Failed, Some(Reason::JobDeleted), None, "failedJobs Failed"),
        (
            Failed,
            Some(Reason::JobTerminated),
            Some(Job::Terminated),
            "terminatedJobs Terminated",
        ),
        (
            Failed,
            Some(Reason::JobAborted),
            Some(Job::Aborted),
            "unKnowJobs Aborted",
        ),
        (Failed, Some(Reason::Timeout), None, "terminatedJobs Terminated"),
        (
            Cancelled,
            Some(Reason::FlowCancelled),
            None,
            "terminatedJobs Terminated",
        ),
        (Skipped, Some(Reason::UpstreamFailed), None, ""),
    ];
    for (phase, reason, job, expected) in table {
        let found = place(phase, reason, job)
            .map(|(list, phase)| format!("{list} {phase}"))
            .unwrap_or_default();
        assert_eq!(found, expected, "{phase} {reason:?} {job:?}");
    }
}

#[test]
fn a_job_that_was_never_seen_is_not_listed() {
    let parsed = flow_of(&["a"]);
    let mut refused = node(NodePhase::Failed, Some(Reason::CreateRefused));
    refused.jobless = true;
    assert_eq!(status(&parsed, &record([refused])).job_status_list, None);
}

#[test]
fn only_the_current_attempt_is_listed() {
    let parsed = flow_of(&["a"]);
    let mut second = node(NodePhase::Running, None);
    second.attempt = 2;
    second.uid = Some(Uid::from("u"));
    assert_eq!(
        status(&parsed, &record([second])).running_jobs,
        Some(vec!["flow-a-r2".to_owned()])
    );
}

/// A Job that completed, as a server shows it.
fn completed() -> SlimJob {
    serde_json::from_value(json!({
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "flow-a", "uid": "u", "creationTimestamp": "2026-11-29T23:00:00Z"},
        "spec": {"tasks": [{"name": "main", "replicas": 2}]},
        "status": {
            "state": {"phase": "Completed", "lastTransitionTime": "2026-11-29T23:00:09Z"},
            "retryCount": 1,
            "runningDuration": "9s",
            "conditions": [
                {"status": "Aborting", "lastTransitionTime": "2026-11-29T23:00:01Z"},
                {"status": "Aborted", "lastTransitionTime": "2026-11-29T23:00:02Z"},
                {"status": "Restarting", "lastTransitionTime": "2026-11-29T23:00:03Z"},
                {"status": "Pending", "lastTransitionTime": "2026-11-29T23:00:04Z"},
                {"status": "Running", "lastTransitionTime": "2026-11-29T23:00:05Z"},
                {"status": "Completed", "lastTransitionTime": "2026-11-29T23:00:09Z"},
            ],
            "taskStatusCount": {"main": {"phase": {"Succeeded": 2}}},
        },
    }))
    .unwrap()
}

fn of_completed() -> (
    crate::types::JobFlow,
    crate::parse::Flow,
    jobflow_core::record::FlowRecord,
    JobFlowStatus,
) {
    let parsed = flow_of(&["a"]);
    let mut ended = node(NodePhase::Succeeded, None);
    ended.finish_time = Some(Time(1_796_000_000_000));
    ended.tasks = Some(crate::observe::job_view(&completed(), None).tasks);
    let record = record([ended]);
    let jobs = BTreeMap::from([(A, Arc::new(completed()))]);
    let mut flow = object(&parsed);
    let status = written(&flow, &parsed, &record, &jobs).unwrap().status;
    flow.status = Some(status.clone());
    (flow, parsed, record, status)
}

#[test]
fn a_line_has_the_times_of_the_job_and_its_last_four_phases() {
    let (_, _, _, status) = of_completed();
    assert_eq!(
        serde_json::to_value(&status.job_status_list).unwrap(),
        json!([{
            "name": "flow-a",
            "state": "Completed",
            "startTimestamp": "2026-11-29T23:00:00Z",
            "endTimestamp": "2026-11-30T00:53:20Z",
            "restartCount": 1,
            "runningHistories": [
                {"startTimestamp": "2026-11-29T23:00:03Z", "endTimestamp": "2026-11-29T23:00:04Z", "state": "Restarting"},
                {"startTimestamp": "2026-11-29T23:00:04Z", "endTimestamp": "2026-11-29T23:00:05Z", "state": "Pending"},
                {"startTimestamp": "2026-11-29T23:00:05Z", "endTimestamp": "2026-11-29T23:00:09Z", "state": "Running"},
                {"startTimestamp": "2026-11-29T23:00:09Z", "state": "Completed"},
            ],
        }])
    );
    assert_eq!(
        serde_json::to_value(&status.conditions).unwrap(),
        json!({"flow-a": {
            "phase": "Completed",
            "createTime": "2026-11-29T23:00:00Z",
            "runningDuration": "9s",
            "taskStatusCount": {"main": {"phase": {"Succeeded": 2}}},
        }})
    );
}

#[test]
fn what_a_job_told_stays_when_it_is_gone() {
    let (flow, parsed, record, before) = of_completed();
    let after = written(&flow, &parsed, &record, &BTreeMap::new()).unwrap().status;
    assert_eq!(after, before);
}

#[test]
fn times_are_written_once_and_left_out_rather_than_null() {
    let (flow, parsed, record, before) = of_completed();
    let mut later = record.clone();
    later.nodes.change(NodeId(0)).finish_time = Some(Time(1_796_000_500_000));
    let mut job = completed();
    job.metadata.creation_timestamp = None;
    let after = written(&flow, &parsed, &later, &BTreeMap::from([(A, Arc::new(job))]))
        .unwrap()
        .status;
    assert_eq!(after.job_status_list, before.job_status_list);
    let text = serde_json::to_string(&status(&parsed, &record)).unwrap();
    assert!(
        !text.contains("null") && !text.contains("startTimestamp"),
        "{text}"
    );
}

#[test]
fn a_hundred_jobs_are_listed_live_ones_first_then_failures_then_the_newest() {
    let names: Vec<String> = (0..300).map(|at| format!("n{at:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let parsed = flow_of(&names);
    let nodes = (0..300_i64).map(|at| match at {
        0..200 => {
            let mut ended = node(NodePhase::Succeeded, None);
            ended.finish_time = Some(Time(1_796_000_000_000 + at * 1000));
            ended
        }
        200..240 => node(NodePhase::Failed, Some(Reason::JobFailed)),
        240..290 => {
            let mut live = node(NodePhase::Running, None);
            live.uid = Some(Uid::from("u"));
            live
        }
        _ => node(NodePhase::Waiting, None),
    });
    let status = status(&parsed, &record(nodes));
    let count = |names: &Option<Vec<String>>| names.as_ref().map_or(0, Vec::len);
    assert_eq!(
        (
            count(&status.running_jobs),
            count(&status.failed_jobs),
            count(&status.completed_jobs)
        ),
        (50, 40, 10)
    );
    assert_eq!(status.completed_jobs.as_ref().unwrap()[0], "flow-n190");
    assert_eq!(status.job_status_list.as_ref().map(Vec::len), Some(100));
    assert_eq!(status.conditions.as_ref().map(BTreeMap::len), Some(100));
    let summary = status.summary.unwrap();
    assert_eq!(
        (
            summary.total,
            summary.succeeded,
            summary.failed,
            summary.running,
            summary.waiting
        ),
        (Some(300), Some(200), Some(40), Some(50), Some(10))
    );
    assert_eq!(status.progress.as_deref(), Some("240/300"));
}
