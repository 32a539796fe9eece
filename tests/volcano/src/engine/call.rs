//! Requests to the API server, as plain JSON: of the answers only what is needed is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::{Method, Request};
use kube::api::{ListParams, PostParams};
use kube::core::DynamicObject;
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::watch;
use crate::fault::Fault;
use crate::object::Place;

const JOBS: &str = "/apis/batch.volcano.sh/v1alpha1";
const COMMANDS: &str = "/apis/bus.volcano.sh/v1alpha1";
const CORE: &str = "/api/v1";
const JSON: &str = "application/json";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// What came of a request.
#[derive(Debug)]
pub(super) enum Answer {
    Done,
    /// The object isn't there any more, or is another one.
    Gone,
    /// To be tried again.
    Later(String),
}

/// The way to the API server, not too many at once.
#[derive(Clone)]
pub(super) struct Call {
    client: Client,
    permits: Arc<Semaphore>,
}

/// The queues that there are, `default` made among them.
pub(super) async fn queues(client: &Client) -> Result<BTreeSet<String>, Fault> {
    let api = watch::queues(client);
    let queue = json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": { "name": "default" },
        "spec": { "weight": 1 },
        "status": { "state": "Open" },
    });
    let queue: DynamicObject = serde_json::from_value(queue)
        .map_err(|error| Fault::api("making the queue `default`")(kube::Error::SerdeError(error)))?;
    match api.create(&PostParams::default(), &queue).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        other => drop(other.map_err(Fault::api("making the queue `default`"))?),
    }
    let list = api.list(&ListParams::default()).await;
    let list = list.map_err(Fault::api("listing the queues"))?;
    Ok(list.items.iter().map(ResourceExt::name_any).collect())
}

impl Call {
    pub(super) const fn new(client: Client, permits: Arc<Semaphore>) -> Self {
        Self { client, permits }
    }

    /// Puts a status in the place of the one that is there, whatever else changed meanwhile.
    pub(super) async fn write_status(
        &self,
        namespace: &str,
        name: &str,
        uid: &str,
        status: &Value,
    ) -> Answer {
        let path = format!("{JOBS}/namespaces/{namespace}/jobs/{name}/status");
        let patch = json!([
            { "op": "test", "path": "/metadata/uid", "value": uid },
            { "op": "add", "path": "/status", "value": status },
        ]);
        judge(self.send(Method::PATCH, &path, JSON_PATCH, &patch).await)
    }

    pub(super) async fn delete_job(&self, namespace: &str, name: &str, uid: &str) {
        let path = format!("{JOBS}/namespaces/{namespace}/jobs/{name}");
        let options = json!({ "preconditions": { "uid": uid }, "propagationPolicy": "Background" });
        // Somebody else may have been faster.
        let _answer = self.send(Method::DELETE, &path, JSON, &options).await;
    }

    /// Whether the Command was there, and is gone now.
    pub(super) async fn delete_command(&self, command: &DynamicObject) -> bool {
        let namespace = command.namespace().unwrap_or_default();
        let path = format!(
            "{COMMANDS}/namespaces/{namespace}/commands/{}",
            command.name_any()
        );
        let options = json!({ "preconditions": { "uid": command.metadata.uid } });
        self.send(Method::DELETE, &path, JSON, &options).await.is_ok()
    }

    /// The UID of the pod that was made.
    pub(super) async fn create_pod(&self, place: &Place, pod: &Value) -> Result<String, String> {
        let path = format!("{CORE}/namespaces/{}/pods", place.namespace);
        let made = self.send(Method::POST, &path, JSON, pod).await;
        let made = made.map_err(|error| error.to_string())?;
        Ok(made["metadata"]["uid"].as_str().unwrap_or_default().to_owned())
    }

    pub(super) async fn write_pod(&self, place: &Place, uid: &str, status: &Value) -> Answer {
        let path = format!(
            "{CORE}/namespaces/{}/pods/{}/status",
            place.namespace,
            place.name()
        );
        let patch = json!({ "metadata": { "uid": uid }, "status": status });
        judge(self.send(Method::PATCH, &path, MERGE_PATCH, &patch).await)
    }

    /// Tells a pod to go, in its own time.
    pub(super) async fn delete_pod(&self, place: &Place, uid: &str) -> Answer {
        let (namespace, name) = (&place.namespace, place.name());
        judge(self.delete_pod_named(namespace, &name, uid, None).await)
    }

    /// Takes away what was told to go.
    pub(super) async fn bury_pod(&self, namespace: &str, name: &str, uid: &str) {
        let _answer = self.delete_pod_named(namespace, name, uid, Some(0)).await;
    }

    async fn delete_pod_named(
        &self,
        namespace: &str,
        name: &str,
        uid: &str,
        seconds: Option<u32>,
    ) -> kube::Result<Value> {
        let path = format!("{CORE}/namespaces/{namespace}/pods/{name}");
        let options = json!({ "preconditions": { "uid": uid }, "gracePeriodSeconds": seconds });
        self.send(Method::DELETE, &path, JSON, &options).await
    }

    async fn send(&self, method: Method, path: &str, kind: &str, body: &Value) -> kube::Result<Value> {
        let _permit = self.permits.acquire().await;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("Content-Type", kind);
        let request = request
            .body(body.to_string().into_bytes())
            .map_err(kube::Error::HttpError)?;
        self.client.request(request).await
    }
}

/// 404: not there; 409 and 422: the UID is another one's.
fn judge(answer: kube::Result<Value>) -> Answer {
    match answer {
        Ok(_) => Answer::Done,
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => Answer::Gone,
        Err(error) => Answer::Later(error.to_string()),
    }
}
