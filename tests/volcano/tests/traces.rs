//! Jobs of the recordings, on a real API server with the stand-in: every status that Volcano wrote is written, in its
//! order.
//!
//! What is compared: phase, counts, `taskStatusCount`, `retryCount`, `version` and the phases of `conditions`; not times. A
//! recording names moments at which something was done from outside; here it is done when the status before it was seen.
//! Left out is what a recording may show or not: a mere change of counts within a phase, pods of a Job that is Pending (when
//! Volcano sees room for them depends on its caches), and further rewrites of an end.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::Path;

use jobflow_core::Span;
use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Course, Options, Volcano};
use kube::api::{DeleteParams, DynamicObject, ListParams, PostParams, WatchEvent, WatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client, ResourceExt};
use serde_json::{Map, Value, json};
use tokio::time::{Duration, sleep, timeout};

/// A line of a recording that matters here.
#[derive(Clone, Debug, PartialEq)]
enum Line {
    Did(String),
    Wrote(Value),
    Deleted,
}

struct Recording {
    job: Value,
    lines: Vec<Line>,
}

fn recording(name: &str) -> Recording {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jobflow-core/tests/traces");
    let text = std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap();
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let job = lines.next().unwrap()["object"].clone();
    let lines = lines.filter_map(|line| match (line["type"].as_str()?, line["kind"].as_str()) {
        ("NOTE", _) => Some(Line::Did(line["text"].as_str()?.to_owned())),
        ("DELETED", Some("Job")) => Some(Line::Deleted),
        (_, Some("Job")) => Some(Line::Wrote(compared(&line["status"]))),
        _ => None,
    });
    Recording {
        job,
        lines: essential(lines.collect()),
    }
}

fn compared(status: &Value) -> Value {
    let mut kept = Map::new();
    let mut status = status.clone();
    if status["state"]["phase"] == "Pending" {
        let all = status.as_object_mut().unwrap();
        all.retain(|key, _| key != "pending" && key != "taskStatusCount");
    }
    for key in ["minAvailable", "retryCount", "version", "taskStatusCount"] {
        kept.insert(key.to_owned(), status[key].clone());
    }
    for key in ["pending", "running", "succeeded", "failed", "terminating"] {
        kept.insert(key.to_owned(), status[key].as_u64().unwrap_or(0).into());
    }
    let conditions = status["conditions"].as_array().into_iter().flatten();
    kept.insert(
        "conditions".to_owned(),
        conditions.map(|condition| condition["status"].clone()).collect(),
    );
    kept.insert(
        "phase".to_owned(),
        status["state"]["phase"].as_str().unwrap_or("").into(),
    );
    Value::Object(kept)
}

/// Of statuses of one phase the first, and of an end also its rewrite; of mere counts, those with which a phase ends.
fn essential(lines: Vec<Line>) -> Vec<Line> {
    let phase = |line: &Line| match line {
        Line::Wrote(status) => status["phase"].as_str().unwrap().to_owned(),
        Line::Did(_) | Line::Deleted => String::new(),
    };
    let mut kept: Vec<Line> = Vec::new();
    let mut in_phase = 0;
    for line in lines {
        let same = kept
            .last()
            .is_some_and(|last| phase(last) == phase(&line) && !phase(&line).is_empty());
        in_phase = if same { in_phase + 1 } else { 0 };
        let ended = ["Completed", "Failed", "Terminated", "Aborted"].contains(&phase(&line).as_str());
        if in_phase == 0 || (in_phase == 1 && ended) {
            kept.push(line);
        }
    }
    kept
}

fn api(client: Client, namespace: &str, kind: &GroupVersionKind) -> Api<DynamicObject> {
    Api::namespaced_with(client, namespace, &ApiResource::from_gvk(kind))
}

fn jobs(client: Client, namespace: &str) -> Api<DynamicObject> {
    api(
        client,
        namespace,
        &GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job"),
    )
}

/// What is seen of the Job, with what was done from outside where the recording has it.
async fn play(recording: &Recording, client: Client, namespace: &str) -> Vec<Line> {
    use futures::TryStreamExt;
    let jobs = jobs(client.clone(), namespace);
    let mut job: DynamicObject = serde_json::from_value(recording.job.clone()).unwrap();
    job.metadata.namespace = None;
    let version = jobs
        .list(&ListParams::default())
        .await
        .unwrap()
        .metadata
        .resource_version
        .unwrap();
    let mut events = Box::pin(jobs.watch(&WatchParams::default(), &version).await.unwrap());
    let job = jobs.create(&PostParams::default(), &job).await.unwrap();
    let mut seen = Vec::new();
    while essential_of(&seen) < recording.lines.len() {
        if let Some(Line::Did(what)) = recording.lines.get(essential_of(&seen)) {
            // Time for what the recording left out, such as a last count.
            sleep(Duration::from_millis(150)).await;
            act(what, &job, client.clone(), namespace).await;
            seen.push(Line::Did(what.clone()));
        }
        let Ok(event) = timeout(Duration::from_secs(20), events.try_next()).await else {
            break;
        };
        match event.unwrap().unwrap() {
            WatchEvent::Added(job) | WatchEvent::Modified(job) => {
                seen.push(Line::Wrote(compared(&job.data["status"])))
            }
            WatchEvent::Deleted(_) => seen.push(Line::Deleted),
            WatchEvent::Bookmark(_) | WatchEvent::Error(_) => {}
        }
    }
    essential(seen)
}

