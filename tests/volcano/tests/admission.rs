//! The stand-in's admission refuses what Volcano's refuses, and the API server answers as was recorded.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Admission, Options, Volcano};
use kube::api::{DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind, Status};
use kube::{Api, Client};
use serde_json::{Value, json};

async fn create(client: &Client, namespace: &str, name: &str, more: &Value) -> Result<(), Box<Status>> {
    let mut job = json!({
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": { "name": name },
        "spec": { "minAvailable": 1, "tasks": [{ "name": "main", "replicas": 1 }] },
    });
    let spec = job["spec"].as_object_mut().unwrap();
    spec.extend(more.as_object().cloned().unwrap());
    let kind = GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job");
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind));
    match api
        .create(&PostParams::default(), &serde_json::from_value(job).unwrap())
        .await
    {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) => Err(status),
        Err(other) => Err(Box::new(Status::failure(&other.to_string(), ""))),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_those_that_were_recorded() {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("admission").await.unwrap();
    let client = cluster.client(User::Admin).await.unwrap();
    let options = Options {
        namespace: Some(namespace.clone()),
        ..Options::default()
    };
    let _volcano = Volcano::start(client.clone(), options).await.unwrap();
    let admission = Admission::start(client.clone(), &namespace).await.unwrap();
    create(&client, &namespace, "well", &json!({})).await.unwrap();
    let both = json!({ "minAvailable": 2, "queue": "nowhere" });
    let refused = create(&client, &namespace, "both", &both).await.unwrap_err();
    assert_eq!((refused.code, refused.reason.as_str()), (400, ""));
    assert_eq!(
        refused.message,
        "admission webhook \"validatejob.volcano.sh\" denied the request: job 'minAvailable' should not be greater \
         than total replicas in tasks; unable to find job queue: queue.scheduling.volcano.sh \"nowhere\" not found;"
    );
    admission.remove().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_refused_with_500_while_admission_is_down() {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("down").await.unwrap();
    let client = cluster.client(User::Admin).await.unwrap();
    drop(Admission::start(client.clone(), &namespace).await.unwrap());
    let refused = create(&client, &namespace, "job", &json!({})).await.unwrap_err();
    assert_eq!(refused.code, 500);
    assert!(
        refused
            .message
            .contains("failed calling webhook \"validatejob.volcano.sh\""),
        "{}",
        refused.message
    );
}
