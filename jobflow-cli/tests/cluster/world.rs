//! A namespace of the shared control plane, files, and the plugin run in it as one of the users.

use std::path::PathBuf;
use std::time::Duration;

use assert_cmd::Command;
use jobflow_test_cluster::{ControlPlane, User};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub(crate) struct World {
    pub(crate) cluster: &'static ControlPlane,
    pub(crate) namespace: String,
    pub(crate) folder: TempDir,
    pub(crate) runtime: Runtime,
    client: Client,
}

/// What the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let cluster = ControlPlane::shared().unwrap();
        let runtime = Runtime::new().unwrap();
        let (namespace, client) = runtime.block_on(async {
            let namespace = cluster.namespace("cli").await.unwrap();
            cluster.grant(User::TenantA, &namespace).await.unwrap();
            (namespace, cluster.client(User::Admin).await.unwrap())
        });
        Self {
            cluster,
            namespace,
            folder: tempfile::tempdir().unwrap(),
            runtime,
            client,
        }
    }

    pub(crate) fn and(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The plugin, as a user who may do what a tenant may in this namespace.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&mut self.command(User::TenantA, arguments))
    }

    pub(crate) fn run_as(&self, user: User, arguments: &[&str]) -> Ran {
        Ran::of(&mut self.command(user, arguments))
    }

    pub(crate) fn command(&self, user: User, arguments: &[&str]) -> Command {
        let mut command = self.bare(arguments);
        command
            .env("KUBECONFIG", self.cluster.kubeconfig(user))
            .args(["-n", &self.namespace]);
        command
    }

    /// The plugin with neither a kubeconfig nor a namespace.
    pub(crate) fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-jobflow"));
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .timeout(Duration::from_secs(120))
            .args(arguments);
        command
    }

    pub(crate) fn api(&self, group: &str, kind: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, if group.is_empty() { "v1" } else { "v1alpha1" }, kind);
        Api::namespaced_with(
            self.client.clone(),
            &self.namespace,
            &ApiResource::from_gvk(&kind),
        )
    }

    pub(crate) fn flows(&self) -> Api<DynamicObject> {
        self.api("flow.volcano.sh", "JobFlow")
    }

    pub(crate) fn create(&self, group: &str, object: Value) -> DynamicObject {
        let kind = object["kind"].as_str().unwrap().to_owned();
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let (api, status) = (self.api(group, &kind), object.data.get("status").cloned());
        let made = self
            .runtime
            .block_on(api.create(&PostParams::default(), &object))
            .unwrap();
        if let Some(status) = status {
            return self.write_status(&api, made.metadata.name.as_deref().unwrap(), &status);
        }
        made
    }

    /// Makes an object of a kind without namespaces.
    pub(crate) fn create_anywhere(&self, object: Value, status: &Value) {
        let kind = object["kind"].as_str().unwrap().to_owned();
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", &kind));
        let api = Api::all_with(self.client.clone(), &resource);
        let made = self
            .runtime
            .block_on(api.create(&PostParams::default(), &object))
            .unwrap();
        self.write_status(&api, made.metadata.name.as_deref().unwrap(), status);
    }

    /// Makes a flow of three entries, one after the other, that stands as a status says.
    pub(crate) fn flow(&self, name: &str, status: Value) -> DynamicObject {
        self.create(
            "flow.volcano.sh",
            json!({
                "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow",
                "metadata": { "name": name },
                "spec": { "flows": [
                    { "name": "prepare" },
                    { "name": "train", "dependsOn": { "targets": ["prepare"] } },
                    { "name": "report", "dependsOn": { "targets": ["train"] } },
                ] },
                "status": status,
            }),
        )
    }

    pub(crate) fn set_status(&self, name: &str, status: &Value) {
        self.write_status(&self.flows(), name, status);
    }

    fn write_status(&self, api: &Api<DynamicObject>, name: &str, status: &Value) -> DynamicObject {
        let patch = Patch::Merge(json!({ "status": status }));
        let parameters = PatchParams::default();
        self.runtime
            .block_on(api.patch_status(name, &parameters, &patch))
            .unwrap()
    }

    pub(crate) fn stored(&self, name: &str) -> Option<Value> {
        let found = self.runtime.block_on(self.flows().get_opt(name)).unwrap();
        found.map(|flow| serde_json::to_value(flow).unwrap())
    }

    /// A text without what differs from run to run.
    pub(crate) fn steady(&self, text: &str) -> String {
        text.replace(&self.namespace, "NAMESPACE")
            .replace(self.folder.path().to_str().unwrap(), "FOLDER")
    }
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Everything in one text, for snapshots.
    pub(crate) fn shown(&self, world: &World) -> String {
        let Self { code, stdout, stderr } = self;
        world.steady(&format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}"))
    }
}
