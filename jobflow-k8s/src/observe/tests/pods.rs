//! What pods tell about their Job.

use serde_json::{Value, json};

use crate::observe::{PodsSeen, SlimJob, SlimPod, account, job_view};

fn job() -> SlimJob {
    serde_json::from_value(json!({
        "metadata": {"name": "f-a", "uid": "job-uid"},
        "spec": {"tasks": [{"name": "ps", "replicas": 1}, {"name": "ps-worker", "replicas": 3}]},
        "status": {
            "state": {"phase": "Failed"},
            "taskStatusCount": {"ps": {"phase": {"Running": 1}}, "ps-worker": {"phase": {"Running": 1, "Failed": 2}}},
        },
    }))
    .unwrap()
}

fn pod(name: &str, status: Value) -> SlimPod {
    let owner = json!({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "f-a", "uid": "job-uid", "controller": true});
    serde_json::from_value(json!({"metadata": {"name": name, "ownerReferences": [owner]}, "status": status}))
        .unwrap()
}

/// A container that ended so, at a second of a minute.
fn ended(name: &str, code: i32, second: u32, reason: &str) -> Value {
    let time = format!("2026-11-29T23:00:{second:02}Z");
    json!({"name": name, "state": {"terminated": {"exitCode": code, "reason": reason, "startedAt": time, "finishedAt": time}}})
}

fn failed(name: &str, containers: &[Value]) -> SlimPod {
    pod(name, json!({"phase": "Failed", "containerStatuses": containers}))
}

fn seen(pods: &[SlimPod]) -> PodsSeen {
    account(&job(), pods, 0)
}

#[test]
fn the_first_container_that_ended_badly_gives_the_exit_code() {
    let early = failed("f-a-ps-worker-2", &[ended("main", 7, 10, "Error")]);
    let late = failed("f-a-ps-worker-0", &[ended("main", 5, 20, "Error")]);
    assert_eq!(seen(&[late.clone(), early]).exit_code, Some(7), "by time");
    let same = failed("f-a-ps-worker-1", &[ended("main", 6, 20, "Error")]);
    assert_eq!(seen(&[same, late]).exit_code, Some(5), "then by index");
    let two = failed(
        "f-a-ps-0",
        &[
            ended("ok", 0, 1, "Completed"),
            ended("one", 3, 20, "Error"),
            ended("two", 4, 20, "Error"),
        ],
    );
    assert_eq!(seen(&[two]).exit_code, Some(3), "then by the order of containers");
}

#[test]
fn a_container_that_was_started_again_counts_with_its_first_end() {
    let status = json!({"phase": "Failed", "containerStatuses": [{
        "name": "main",
        "lastState": {"terminated": {"exitCode": 9, "finishedAt": "2026-11-29T23:00:01Z"}},
        "state": {"terminated": {"exitCode": 1, "finishedAt": "2026-11-29T23:00:05Z"}},
    }]});
    assert_eq!(seen(&[pod("f-a-ps-0", status)]).exit_code, Some(9));
}

#[test]
fn a_container_that_initialises_counts_too() {
    let status = json!({"phase": "Failed", "initContainerStatuses": [ended("fetch", 2, 5, "Error")],
        "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}]});
    let seen = seen(&[pod("f-a-ps-0", status)]);
    assert_eq!(seen.exit_code, Some(2));
    assert_eq!(
        seen.first_failure.as_deref(),
        Some("pod f-a-ps-0, container fetch: exit code 2")
    );
}

#[test]
fn reasons_of_pods_and_containers_are_told_once_each() {
    let killed = failed(
        "f-a-ps-worker-0",
        &[
            ended("main", 137, 1, "OOMKilled"),
            ended("side", 0, 1, "Completed"),
        ],
    );
    let mut evicted = failed("f-a-ps-worker-1", &[ended("main", 137, 2, "OOMKilled")]);
    evicted.reason = Some("Evicted".into());
    let seen = seen(&[killed, evicted]);
    let reasons: Vec<&str> = seen.reasons.iter().map(|reason| &**reason).collect();
    assert_eq!(reasons, ["Evicted", "OOMKilled"]);
    assert_eq!(
        seen.first_failure.as_deref(),
        Some("pod f-a-ps-worker-0, container main: exit code 137 (OOMKilled)")
    );
}

#[test]
fn a_loss_to_the_infrastructure_is_one_only_if_all_failures_are() {
    let program = || failed("f-a-ps-worker-0", &[ended("main", 1, 1, "Error")]);
    let lost = |reason: &str| pod("f-a-ps-worker-1", json!({"phase": "Failed", "reason": reason}));
    for reason in ["Evicted", "Preempting", "NodeLost", "NodeShutdown"] {
        assert!(seen(&[lost(reason)]).infrastructure, "{reason}");
        assert!(
            !seen(&[lost(reason), program()]).infrastructure,
            "{reason}, mixed"
        );
    }
    assert!(!seen(&[lost("DeadlineExceeded")]).infrastructure);
    assert!(!seen(&[program()]).infrastructure);
    assert!(!seen(&[]).infrastructure);
    let disrupted = |status: &str| json!({"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": status, "reason": "PreemptionByScheduler"}]});
    assert!(seen(&[pod("f-a-ps-worker-1", disrupted("True"))]).infrastructure);
    assert!(!seen(&[pod("f-a-ps-worker-1", disrupted("False"))]).infrastructure);
    assert!(account(&job(), &[], 1).infrastructure, "vanished");
    assert!(
        !account(&job(), &[program()], 1).infrastructure,
        "vanished, and a failure of the program"
    );
}

