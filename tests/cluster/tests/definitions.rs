//! The definitions of jobflow on a real API server: what it accepts, keeps, refuses and prints.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::process::Command;

use jobflow_k8s::types::{JobFlow, JobTemplate};
use jobflow_test_cluster::{ControlPlane, User};
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Resource};
use serde_json::{Value, json};

/// Flows as they come and go, without a type of ours between.
async fn flows(namespace: &str) -> Api<DynamicObject> {
    let client = ControlPlane::shared().unwrap().client(User::Admin).await.unwrap();
    let resource = kube::core::ApiResource::erase::<JobFlow>(&());
    Api::namespaced_with(client, namespace, &resource)
}

async fn create(api: &Api<DynamicObject>, name: &str, spec: &Value) -> kube::Result<Value> {
    let kind = JobFlow::kind(&());
    let object = json!({
        "apiVersion": JobFlow::api_version(&()),
        "kind": kind,
        "metadata": { "name": name },
        "spec": spec,
    });
    let object = serde_json::from_value(object).unwrap();
    let created = api.create(&PostParams::default(), &object).await?;
    Ok(created.data["spec"].clone())
}

/// Every field that Volcano's own JobFlow has, and a patch with all that a typed schema would lose.
fn old_fields() -> Value {
    let probe = json!({
        "httpGetList": [{ "taskName": "main", "path": "/ready", "port": 8080, "httpHeader": { "name": "", "value": "" } }],
        "tcpSocketList": [{ "taskName": "main", "port": 22 }],
        "taskStatusList": [{ "taskName": "main", "phase": "Running" }],
    });
    let patch = json!({
        "jobSpec": {
            "minAvailable": 2,
            "queue": null,
            "tasks": [{
                "name": "main",
                "replicas": "${{ params.replicas }}",
                "template": { "spec": { "containers": [
                    { "name": "main", "resources": null, "env": [{ "name": "OLD", "$patch": "delete" }] },
                    { "$patch": "replace" },
                ] } },
            }],
        },
    });
    json!({
        "jobRetainPolicy": "delete",
        "flows": [
            { "name": "a" },
            { "name": "b", "dependsOn": { "targets": ["a"], "probe": probe }, "patch": patch },
        ],
    })
}

#[tokio::test]
async fn a_flow_with_all_old_fields_comes_back_as_it_was_sent() {
    let namespace = ControlPlane::shared().unwrap().namespace("old").await.unwrap();
    let stored = create(&flows(&namespace).await, "old", &old_fields())
        .await
        .unwrap();
    assert_eq!(stored, old_fields());
}

#[tokio::test]
async fn a_flow_of_two_entries_is_read_as_our_type() {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("typed").await.unwrap();
    create(&flows(&namespace).await, "typed", &old_fields())
        .await
        .unwrap();
    let api: Api<JobFlow> = Api::namespaced(cluster.client(User::Admin).await.unwrap(), &namespace);
    let flow = api.get("typed").await.unwrap();
    let names: Vec<&str> = flow
        .spec
        .flows
        .iter()
        .flatten()
        .map(|entry| entry.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(
        serde_json::to_value(&flow.spec).unwrap()["flows"][1]["patch"],
        old_fields()["flows"][1]["patch"]
    );
}

#[tokio::test]
async fn what_is_unknown_in_a_template_is_kept() {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("template").await.unwrap();
    let spec = json!({
        "ofTomorrow": [1, { "x": null }],
        "tasks": [{ "name": "main", "ofTomorrow": true, "template": { "spec": { "containers": [], "ofTomorrow": 1 } } }],
    });
    let template = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobTemplate",
        "metadata": { "name": "a" },
        "spec": spec,
    });
    let resource = kube::core::ApiResource::erase::<JobTemplate>(&());
    let client = cluster.client(User::Admin).await.unwrap();
    let api: Api<DynamicObject> = Api::namespaced_with(client, &namespace, &resource);
    let template = serde_json::from_value(template).unwrap();
    let stored = api.create(&PostParams::default(), &template).await.unwrap();
    assert_eq!(stored.data["spec"], spec);
}

/// What the server says against a flow.
async fn refusal(spec: Value) -> String {
    let namespace = ControlPlane::shared()
        .unwrap()
        .namespace("refused")
        .await
        .unwrap();
    let answer = create(&flows(&namespace).await, "refused", &spec).await;
    let kube::Error::Api(status) = answer.unwrap_err() else {
        return "no answer of the server".to_owned();
    };
    assert_eq!(status.code, 422, "{status:?}");
    status.message
}

#[tokio::test]
async fn a_name_of_more_than_63_characters_is_refused_with_its_place() {
    let message = refusal(json!({ "flows": [{ "name": "a" }, { "name": "b".repeat(64) }] })).await;
    assert!(message.contains("spec.flows[1].name"), "{message}");
    assert!(message.contains("may not be more than 63"), "{message}");
}

#[tokio::test]
async fn an_entry_that_is_two_things_is_refused_in_our_words() {
    let message = refusal(json!({ "flows": [{ "name": "a", "template": "t", "jobSpec": {} }] })).await;
    assert!(
        message.contains("at most one of template, jobSpec, flow and switch"),
        "{message}"
    );
}

#[tokio::test]
async fn two_entries_of_one_name_are_refused() {
    let message = refusal(json!({ "flows": [{ "name": "a" }, { "name": "a" }] })).await;
    assert!(message.contains("Duplicate value"), "{message}");
}

#[tokio::test]
async fn kubectl_prints_phase_progress_and_counts() {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("columns").await.unwrap();
    let api = flows(&namespace).await;
    create(&api, "shown", &json!({ "flows": [{ "name": "a" }] }))
        .await
        .unwrap();
    let status = json!({ "status": {
        "state": { "phase": "Running" },
        "progress": "3/8",
        "summary": { "running": 2, "failed": 1 },
    } });
    let parameters = PatchParams::default();
    api.patch_status("shown", &parameters, &Patch::Merge(&status))
        .await
        .unwrap();
    let output = Command::new(cluster.binaries().kubectl())
        .arg("--kubeconfig")
        .arg(cluster.kubeconfig(User::Admin))
        .args(["get", "jf", "--namespace", &namespace])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let columns: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        columns[0],
        ["NAME", "PHASE", "PROGRESS", "RUNNING", "FAILED", "AGE"]
    );
    assert_eq!(columns[1][..5], ["shown", "Running", "3/8", "2", "1"]);
}
