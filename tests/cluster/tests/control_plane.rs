//! The control plane itself: what the tests above it count on.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::time::Duration;

use jobflow_k8s::types::{JobFlow, JobFlowSpec};
use jobflow_test_cluster::{ControlPlane, Options, User};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{
    DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio::time::{Instant, sleep};

fn jobs(client: Client, namespace: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job");
    Api::namespaced_with(client, namespace, &ApiResource::from_gvk(&kind))
}

async fn make_flow(client: Client, namespace: &str, name: &str) -> kube::Result<JobFlow> {
    let api: Api<JobFlow> = Api::namespaced(client, namespace);
    api.create(
        &PostParams::default(),
        &JobFlow::new(name, JobFlowSpec::default()),
    )
    .await
}

async fn make_job(client: Client, namespace: &str, owner: OwnerReference) -> kube::Result<DynamicObject> {
    let kind = GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job");
    let mut job = DynamicObject::new("owned", &ApiResource::from_gvk(&kind)).data(json!({ "spec": {} }));
    job.metadata.owner_references = Some(vec![owner]);
    jobs(client, namespace).create(&PostParams::default(), &job).await
}

async fn is_gone(api: &Api<DynamicObject>, name: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if api.get_opt(name).await.unwrap().is_none() {
            return true;
        }
        sleep(Duration::from_millis(100)).await;
    }
    false
}

#[tokio::test]
async fn a_job_is_collected_when_the_flow_that_owns_it_is_deleted() {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("collected").await.unwrap();
    let client = cluster.client(User::Admin).await.unwrap();
    let flow = make_flow(client.clone(), &namespace, "owner").await.unwrap();
    let owner = flow.controller_owner_ref(&()).unwrap();
    make_job(client.clone(), &namespace, owner).await.unwrap();
    let flows: Api<JobFlow> = Api::namespaced(client.clone(), &namespace);
    flows.delete("owner", &DeleteParams::default()).await.unwrap();
    assert!(is_gone(&jobs(client, &namespace), "owned").await);
}

fn is_forbidden<T>(result: &kube::Result<T>) -> bool {
    matches!(result, Err(kube::Error::Api(status)) if status.code == 403)
}

#[tokio::test]
async fn a_tenant_sees_and_changes_its_own_namespace_only() {
    let cluster = ControlPlane::shared().unwrap();
    let (ours, theirs) = (
        cluster.namespace("a").await.unwrap(),
        cluster.namespace("b").await.unwrap(),
    );
    cluster.grant(User::TenantA, &ours).await.unwrap();
    cluster.grant(User::TenantB, &theirs).await.unwrap();
    let client = cluster.client(User::TenantA).await.unwrap();
    make_flow(client.clone(), &ours, "mine").await.unwrap();
    assert!(is_forbidden(&make_flow(client.clone(), &theirs, "mine").await));
    let foreign: Api<JobFlow> = Api::namespaced(client.clone(), &theirs);
    assert!(is_forbidden(&foreign.list(&ListParams::default()).await));
    assert!(is_forbidden(
        &Api::<JobFlow>::all(client).list(&ListParams::default()).await
    ));
}

#[tokio::test]
async fn a_viewer_reads_everything_and_changes_nothing() {
    let cluster = ControlPlane::shared().unwrap();
    let namespace = cluster.namespace("viewed").await.unwrap();
    make_flow(cluster.client(User::Admin).await.unwrap(), &namespace, "seen")
        .await
        .unwrap();
    let client = cluster.client(User::Viewer).await.unwrap();
    let flows: Api<JobFlow> = Api::namespaced(client.clone(), &namespace);
    assert_eq!(flows.get("seen").await.unwrap().name_any(), "seen");
    assert!(is_forbidden(&make_flow(client, &namespace, "mine").await));
}

#[tokio::test]
async fn nobody_gets_in_without_a_token() {
    let cluster = ControlPlane::shared().unwrap();
    let file = cluster.kubeconfig(User::Admin);
    let mut config = kube::config::Kubeconfig::read_from(file).unwrap();
    config.auth_infos[0].auth_info.as_mut().unwrap().token = None;
    let config = kube::Config::from_custom_kubeconfig(config, &Default::default())
        .await
        .unwrap();
    let client = Client::try_from(config).unwrap();
    assert!(is_forbidden(
        &Api::<JobFlow>::all(client).list(&ListParams::default()).await
    ));
}

