//! What tests ask of the stand-in beside what recordings show.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::Span;
use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Course, Detail, Options, PodCourse, PodEnd, Volcano};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

struct World {
    namespace: String,
    client: Client,
    volcano: Volcano,
}

impl World {
    async fn new(options: Options) -> Self {
        let cluster = ControlPlane::shared().unwrap();
        let namespace = cluster.namespace("jobs").await.unwrap();
        let client = cluster.client(User::Volcano).await.unwrap();
        let options = Options {
            namespace: Some(namespace.clone()),
            ..options
        };
        let volcano = Volcano::start(client.clone(), options).await.unwrap();
        Self {
            namespace,
            client,
            volcano,
        }
    }

    fn jobs(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job");
        Api::namespaced_with(
            self.client.clone(),
            &self.namespace,
            &ApiResource::from_gvk(&kind),
        )
    }

    async fn create(&self, name: &str, annotations: Value) {
        let job = serde_json::from_value(job(name, annotations)).unwrap();
        self.jobs().create(&PostParams::default(), &job).await.unwrap();
    }

    async fn phase(&self, name: &str) -> Option<String> {
        let job = self.jobs().get_opt(name).await.unwrap()?;
        Some(
            job.data["status"]["state"]["phase"]
                .as_str()
                .unwrap_or("")
                .to_owned(),
        )
    }

    async fn comes_to(&self, name: &str, phase: Option<&str>) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let present = self.phase(name).await;
            if present.as_deref() == phase {
                return;
            }
            let complaints = self.volcano.complaints();
            assert!(Instant::now() < deadline, "{name} is {present:?}, {complaints:?}");
            sleep(Duration::from_millis(20)).await;
        }
    }
}

fn job(name: &str, annotations: Value) -> Value {
    let container = json!({ "name": "main", "image": "busybox", "command": ["true"] });
    let template = json!({ "spec": { "restartPolicy": "Never", "containers": [container] } });
    json!({
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": { "name": name, "annotations": annotations },
        "spec": { "minAvailable": 1, "tasks": [{ "name": "main", "replicas": 1, "template": template }] },
    })
}

fn by_name(courses: &[(&str, Course)]) -> Options {
    let courses: BTreeMap<String, Course> = courses
        .iter()
        .map(|(name, course)| ((*name).to_owned(), course.clone()))
        .collect();
    Options {
        course: Arc::new(move |asked| courses.get(asked.name).cloned().unwrap_or_default()),
        ..Options::default()
    }
}

#[tokio::test]
async fn each_job_does_what_the_test_says() {
    let pods = |ends: PodEnd| {
        Course::of(PodCourse {
            ends: vec![ends],
            ..PodCourse::default()
        })
    };
    let never_scheduled = Course {
        admitted_after: None,
        ..Course::default()
    };
    let world = World::new(by_name(&[
        ("fails", pods(PodEnd::Exits(3))),
        ("goes-on", pods(PodEnd::Never)),
        ("waits", never_scheduled),
    ]))
    .await;
    for name in ["well", "fails", "goes-on", "waits"] {
        world.create(name, json!({})).await;
    }
    world.comes_to("well", Some("Completed")).await;
    world.comes_to("fails", Some("Failed")).await;
    world.comes_to("goes-on", Some("Running")).await;
    world.comes_to("waits", Some("Pending")).await;
    assert_eq!(world.volcano.complaints(), [""; 0]);
}

#[tokio::test]
async fn annotations_win_and_a_job_can_disappear() {
    let world = World::new(Options::default()).await;
    world
        .create("gone", json!({ "run/disappears-after": "200ms" }))
        .await;
    world
        .create("waits", json!({ "run/admitted-after": "never" }))
        .await;
    world.comes_to("gone", None).await;
    world.comes_to("waits", Some("Pending")).await;
}

#[tokio::test]
async fn a_failed_pod_shows_its_exit_code_and_a_pod_that_is_deleted_comes_back() {
    let course = Course::of(PodCourse {
        ends: vec![PodEnd::Never, PodEnd::Exits(42)],
        ..PodCourse::default()
    });
    let options = Options {
        pods: true,
        ..by_name(&[("job", course)])
    };
    let world = World::new(options).await;
    world.create("job", json!({})).await;
    world.comes_to("job", Some("Running")).await;
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), &world.namespace);
    let first = pods.get("job-main-0").await.unwrap();
    pods.delete("job-main-0", &Default::default()).await.unwrap();
    world.comes_to("job", Some("Failed")).await;
    let second = pods.get("job-main-0").await.unwrap();
    assert_ne!(first.uid(), second.uid());
    let status = serde_json::to_value(second.status.unwrap()).unwrap();
    assert_eq!(
        status["containerStatuses"][0]["state"]["terminated"]["exitCode"],
        42
    );
    assert_eq!(second.metadata.labels.unwrap()["volcano.sh/job-name"], "job");
}

#[tokio::test]
async fn a_job_in_a_queue_that_comes_later_waits_for_it() {
    let world = World::new(Options::default()).await;
    let queue = format!("late-{}", world.namespace);
    let mut late = job("late", json!({}));
    late["spec"]["queue"] = queue.as_str().into();
    let late = serde_json::from_value(late).unwrap();
    world.jobs().create(&PostParams::default(), &late).await.unwrap();
    sleep(Duration::from_millis(500)).await;
    world.comes_to("late", Some("")).await;
    let kind = GroupVersionKind::gvk("scheduling.volcano.sh", "v1beta1", "Queue");
    let resource = ApiResource::from_gvk(&kind);
    let queues: Api<DynamicObject> = Api::all_with(world.client.clone(), &resource);
    let queue = DynamicObject::new(&queue, &resource).data(json!({ "spec": { "weight": 1 } }));
    queues.create(&PostParams::default(), &queue).await.unwrap();
    world.comes_to("late", Some("Completed")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_jobs_side_by_side_all_end() {
    let count: usize = std::env::var("JOBS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(150);
    let options = Options {
        detail: Detail::Phases,
        course: Arc::new(|_| Course::of(PodCourse::exits(Span(100), 0))),
        ..Options::default()
    };
    let world = World::new(options).await;
    let began = Instant::now();
    let creates = (0..count).map(|number| {
        let (jobs, job) = (world.jobs(), job(&format!("many-{number}"), json!({})));
        async move {
            jobs.create(&PostParams::default(), &serde_json::from_value(job).unwrap())
                .await
                .map(drop)
        }
    });
    futures::future::try_join_all(creates).await.unwrap();
    let created = began.elapsed();
    let ended = || async {
        let list = world.jobs().list(&ListParams::default()).await.unwrap();
        let ended = |job: &&DynamicObject| job.data["status"]["state"]["phase"] == "Completed";
        list.items.iter().filter(ended).count()
    };
    while ended().await < count {
        let complaints = world.volcano.complaints();
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "{} of {count} ended, {complaints:?}",
            ended().await
        );
        sleep(Duration::from_millis(100)).await;
    }
    println!(
        "{count} Jobs created in {created:?}, ended after {:?}",
        began.elapsed()
    );
    assert_eq!(world.volcano.complaints(), [""; 0]);
}
