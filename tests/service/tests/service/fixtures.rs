//! Objects and clients of the tests here.

use jobflow_test_service::{Kind, Service, kind};
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use serde_json::{Value, json};

pub(crate) fn resource(kind: &Kind) -> ApiResource {
    let gvk = GroupVersionKind::gvk(kind.group, kind.version, kind.kind);
    ApiResource::from_gvk_with_plural(&gvk, kind.plural)
}

pub(crate) fn api(client: Client, plural: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client, "default", &resource(kind(plural)))
}

pub(crate) fn jobs(service: &Service) -> Api<DynamicObject> {
    api(service.client("test"), "jobs")
}

pub(crate) fn flows(service: &Service) -> Api<DynamicObject> {
    api(service.client("test"), "jobflows")
}

pub(crate) fn object(value: Value) -> DynamicObject {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn job(name: &str) -> DynamicObject {
    object(json!({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
        "metadata": { "name": name, "labels": { "app": name } },
        "spec": { "minAvailable": 1, "tasks": [{ "name": "main", "replicas": 1 }] },
    }))
}

pub(crate) fn flow(name: &str) -> DynamicObject {
    object(json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow",
        "metadata": { "name": name },
        "spec": { "flows": [{ "name": "a", "retry": { "limit": 2 } }] },
    }))
}

pub(crate) async fn create(api: &Api<DynamicObject>, object: &DynamicObject) -> DynamicObject {
    api.create(&PostParams::default(), object).await.unwrap()
}

pub(crate) fn version(object: &DynamicObject) -> String {
    object.metadata.resource_version.clone().unwrap()
}

/// The code and the reason of a refusal.
pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, Error>) -> (u16, String) {
    match answer {
        Err(Error::Api(status)) => (status.code, status.reason),
        other => panic!("expected a refusal, found {other:?}"),
    }
}

pub(crate) fn refusal(code: u16, reason: &str) -> (u16, String) {
    (code, reason.to_owned())
}
