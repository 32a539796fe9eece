//! How much is held of a watched Job.

use std::mem::size_of_val;

use serde_json::json;

use crate::observe::{SlimJob, SlimTemplate};

/// A Job of 4 tasks as a server sends it, with everything that is of no use here.
fn job() -> serde_json::Value {
    let container = json!({"name": "main", "image": "registry.example.com/team/image:1.2.3", "command": ["sh", "-c", "x".repeat(500)],
        "env": (0..20).map(|at| json!({"name": format!("NAME_{at}"), "value": "v".repeat(50)})).collect::<Vec<_>>()});
    let task = |at: u32| {
        json!({"name": format!("task-{at}"), "replicas": 8, "policies": [{"event": "PodFailed", "action": "RestartJob"}],
            "template": {"metadata": {"annotations": {"a": "b".repeat(200)}}, "spec": {"containers": [container]}}})
    };
    let condition = |phase: &str| json!({"status": phase, "lastTransitionTime": "2026-11-29T23:00:00Z"});
    let history = ["Pending", "Running", "Restarting", "Pending", "Running"].map(condition);
    json!({
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {
            "name": "nightly-train-stage-0042-r2", "namespace": "team-of-somebody", "uid": "11111111-2222-3333-4444-555555555555",
            "resourceVersion": "123456789", "generation": 1, "creationTimestamp": "2026-11-29T23:00:00Z",
            "labels": {"volcano.sh/createdByJobFlow": "team-of-somebody.nightly", "flow.volcano.sh/entry": "train-stage-0042"},
            "annotations": {"flow.volcano.sh/node": "train-stage-0042/0/2", "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(4_000)},
            "ownerReferences": [{"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "nightly", "uid": "11111111-2222-3333-4444-555555555555", "controller": true}],
            "managedFields": [{"manager": "m", "operation": "Update", "fieldsV1": {"f:spec": {"f:tasks": "x".repeat(2_000)}}}],
        },
        "spec": {"minAvailable": 32, "queue": "q", "plugins": {"svc": [], "env": []}, "tasks": (0..4).map(task).collect::<Vec<_>>()},
        "status": {
            "state": {"phase": "Running", "lastTransitionTime": "2026-11-29T23:00:00Z"}, "minAvailable": 32, "running": 32,
            "conditions": history,
            "taskStatusCount": (0..4).map(|at| (format!("task-{at}"), json!({"phase": {"Running": 8}}))).collect::<serde_json::Map<_, _>>(),
        },
    })
}

/// The bytes that a decoded Job holds, itself and what it points to.
fn held(job: &SlimJob) -> usize {
    let metadata = &job.metadata;
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
    let texts = text(&metadata.name)
        + text(&metadata.namespace)
        + text(&metadata.uid)
        + text(&metadata.resource_version);
    let annotations: usize = metadata
        .annotations
        .iter()
        .flatten()
        .map(|(key, value)| key.capacity() + value.capacity() + 48)
        .sum();
    let owners: usize = metadata
        .owner_references
        .iter()
        .flatten()
        .map(|owner| {
            size_of_val(owner)
                + owner.api_version.capacity()
                + owner.kind.capacity()
                + owner.name.capacity()
                + owner.uid.capacity()
        })
        .sum();
    let tasks: usize = size_of_val(&*job.tasks) + job.tasks.iter().map(|task| task.name.len()).sum::<usize>();
    size_of_val(job) + texts + annotations + owners + tasks + size_of_val(&*job.history)
}

#[test]
fn ten_thousand_jobs_fit_into_39_megabytes() {
    let job: SlimJob = serde_json::from_value(job()).unwrap();
    let held = held(&job);
    assert!(held * 10_000 < 39_000_000, "{held} bytes a job");
    assert!(held < 2_500, "{held} bytes a job");
}

#[test]
fn of_a_job_nothing_is_held_that_is_not_used() {
    let job: SlimJob = serde_json::from_value(job()).unwrap();
    let metadata = &job.metadata;
    assert_eq!((&metadata.labels, &metadata.managed_fields), (&None, &None));
    let annotations: Vec<&str> = metadata
        .annotations
        .iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect();
    assert_eq!(annotations, ["flow.volcano.sh/node"]);
    assert_eq!(
        (job.tasks.len(), job.min_available, job.history.len()),
        (4, 32, 5)
    );
}

#[test]
fn of_a_template_the_spec_and_what_goes_into_jobs_is_held() {
    let template: SlimTemplate = serde_json::from_value(json!({
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobTemplate",
        "metadata": {
            "name": "t", "uid": "u", "generation": 3,
            "labels": {"team": "x", "helm.sh/chart": "c"},
            "annotations": {"volcano.sh/preemptable": "true", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
            "managedFields": [{"manager": "m"}],
        },
        "spec": {"tasks": [], "somethingNew": {"kept": true}},
        "status": {},
    }))
    .unwrap();
    assert_eq!(template.spec.0["somethingNew"]["kept"], true);
    assert_eq!(
        template.metadata.labels,
        Some([("team".to_owned(), "x".to_owned())].into())
    );
    assert_eq!(
        template.metadata.annotations,
        Some([("volcano.sh/preemptable".to_owned(), "true".to_owned())].into())
    );
    assert_eq!(
        (&template.metadata.managed_fields, template.metadata.generation),
        (&None, Some(3))
    );
}
