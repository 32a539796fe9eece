//! Kinds by group, version and name, as data: an object that can't be read harms nobody else.

use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::{Api, Client};
use serde_json::Value;

use jobflow_k8s::types::{BATCH_GROUP, FLOW_GROUP, VERSION};

/// Flows.
pub(crate) fn flows() -> ApiResource {
    resource(FLOW_GROUP, "JobFlow", "jobflows")
}

/// Templates of Jobs.
pub(crate) fn templates() -> ApiResource {
    resource(FLOW_GROUP, "JobTemplate", "jobtemplates")
}

/// Volcano's Jobs.
pub(crate) fn jobs() -> ApiResource {
    resource(BATCH_GROUP, "Job", "jobs")
}

/// Volcano's queues.
pub(crate) fn queues() -> ApiResource {
    let kind = GroupVersionKind::gvk("scheduling.volcano.sh", "v1beta1", "Queue");
    ApiResource::from_gvk_with_plural(&kind, "queues")
}

/// Volcano's groups of pods, one a Job.
pub(crate) fn pod_groups() -> ApiResource {
    let kind = GroupVersionKind::gvk("scheduling.volcano.sh", "v1beta1", "PodGroup");
    ApiResource::from_gvk_with_plural(&kind, "podgroups")
}

/// Pods.
pub(crate) fn pods() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("", "v1", "Pod"), "pods")
}

/// Events.
pub(crate) fn events() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("", "v1", "Event"), "events")
}

/// Quotas of a namespace.
pub(crate) fn quotas() -> ApiResource {
    ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("", "v1", "ResourceQuota"),
        "resourcequotas",
    )
}

fn resource(group: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, VERSION, kind), plural)
}

/// Objects of a kind in a namespace, or in all of them.
pub(crate) fn api(client: &Client, namespace: Option<&str>, resource: &ApiResource) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

/// An object as it is printed: with its kind, without the bookkeeping of who owns which field.
pub(crate) fn printed(object: &DynamicObject, resource: &ApiResource) -> Value {
    let mut object = object.clone();
    object.metadata.managed_fields = None;
    object.types = Some(kube::core::TypeMeta {
        api_version: resource.api_version.clone(),
        kind: resource.kind.clone(),
    });
    serde_json::to_value(&object).unwrap_or(Value::Null)
}
