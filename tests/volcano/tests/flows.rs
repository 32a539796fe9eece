//! The driver for a cluster on a real API server, with the stand-in for Volcano: flows run to their end, and every field
//! of the old status is filled.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jobflow_k8s::client::{Driver, Finding, FlowRef, NodeChange, Observer, Settings};
use jobflow_k8s::types::{JobFlow, JobTemplate};
use jobflow_k8s::yaml;
use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Course, Options, PodCourse, PodEnd, Volcano};
use kube::api::{ListParams, PostParams};
use kube::core::{DynamicObject, GroupVersionKind};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// What the driver told, for whoever wonders why a test fails.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<String>>);

impl Observer for Told {
    fn node_changed(&self, flow: FlowRef<'_>, change: NodeChange<'_>) {
        let line = format!("{}/{} {} > {}", flow.name, change.node, change.from, change.to);
        self.0.lock().unwrap().push(line);
    }

    fn found(&self, flow: FlowRef<'_>, finding: &Finding) {
        self.0
            .lock()
            .unwrap()
            .push(format!("{} found {finding:?}", flow.name));
    }

    fn watch_failed(&self, resource: &'static str, error: &str) {
        self.0
            .lock()
            .unwrap()
            .push(format!("watch of {resource}: {error}"));
    }
}

/// A namespace with a driver and a Volcano of its own.
struct World {
    namespace: String,
    client: Client,
    told: Arc<Told>,
    _volcano: Volcano,
    _driver: JoinSet<()>,
}

impl World {
    async fn new(options: Options) -> Self {
        let cluster = ControlPlane::shared().unwrap();
        let namespace = cluster.namespace("flows").await.unwrap();
        let options = Options {
            namespace: Some(namespace.clone()),
            speed: 10,
            ..options
        };
        let volcano = Volcano::start(cluster.client(User::Volcano).await.unwrap(), options);
        let volcano = volcano.await.unwrap();
        let mut settings = Settings::default();
        settings.namespaces.insert(namespace.clone());
        let told = Arc::<Told>::default();
        let client = cluster.client(User::Admin).await.unwrap();
        let driver =
            Driver::new(client.clone(), settings).with_observer(Arc::clone(&told) as Arc<dyn Observer>);
        let mut tasks = JoinSet::new();
        tasks.spawn(driver.run());
        Self {
            namespace,
            client,
            told,
            _volcano: volcano,
            _driver: tasks,
        }
    }

    /// Creates every object of a file, as it stands there.
    async fn apply(&self, path: &Path) {
        let text = std::fs::read_to_string(path).unwrap();
        let reading = yaml::read(&path.display().to_string(), &text);
        for document in &reading.documents {
            self.create(document.value.clone()).await;
        }
    }

