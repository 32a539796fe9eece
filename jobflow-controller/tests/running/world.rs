//! A control plane with a stand-in for Volcano, the manifests of the chart, and tenants.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Options, Volcano};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::{Mutex, MutexGuard};

use crate::rendering::{rendered, root};

static TURN: Mutex<()> = Mutex::const_new(());

static CLUSTER: OnceLock<ControlPlane> = OnceLock::new();

/// Owner references that block deletion need a right on the owner here, as some clusters demand it.
fn strict() -> jobflow_test_cluster::Options {
    jobflow_test_cluster::Options::default().with_admission_plugin("OwnerReferencesPermissionEnforcement")
}

/// One test's turn with the cluster.
pub(crate) struct World {
    pub(crate) cluster: &'static ControlPlane,
    pub(crate) admin: Client,
    _volcano: Volcano,
    _turn: MutexGuard<'static, ()>,
}

/// Somebody with a namespace.
pub(crate) struct Tenant {
    pub(crate) namespace: String,
    client: Client,
}

impl World {
    /// Nothing of earlier tests is left: no flows, no rights, no Lease.
    pub(crate) async fn new() -> Self {
        let turn = TURN.lock().await;
        let cluster = CLUSTER.get_or_init(|| ControlPlane::start(strict()).unwrap());
        let admin = cluster.client(User::Admin).await.unwrap();
        let options = Options {
            speed: 20,
            ..Options::default()
        };
        let volcano = Volcano::start(cluster.client(User::Volcano).await.unwrap(), options)
            .await
            .unwrap();
        let world = Self {
            cluster,
            admin,
            _volcano: volcano,
            _turn: turn,
        };
        world.clear().await;
        world.install(&[]).await;
        world
    }

    async fn clear(&self) {
        let every = ListParams::default();
        let all: Api<DynamicObject> = Api::all_with(self.admin.clone(), &resource("JobFlow"));
        for flow in all.list(&every).await.unwrap() {
            let namespace = flow.metadata.namespace.as_deref().unwrap();
            let flows: Api<DynamicObject> =
                Api::namespaced_with(self.admin.clone(), namespace, &resource("JobFlow"));
            flows
                .delete(flow.metadata.name.as_deref().unwrap(), &DeleteParams::default())
                .await
                .unwrap();
        }
        let leases: Api<Lease> = Api::namespaced(self.admin.clone(), "jobflow-system");
        leases
            .delete_collection(&DeleteParams::default(), &every)
            .await
            .unwrap();
    }