fn essential_of(seen: &[Line]) -> usize {
    essential(seen.to_vec()).len()
}

async fn act(what: &str, job: &DynamicObject, client: Client, namespace: &str) {
    let name = job.name_any();
    let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::namespaced(client.clone(), namespace);
    match what.split_once(' ').unwrap() {
        ("command", action) => command(action, job, client, namespace).await,
        ("delete", "pod") => drop(
            pods.delete(&format!("{name}-main-0"), &DeleteParams::default())
                .await
                .unwrap(),
        ),
        ("delete", "job") => {
            drop(
                jobs(client, namespace)
                    .delete(&name, &DeleteParams::background())
                    .await
                    .unwrap(),
            );
        }
        ("delete", "job foreground") => {
            drop(
                jobs(client, namespace)
                    .delete(&name, &DeleteParams::foreground())
                    .await
                    .unwrap(),
            );
        }
        other => unreachable!("{other:?}"),
    }
}

async fn command(action: &str, job: &DynamicObject, client: Client, namespace: &str) {
    let target = json!({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": job.name_any(), "uid": job.metadata.uid,
        "controller": true,
    });
    let command = json!({
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": { "generateName": "order-", "ownerReferences": [target] },
        "action": action,
        "target": target,
    });
    let kind = GroupVersionKind::gvk("bus.volcano.sh", "v1alpha1", "Command");
    let command = serde_json::from_value(command).unwrap();
    let api = api(client, namespace, &kind);
    api.create(&PostParams::default(), &command).await.unwrap();
}

/// Pods are objects; what recordings say of times is kept, since what is done from outside depends on it.
async fn check(name: &str, speed: u32, course: Course) {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("trace").await.unwrap();
    let options = Options {
        namespace: Some(namespace.clone()),
        speed,
        pods: true,
        course: std::sync::Arc::new(move |_| course.clone()),
        ..Options::default()
    };
    let volcano = Volcano::start(cluster.client(User::Volcano).await.unwrap(), options)
        .await
        .unwrap();
    let recording = recording(name);
    let seen = play(&recording, cluster.client(User::Admin).await.unwrap(), &namespace).await;
    let complaints = volcano.complaints();
    assert_eq!(seen, recording.lines, "{name}, {complaints:?}");
}

macro_rules! recordings {
    ($($test:ident: $name:literal, $speed:literal, $course:expr;)+) => {
        $(#[tokio::test] async fn $test() { check($name, $speed, $course).await; })+
    };
}

recordings! {
    a_job_that_succeeds: "ok-one", 1, Course::default();
    a_job_of_two_tasks: "ok-two-tasks", 1, Course::default();
    a_job_that_fails: "fail-plain", 1, Course::default();
    a_job_that_completes_though_one_task_fails: "fail-one-of-two-min1", 1, Course::default();
    a_job_that_is_restarted_until_it_fails: "restart-job-then-failed", 1, Course::default();
    a_policy_that_aborts: "policy-abort", 1, Course::default();
    a_policy_that_terminates: "policy-terminate", 1, Course::default();
    a_policy_for_an_exit_code: "policy-exit-code", 1, Course::default();
    a_command_that_terminates: "command-terminate", 1, Course::default();
    a_command_that_aborts_and_one_that_resumes: "command-abort-then-resume", 1, Course::default();
    a_pod_that_is_deleted: "pod-deleted-no-policy", 1, Course::default();
    a_pod_that_is_deleted_where_a_policy_restarts: "pod-deleted-evicted-restart", 1, Course::default();
    a_job_that_is_deleted: "job-deleted-running", 1, Course::default();
    a_gang_without_a_place: "unschedulable", 1, Course { admitted_after: None, ..Course::default() };
    a_queue_that_is_not_there: "queue-missing", 40, Course::default();
}

#[tokio::test]
async fn times_of_an_end_are_whole_seconds_and_its_duration_is_rounded_when_written_again() {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("times").await.unwrap();
    let client = cluster.client(User::Admin).await.unwrap();
    let options = Options {
        namespace: Some(namespace.clone()),
        course: std::sync::Arc::new(|_| Course::of(jobflow_test_volcano::PodCourse::exits(Span(1200), 0))),
        ..Options::default()
    };
    let _volcano = Volcano::start(client.clone(), options).await.unwrap();
    let mut job = recording("ok-one").job;
    job["spec"]["tasks"][0]["template"]["metadata"] = json!({});
    job["metadata"] = json!({ "name": "timed" });
    let jobs = jobs(client, &namespace);
    jobs.create(&PostParams::default(), &serde_json::from_value(job).unwrap())
        .await
        .unwrap();
    let status = loop {
        let status = jobs.get("timed").await.unwrap().data["status"].clone();
        if status["version"] == 1 {
            break status;
        }
        sleep(Duration::from_millis(50)).await;
    };
    let duration = status["runningDuration"].as_str().unwrap();
    assert!(
        duration
            .trim_end_matches('s')
            .bytes()
            .all(|byte| byte.is_ascii_digit()),
        "{duration}"
    );
    let at = status["state"]["lastTransitionTime"].as_str().unwrap();
    assert!(at.ends_with('Z') && !at.contains('.'), "{at}");
}