    async fn create(&self, object: Value) {
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let types = object.types.clone().unwrap();
        let (group, version) = types.api_version.split_once('/').unwrap();
        let kind = kube::core::ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &types.kind));
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), &self.namespace, &kind);
        api.create(&PostParams::default(), &object).await.unwrap();
    }

    /// The status of a flow once this is so.
    async fn until(&self, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let api: Api<JobFlow> = Api::namespaced(self.client.clone(), &self.namespace);
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let status = serde_json::to_value(api.get(name).await.unwrap().status).unwrap();
            if is_so(&status) {
                return status;
            }
            let told = self.told.0.lock().unwrap().join("\n");
            assert!(Instant::now() < deadline, "{status:#}\n{told}");
            sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn the_diamond_succeeds_and_every_old_field_is_filled() {
    let world = World::new(Options::default()).await;
    world
        .apply(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/diamond/flow.yaml"))
        .await;
    let api: Api<JobFlow> = Api::namespaced(world.client.clone(), &world.namespace);
    let flow = api.list(&ListParams::default()).await.unwrap().items.remove(0);
    // Volcano writes how long a Job ran a moment after its end.
    let told_all = |status: &Value| {
        let conditions = status["conditions"].as_object().into_iter().flatten();
        let told = conditions
            .filter(|(_, condition)| condition["runningDuration"].is_string())
            .count();
        status["completionTime"].is_string() && Some(told) == flow.spec.flows.as_ref().map(Vec::len)
    };
    let status = world.until(&flow.name_any(), told_all).await;
    let entries = flow.spec.flows.clone().unwrap();
    let jobs: Vec<String> = entries
        .iter()
        .map(|entry| format!("{}-{}", flow.metadata.name.as_deref().unwrap(), entry.name))
        .collect();
    let mut sorted = jobs.clone();
    sorted.sort();

    assert_eq!(status["state"], json!({"phase": "Succeed"}), "{status:#}");
    assert_eq!(status["completedJobs"], json!(sorted));
    for list in [
        "pendingJobs",
        "runningJobs",
        "failedJobs",
        "terminatedJobs",
        "unKnowJobs",
    ] {
        assert_eq!(status[list], Value::Null, "{list}");
    }
    for (line, job) in status["jobStatusList"].as_array().unwrap().iter().zip(&sorted) {
        assert_eq!(
            (&line["name"], &line["state"]),
            (&json!(job), &json!("Completed")),
            "{line:#}"
        );
        assert!(
            line["startTimestamp"].is_string() && line["endTimestamp"].is_string(),
            "{line:#}"
        );
        let histories = line["runningHistories"].as_array().unwrap();
        assert!(
            histories.iter().any(|history| history["state"] == "Running"),
            "{line:#}"
        );
    }
    for job in &sorted {
        let condition = &status["conditions"][job];
        assert_eq!(condition["phase"], "Completed", "{condition:#}");
        assert!(
            condition["createTime"].is_string() && condition["runningDuration"].is_string(),
            "{condition:#}"
        );
        assert!(condition["taskStatusCount"].is_object(), "{condition:#}");
    }
    listed_in_templates(&world, &sorted).await;
}

#[tokio::test]
async fn a_failure_is_recorded_with_the_exit_code_of_its_pod() {
    let fails = Course::of(PodCourse {
        ends: vec![PodEnd::Exits(3)],
        ..PodCourse::default()
    });
    let options = Options {
        pods: true,
        course: Arc::new(move |_| fails.clone()),
        ..Options::default()
    };
    let world = World::new(options).await;
    let containers = json!([{"name": "main", "image": "busybox:1.36"}]);
    let job_spec = json!({"minAvailable": 1, "tasks": [{
        "name": "main", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": containers}},
    }]});
    let spec = json!({"flows": [
        {"name": "a", "jobSpec": job_spec},
        {"name": "b", "jobSpec": job_spec, "dependsOn": {"targets": ["a"]}},
    ]});
    let kind = json!({"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow"});
    let mut flow = kind;
    flow["metadata"] = json!({"name": "f"});
    flow["spec"] = spec;
    world.create(flow).await;
    let status = world
        .until("f", |status| status["completionTime"].is_string())
        .await;
    let nodes = &status["nodes"];
    assert_eq!(
        (&nodes[0]["phase"], &nodes[0]["exitCode"]),
        (&json!("Failed"), &json!(3)),
        "{status:#}"
    );
    assert_eq!(
        (&nodes[1]["phase"], &nodes[1]["reason"]),
        (&json!("Skipped"), &json!("UpstreamFailed")),
        "{status:#}"
    );
    assert_eq!(status["failedJobs"], json!(["f-a"]));
}

/// Each Job is listed in the status of the template that it was made from.
async fn listed_in_templates(world: &World, jobs: &[String]) {
    let api: Api<JobTemplate> = Api::namespaced(world.client.clone(), &world.namespace);
    let deadline = Instant::now() + Duration::from_secs(45);
    loop {
        let templates = api.list(&ListParams::default()).await.unwrap().items;
        let lists = templates
            .iter()
            .filter_map(|template| template.status.as_ref()?.job_depends_on_list.clone());
        let mut listed: Vec<String> = lists.flatten().collect();
        listed.sort();
        if listed == jobs {
            return;
        }
        assert!(Instant::now() < deadline, "{listed:?}");
        sleep(Duration::from_millis(200)).await;
    }
}
