//! Jobs as processes: the Jobs of the arithmetic example, created by hand one after the other, come to 140.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::{Path, PathBuf};

use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Options, Processes, Volcano};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

struct World {
    namespace: String,
    folder: tempfile::TempDir,
    client: kube::Client,
    volcano: Volcano,
}

impl World {
    async fn new() -> Self {
        let cluster = ControlPlane::shared().unwrap();
        let namespace = cluster.namespace("processes").await.unwrap();
        let client = cluster.client(User::Volcano).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let processes = Processes {
            folder: folder.path().to_owned(),
            program: PathBuf::from(env!("CARGO_BIN_EXE_jobflow-test-volcano")),
            network: None,
            inherit: Vec::new(),
        };
        let options = Options {
            namespace: Some(namespace.clone()),
            pods: true,
            processes: Some(processes),
            ..Options::default()
        };
        let volcano = Volcano::start(client.clone(), options).await.unwrap();
        Self {
            namespace,
            folder,
            client,
            volcano,
        }
    }

    fn api(&self, group: &str, kind: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, "v1alpha1", kind);
        Api::namespaced_with(
            self.client.clone(),
            &self.namespace,
            &ApiResource::from_gvk(&kind),
        )
    }

    async fn create(&self, name: &str, spec: &Value) {
        let job = json!({
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": { "name": name },
            "spec": spec,
        });
        let job = serde_json::from_value(job).unwrap();
        self.api("batch.volcano.sh", "Job")
            .create(&PostParams::default(), &job)
            .await
            .unwrap();
    }

    async fn comes_to(&self, name: &str, phase: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let job = self.api("batch.volcano.sh", "Job").get(name).await.unwrap();
            let present = &job.data["status"]["state"]["phase"];
            if present == phase {
                return;
            }
            let complaints = self.volcano.complaints();
            assert!(
                Instant::now() < deadline,
                "{name} is {present}, not {phase}: {complaints:?}"
            );
            sleep(Duration::from_millis(50)).await;
        }
    }

    async fn exit_code(&self, pod: &str) -> Value {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let status = serde_json::to_value(pods.get(pod).await.unwrap().status).unwrap();
        status["containerStatuses"][0]["state"]["terminated"]["exitCode"].clone()
    }
}

/// The text of every file below a folder whose name contains `name`.
fn texts(folder: &Path, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(texts(&path, name));
        } else if path.to_string_lossy().contains(name) {
            found.extend(std::fs::read_to_string(&path));
        }
    }
    found
}

fn script(text: &str) -> Value {
    let container = json!({ "name": "main", "image": "busybox", "command": ["sh", "-c", text] });
    let template = json!({ "spec": { "restartPolicy": "Never", "containers": [container] } });
    json!({ "minAvailable": 1, "tasks": [{ "name": "main", "replicas": 1, "template": template }] })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_jobs_of_the_arithmetic_example_come_to_140() {
    let world = World::new().await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/arithmetic/templates.yaml");
    let templates: Vec<Value> = serde_saphyr::from_multiple(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(templates.len(), 8);
    for template in &templates {
        let name = format!("arithmetic-{}", template["metadata"]["name"].as_str().unwrap());
        world.create(&name, &template["spec"]).await;
        world.comes_to(&name, "Completed").await;
    }
    let logs = texts(world.folder.path(), "log");
    assert!(logs.iter().any(|text| text.trim() == "140"), "{logs:?}");
    assert_eq!(world.exit_code("arithmetic-h-main-0").await, 0);
    assert_eq!(world.volcano.complaints(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_exits_with_stands_in_its_pod() {
    let world = World::new().await;
    world.create("fails", &script("exit 7")).await;
    world.comes_to("fails", "Failed").await;
    assert_eq!(world.exit_code("fails-main-0").await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_ends_the_processes_of_a_job() {
    let world = World::new().await;
    let mark = world.folder.path().join("ended");
    let text = format!(
        "trap 'touch {}; exit 1' TERM; while :; do sleep 0.05; done",
        mark.display()
    );
    world.create("long", &script(&text)).await;
    world.comes_to("long", "Running").await;
    sleep(Duration::from_millis(300)).await;
    let command = json!({
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": { "generateName": "order-" },
        "action": "TerminateJob",
        "target": { "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "long", "uid": "" },
    });
    let command = serde_json::from_value(command).unwrap();
    world
        .api("bus.volcano.sh", "Command")
        .create(&PostParams::default(), &command)
        .await
        .unwrap();
    world.comes_to("long", "Terminated").await;
    assert!(mark.exists());
}