/// Whether the first thing that a watch from there says is that it remembers no such time.
async fn is_forgotten(client: Client, namespace: &str, version: &str) -> bool {
    use futures::TryStreamExt;
    let api: Api<JobFlow> = Api::namespaced(client, namespace);
    let parameters = WatchParams::default().timeout(5);
    let mut events = Box::pin(api.watch(&parameters, version).await.unwrap());
    matches!(events.try_next().await, Ok(Some(WatchEvent::Error(status))) if status.code == 410)
}

#[tokio::test]
async fn a_restart_keeps_what_was_stored_and_after_a_compaction_forgets_the_past() {
    let mut cluster = ControlPlane::start(Options::default()).unwrap();
    let namespace = cluster.namespace("kept").await.unwrap();
    let client = cluster.client(User::Admin).await.unwrap();
    let flow = make_flow(client.clone(), &namespace, "kept").await.unwrap();
    let version = flow.resource_version().unwrap();
    let flows: Api<JobFlow> = Api::namespaced(client.clone(), &namespace);
    let patch = json!({ "metadata": { "labels": { "touched": "yes" } } });
    flows
        .patch("kept", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    assert!(!is_forgotten(client, &namespace, &version).await);
    let before = cluster.processes();
    assert!(cluster.compact_etcd().await.unwrap() > version.parse::<i64>().unwrap());
    cluster.restart_api_server().unwrap();
    let after = cluster.processes();
    assert_eq!((before[0], before[2]), (after[0], after[2]));
    assert_ne!(before[1], after[1]);
    let client = cluster.client(User::Admin).await.unwrap();
    let flows: Api<JobFlow> = Api::namespaced(client.clone(), &namespace);
    assert_eq!(flows.get("kept").await.unwrap().metadata.uid, flow.metadata.uid);
    assert!(is_forgotten(client, &namespace, &version).await);
}

#[tokio::test]
async fn volcanos_definition_drops_our_fields_and_leaks_defaults_into_patches() {
    let cluster = ControlPlane::start(Options::default()).unwrap();
    cluster.put_back_volcanos_definitions().await.unwrap();
    let namespace = cluster.namespace("pruned").await.unwrap();
    let client = cluster.client(User::Admin).await.unwrap();
    let api: Api<DynamicObject> =
        Api::namespaced_with(client, &namespace, &ApiResource::erase::<JobFlow>(&()));
    let flow = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobFlow",
        "metadata": { "name": "pruned" },
        "spec": { "suspend": true, "flows": [{ "name": "a", "allowFailure": true, "patch": { "jobSpec": {} } }] },
    });
    let stored = api
        .create(&PostParams::default(), &serde_json::from_value(flow).unwrap())
        .await
        .unwrap();
    let patch = json!({ "jobSpec": { "maxRetry": 3, "queue": "default" } });
    assert_eq!(
        stored.data["spec"],
        json!({ "flows": [{ "name": "a", "patch": patch }] })
    );
    let status = json!({ "status": { "progress": "0/1", "nodes": [{ "name": "a" }], "state": { "phase": "Pending" } } });
    let written = api
        .patch_status("pruned", &PatchParams::default(), &Patch::Merge(&status))
        .await
        .unwrap();
    assert_eq!(written.data["status"], json!({ "state": { "phase": "Pending" } }));
}

#[tokio::test]
async fn an_owner_that_blocks_deletion_needs_rights_on_its_finalizers_where_that_is_enforced() {
    let options = Options::default().with_admission_plugin("OwnerReferencesPermissionEnforcement");
    let cluster = ControlPlane::start(options).unwrap();
    let namespace = cluster.namespace("owned").await.unwrap();
    cluster.grant(User::TenantA, &namespace).await.unwrap();
    let client = cluster.client(User::TenantA).await.unwrap();
    let flow = make_flow(client.clone(), &namespace, "owner").await.unwrap();
    let owner = flow.controller_owner_ref(&()).unwrap();
    let blocking = OwnerReference {
        block_owner_deletion: Some(true),
        ..owner.clone()
    };
    assert!(is_forbidden(
        &make_job(client.clone(), &namespace, blocking).await
    ));
    let free = OwnerReference {
        block_owner_deletion: None,
        ..owner
    };
    make_job(client, &namespace, free).await.unwrap();
}