    /// The chart with these values; rights on the cluster are only there if it gives any.
    pub(crate) async fn install(&self, values: &[&str]) {
        let bindings: Api<ClusterRoleBinding> = Api::all(self.admin.clone());
        let _ = bindings
            .delete("jobflow-controller", &DeleteParams::default())
            .await;
        let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
        // The policy that guards definitions is the cluster's, and one of the tests changes them.
        let unguarded = [values, &[r#"policies={"definitions":false}"#]].concat();
        std::fs::write(file.path(), rendered(&unguarded)).unwrap();
        let namespace = root().join("deploy/manifests/namespace.yaml");
        self.cluster.apply(&namespace, "default").await.unwrap();
        self.cluster.apply(file.path(), "jobflow-system").await.unwrap();
        // The API server's own caches of rights follow a moment later.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    pub(crate) fn kubeconfig(&self, user: User) -> PathBuf {
        self.cluster.kubeconfig(user)
    }

    pub(crate) async fn tenant(&self, user: User) -> Tenant {
        let namespace = self.cluster.namespace("tenant").await.unwrap();
        self.cluster.grant(user, &namespace).await.unwrap();
        Tenant {
            namespace,
            client: self.cluster.client(user).await.unwrap(),
        }
    }

    pub(crate) async fn holder(&self, lease: &str) -> Option<String> {
        let leases: Api<Lease> = Api::namespaced(self.admin.clone(), "jobflow-system");
        leases.get(lease).await.unwrap().spec.unwrap().holder_identity
    }
}

impl Tenant {
    fn flows(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource("JobFlow"))
    }

    async fn create(&self, kind: &str, name: &str, spec: Value) {
        let object = json!({"apiVersion": "flow.volcano.sh/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec});
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &self.namespace, &resource(kind));
        api.create(&PostParams::default(), &serde_json::from_value(object).unwrap())
            .await
            .unwrap();
    }

    pub(crate) async fn flow(&self, name: &str, spec: Value) {
        self.create("JobFlow", name, spec).await;
    }

    /// A template with one pod.
    pub(crate) async fn template(&self, name: &str) {
        let pod = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox", "command": ["true"]}]}});
        let spec = json!({"schedulerName": "volcano", "minAvailable": 1, "tasks": [{"name": "main", "replicas": 1, "template": pod}]});
        self.create("JobTemplate", name, spec).await;
    }

    pub(crate) async fn patch(&self, kind: &str, name: &str, patch: Value) {
        let patch = Patch::Merge(patch);
        self.api(kind)
            .patch(name, &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    pub(crate) async fn delete(&self, kind: &str, name: &str) {
        self.api(kind)
            .delete(name, &DeleteParams::background())
            .await
            .unwrap();
    }

    fn api(&self, kind: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource(kind))
    }

    /// Waits until there are so many frozen templates.
    pub(crate) async fn until_frozen(&self, wanted: usize) {
        let began = Instant::now();
        let frozen = ListParams::default().labels("flow.volcano.sh/frozen");
        loop {
            let found = self.api("JobTemplate").list(&frozen).await.unwrap().items.len();
            if found == wanted {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{found} are frozen");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// A Job of the namespace.
    pub(crate) async fn job(&self, name: &str) -> DynamicObject {
        self.job_api().get(name).await.unwrap()
    }

    fn job_api(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job");
        Api::namespaced_with(
            self.client.clone(),
            &self.namespace,
            &ApiResource::from_gvk(&kind),
        )
    }

    /// Four entries, of a template each.
    pub(crate) async fn diamond(&self, name: &str) {
        for entry in ["a", "b", "c", "d"] {
            self.template(entry).await;
        }
        let flow = json!({"flows": [
            {"name": "a"},
            {"name": "b", "dependsOn": {"targets": ["a"]}},
            {"name": "c", "dependsOn": {"targets": ["a"]}},
            {"name": "d", "dependsOn": {"targets": ["b", "c"]}},
        ]});
        self.flow(name, flow).await;
    }

    /// How many Jobs there are in the namespace.
    pub(crate) async fn jobs(&self) -> usize {
        self.job_api()
            .list(&ListParams::default())
            .await
            .unwrap()
            .items
            .len()
    }

    /// Writes the status of a flow as a controller of that name would.
    pub(crate) async fn write_status_as(&self, manager: &str, admin: &Client, name: &str) {
        let flows: Api<DynamicObject> =
            Api::namespaced_with(admin.clone(), &self.namespace, &resource("JobFlow"));
        let patch = json!({"status": {"pendingJobs": ["theirs"]}});
        let parameters = PatchParams {
            field_manager: Some(manager.to_owned()),
            ..PatchParams::default()
        };
        flows
            .patch_status(name, &parameters, &Patch::Merge(patch))
            .await
            .unwrap();
    }

    pub(crate) async fn phase(&self, name: &str) -> Option<String> {
        let flow = self.flows().get(name).await.unwrap();
        flow.data["status"]["state"]["phase"].as_str().map(str::to_owned)
    }

    /// The phase that the flow ends in, within two minutes.
    pub(crate) async fn end_of(&self, name: &str) -> String {
        let began = Instant::now();
        loop {
            match self.phase(name).await {
                Some(phase) if phase == "Succeed" || phase == "Failed" => return phase,
                phase => assert!(began.elapsed() < Duration::from_secs(120), "{name} is {phase:?}"),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

fn resource(kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("flow.volcano.sh", "v1alpha1", kind))
}