#[test]
fn a_pod_that_is_taken_away_while_it_runs_is_lost() {
    let mut leaving = pod(
        "f-a-ps-0",
        json!({"phase": "Running", "conditions": [{"type": "DisruptionTarget", "status": "True"}]}),
    );
    assert!(!seen(std::slice::from_ref(&leaving)).infrastructure, "not yet");
    leaving.metadata.deletion_timestamp = Some(crate::types::Instant::from(jobflow_core::Time(0)).into());
    assert!(seen(&[leaving]).infrastructure);
}

#[test]
fn ready_pods_are_counted_by_task_and_never_above_those_that_run() {
    let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    let pods = [
        pod("f-a-ps-0", ready.clone()),
        pod("f-a-ps-worker-0", ready.clone()),
        pod("f-a-ps-worker-1", ready.clone()),
        pod(
            "f-a-ps-worker-2",
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}),
        ),
    ];
    let seen = seen(&pods);
    assert_eq!(seen.ready, [("ps".into(), 1), ("ps-worker".into(), 2)].into());
    let view = job_view(&job(), Some(&seen));
    let counts: Vec<(&str, u32)> = view
        .tasks
        .iter()
        .map(|task| (&*task.task, task.counts.ready))
        .collect();
    assert_eq!(counts, [("ps", 1), ("ps-worker", 1)]);
    assert!(seen.started && seen.left);
    let mut leaving = pod("f-a-ps-0", ready);
    leaving = serde_json::from_value(json!({
        "metadata": {"name": leaving.name(), "deletionTimestamp": "2026-11-29T23:00:00Z", "ownerReferences": leaving.metadata.owner_references},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    })).unwrap();
    assert!(!leaving.ready);
}

#[test]
fn pods_that_have_ended_hold_nothing_up() {
    assert!(
        !seen(&[
            failed("f-a-ps-0", &[]),
            pod("f-a-ps-worker-0", json!({"phase": "Succeeded"}))
        ])
        .left
    );
    assert!(seen(&[pod("f-a-ps-0", json!({"phase": "Unknown"}))]).left);
    assert!(seen(&[pod("f-a-ps-0", json!({}))]).left, "without a status");
}

#[test]
fn a_pod_of_somebody_else_or_with_another_name_is_passed_over() {
    let theirs = |name: &str, uid: &str| {
        let mut pod = failed(name, &[ended("main", 1, 1, "Error")]);
        pod.metadata.owner_references.as_mut().unwrap()[0].uid = uid.to_owned();
        pod
    };
    for (name, uid) in [
        ("f-a-ps-0", "another"),
        ("f-a-gone-0", "job-uid"),
        ("f-a-ps-00", "job-uid"),
        ("f-a-ps-+1", "job-uid"),
        ("f-a-ps-x", "job-uid"),
        ("f-a-ps", "job-uid"),
        ("f-ab-ps-0", "job-uid"),
        ("f-a-ps-99999999999", "job-uid"),
    ] {
        assert_eq!(seen(&[theirs(name, uid)]), PodsSeen::default(), "{name} {uid}");
    }
    let mut orphan = failed("f-a-ps-0", &[ended("main", 1, 1, "Error")]);
    orphan.metadata.owner_references = None;
    assert_eq!(seen(&[orphan]), PodsSeen::default());
}

#[test]
fn a_failed_job_is_told_in_words() {
    let pods = seen(&[failed("f-a-ps-worker-0", &[ended("main", 137, 1, "OOMKilled")])]);
    assert_eq!(
        job_view(&job(), Some(&pods)).message.as_deref(),
        Some(
            "task ps-worker: 2 of 3 pods failed; pod f-a-ps-worker-0, container main: exit code 137 (OOMKilled)"
        )
    );
    assert_eq!(
        job_view(&job(), None).message.as_deref(),
        Some("task ps-worker: 2 of 3 pods failed")
    );
}
