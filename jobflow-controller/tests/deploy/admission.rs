//! The rules that the API server enforces, on a real one: who may write what.

use std::time::Duration;

use jobflow_test_cluster::{ControlPlane, User};
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::rendering::{rendered, root};

/// A namespace with the policies in force.
struct World {
    namespace: String,
    admin: Client,
}

/// The policies are the cluster's, so they are installed once.
async fn install(cluster: &ControlPlane) {
    static INSTALLED: OnceCell<()> = OnceCell::const_new();
    let policies = async {
        let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
        let text = rendered(&[r#"policies={"queues":true}"#]);
        std::fs::write(file.path(), text).unwrap();
        cluster
            .apply(&root().join("deploy/manifests/namespace.yaml"), "default")
            .await
            .unwrap();
        cluster.apply(file.path(), "jobflow-system").await.unwrap();
        in_force(cluster).await;
    };
    INSTALLED.get_or_init(|| policies).await;
}

/// A policy takes a moment until the API server heeds it.
async fn in_force(cluster: &ControlPlane) {
    let namespace = cluster.namespace("in-force").await.unwrap();
    let admin = cluster.client(User::Admin).await.unwrap();
    grant(&admin, &namespace, User::TenantB, json!([flows(&["create"])])).await;
    let flows = api(
        cluster.client(User::TenantB).await.unwrap(),
        &namespace,
        "JobFlow",
    );
    for attempt in 0..300 {
        let name = format!("probe-{attempt}");
        if flows
            .create(
                &PostParams::default(),
                &flow(&name, json!({"flows": [{"name": "a"}]})),
            )
            .await
            .is_err()
        {
            tokio::time::sleep(Duration::from_secs(1)).await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no policy is in force after 30 s");
}

fn flows(verbs: &[&str]) -> Value {
    json!({"apiGroups": ["flow.volcano.sh"], "resources": ["jobflows", "jobtemplates"], "verbs": verbs})
}

fn jobs() -> Value {
    json!({"apiGroups": ["batch.volcano.sh"], "resources": ["jobs"], "verbs": ["create"]})
}

async fn grant(admin: &Client, namespace: &str, user: User, rules: Value) {
    let rules: Vec<PolicyRule> = serde_json::from_value(rules).unwrap();
    let mut role = Role {
        rules: Some(rules),
        ..Role::default()
    };
    role.metadata.name = Some(user.name().to_owned());
    let mut binding = RoleBinding {
        role_ref: RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "Role".to_owned(),
            name: user.name().to_owned(),
        },
        subjects: Some(vec![Subject {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "User".to_owned(),
            name: user.name().to_owned(),
            namespace: None,
        }]),
        ..RoleBinding::default()
    };
    binding.metadata.name = Some(user.name().to_owned());
    let parameters = PostParams::default();
    Api::namespaced(admin.clone(), namespace)
        .create(&parameters, &role)
        .await
        .unwrap();
    Api::namespaced(admin.clone(), namespace)
        .create(&parameters, &binding)
        .await
        .unwrap();
}

fn api(client: Client, namespace: &str, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("flow.volcano.sh", "v1alpha1", kind);
    Api::namespaced_with(client, namespace, &ApiResource::from_gvk(&kind))
}

fn object(kind: &str, name: &str, spec: Value) -> DynamicObject {
    let object = json!({"apiVersion": "flow.volcano.sh/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec});
    serde_json::from_value(object).unwrap()
}

fn flow(name: &str, spec: Value) -> DynamicObject {
    object("JobFlow", name, spec)
}

impl World {
    async fn new() -> Self {
        let cluster = ControlPlane::shared().unwrap();
        install(cluster).await;
        Self {
            namespace: cluster.namespace("admission").await.unwrap(),
            admin: cluster.client(User::Admin).await.unwrap(),
        }
    }

    /// Flows as somebody with these rights sees them.
    async fn flows(&self, user: User, rules: Value) -> Api<DynamicObject> {
        grant(&self.admin, &self.namespace, user, rules).await;
        self.seen_by(user, "JobFlow").await
    }

    async fn seen_by(&self, user: User, kind: &str) -> Api<DynamicObject> {
        let client = ControlPlane::shared().unwrap().client(user).await.unwrap();
        api(client, &self.namespace, kind)
    }
}

fn refused<T: std::fmt::Debug>(result: kube::Result<T>, said: &str) {
    match result {
        Err(kube::Error::Api(status)) => {
            assert_eq!(status.code, 403, "{status:?}");
            assert!(status.message.contains(said), "{}", status.message);
        }
        other => panic!("it is refused with {said:?}: {other:?}"),
    }
}

async fn patched(flows: &Api<DynamicObject>, name: &str, patch: Value) -> kube::Result<DynamicObject> {
    flows
        .patch(name, &PatchParams::default(), &Patch::Merge(patch))
        .await
}

fn entries(count: usize) -> Value {
    (0..count)
        .map(|index| json!({"name": format!("n{index}")}))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn flows_and_templates_are_written_by_those_who_may_create_jobs() {
    let world = World::new().await;
    let post = PostParams::default();
    let without = world
        .flows(
            User::TenantB,
            json!([flows(&["create", "get", "patch", "update"])]),
        )
        .await;
    let spec = json!({"flows": [{"name": "a"}]});
    refused(
        without.create(&post, &flow("f", spec.clone())).await,
        "tenant-b may not in namespace",
    );
    let templates = world.seen_by(User::TenantB, "JobTemplate").await;
    let template = object("JobTemplate", "t", json!({"tasks": []}));
    refused(
        templates.create(&post, &template).await,
        "what a JobTemplate runs is written by those who",
    );
    let with = world
        .flows(User::TenantA, json!([flows(&["create", "patch"]), jobs()]))
        .await;
    with.create(&post, &flow("f", spec)).await.unwrap();
    world
        .seen_by(User::TenantA, "JobTemplate")
        .await
        .create(&post, &template)
        .await
        .unwrap();
    let large = flow("large", json!({"flows": entries(1000)}));
    with.create(&post, &large).await.unwrap();
    patched(&with, "large", json!({"spec": {"suspend": true}}))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_operates_flows_changes_nothing_of_what_they_run() {
    let world = World::new().await;
    let author = world
        .flows(User::TenantA, json!([flows(&["create"]), jobs()]))
        .await;
    let spec = json!({"flows": [{"name": "a"}], "parallelism": 1});
    author
        .create(&PostParams::default(), &flow("f", spec))
        .await
        .unwrap();
    let operator = world
        .flows(User::TenantB, json!([flows(&["get", "patch"])]))
        .await;
    patched(&operator, "f", json!({"spec": {"suspend": true}}))
        .await
        .unwrap();
    patched(&operator, "f", json!({"metadata": {"labels": {"a": "b"}}}))
        .await
        .unwrap();
    patched(&operator, "f", json!({"spec": {"cancel": {"mode": "Now"}}}))
        .await
        .unwrap();
    let changes = [
        json!({"flows": [{"name": "b"}]}),
        json!({"parallelism": 2}),
        json!({"parallelism": null}),
        json!({"priorityClassName": "high"}),
    ];
    for change in changes {
        refused(patched(&operator, "f", json!({"spec": change})).await, "may not");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_needs_its_verb_and_is_made_in_nobody_else_s_name() {
    let world = World::new().await;
    let author = world
        .flows(User::TenantA, json!([flows(&["create"]), jobs()]))
        .await;
    author
        .create(
            &PostParams::default(),
            &flow("f", json!({"flows": [{"name": "a"}]})),
        )
        .await
        .unwrap();
    let rules = json!([flows(&["patch"]), {"apiGroups": ["flow.volcano.sh"], "resources": ["jobflows"], "verbs": ["approve"]}]);
    let operator = world.flows(User::TenantB, rules).await;
    let mut requests = Vec::new();
    let mut asked = async |request: Value, is_kept: bool| {
        let all: Vec<_> = requests.iter().chain([&request]).cloned().collect();
        let result = patched(&operator, "f", json!({"spec": {"requests": all}})).await;
        if is_kept {
            requests.push(request);
        }
        result
    };
    let approve = |id: &str, by: Option<&str>| {
        let mut request = json!({"id": id, "verb": "Approve", "nodes": ["a"]});
        if let Some(by) = by {
            request["by"] = json!(by);
        }
        request
    };
    asked(approve("1", None), true).await.unwrap();
    asked(approve("2", Some("tenant-b")), true).await.unwrap();
    refused(
        asked(approve("3", Some("tenant-a")), false).await,
        "`by` of a request is who asks: tenant-b",
    );
    for verb in ["Retry", "Skip", "Reject"] {
        let request = json!({"id": verb, "verb": verb, "nodes": ["a"]});
        let said = format!("the request {verb} needs the verb {}", verb.to_lowercase());
        refused(asked(request, false).await, &said);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_is_named_by_those_who_may_use_it() {
    let world = World::new().await;
    let author = world
        .flows(User::TenantA, json!([flows(&["create", "patch"]), jobs()]))
        .await;
    let post = PostParams::default();
    let of = |name: &str, queue: &str| flow(name, json!({"queue": queue, "flows": [{"name": "a"}]}));
    refused(
        author.create(&post, &of("f", "gold")).await,
        "the queue gold needs the verb use",
    );
    author
        .create(&post, &flow("f", json!({"flows": [{"name": "a"}]})))
        .await
        .unwrap();
    let inside = json!({"flows": [{"name": "a", "patch": {"jobSpec": {"queue": "gold"}}}]});
    refused(
        author.create(&post, &flow("g", inside)).await,
        "entries use the queue of their flow",
    );
    api(world.admin.clone(), &world.namespace, "JobFlow")
        .create(&post, &of("h", "gold"))
        .await
        .unwrap();
    patched(&author, "h", json!({"spec": {"suspend": true}}))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_drops_records_is_refused_and_ours_is_not() {
    World::new().await;
    let cluster = ControlPlane::shared().unwrap();
    let refused = cluster.put_back_volcanos_definitions().await.unwrap_err();
    let said = format!("{refused:?}");
    assert!(
        said.contains("drops fields in which jobflow-controller keeps the records"),
        "{said}"
    );
    cluster.put_back_our_definitions().await.unwrap();
}
