//! `why`, `plan --against` and `diff`: what holds up the entries of a flow, and what an edit would change.

use jobflow_test_cluster::User;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use crate::world::World;

fn inline() -> Value {
    json!({ "minAvailable": 1, "tasks": [{ "name": "main", "replicas": 1, "template": { "spec": {
        "restartPolicy": "Never", "containers": [{ "name": "main", "image": "x" }],
    } } }] })
}

/// A flow of which each thing that can hold an entry up holds one.
fn zoo(queue: &str) -> Value {
    let entry = |name: &str| json!({ "name": name, "jobSpec": inline() });
    let after = |name: &str, depends: Value| {
        let mut entry = entry(name);
        entry["dependsOn"] = depends;
        entry
    };
    let mut closed = entry("closed");
    closed["jobSpec"]["queue"] = queue.into();
    let probe = json!({ "tcpSocketList": [{ "port": 8080 }] });
    json!({
        "parallelism": 6,
        "queue": queue.replace("gold", "open"),
        "flows": [
            entry("running"),
            after("waits", json!({ "targets": ["running"] })),
            after("probed", json!({ "targets": ["running"], "probe": probe })),
            entry("limited"),
            entry("quota"),
            closed,
            entry("gang"),
            entry("nodes"),
            entry("image"),
        ],
    })
}

fn nodes() -> Value {
    let live = |name: &str, phase: &str| json!({ "name": name, "phase": phase, "startTime": "2026-01-01T00:00:00Z", "uid": "" });
    let held =
        |name: &str, phase: &str, reason: &str| json!({ "name": name, "phase": phase, "reason": reason });
    let mut quota = held("quota", "Submitting", "QuotaExceeded");
    quota["message"] = "exceeded quota: jobs".into();
    let mut closed = held("closed", "Submitting", "QueueUnavailable");
    closed["message"] = "can only submit job to queue with state `Open`".into();
    let mut running = live("running", "Running");
    running["tasks"] = json!({ "main": { "replicas": 1, "running": 1 } });
    running["startedSince"] = "2026-01-01T00:00:00Z".into();
    json!([
        running,
        { "name": "waits", "waitingFor": ["running"] },
        { "name": "probed", "waitingFor": ["running"], "message": "running refuses the connection" },
        held("limited", "Blocked", "ParallelismLimit"),
        quota,
        closed,
        live("gang", "Queued"),
        live("nodes", "Queued"),
        live("image", "Queued"),
    ])
}

/// Makes an object of a kind that the world has no shorter way for, with its status.
fn put(world: &World, (group, version): (&str, &str), namespaced: bool, object: &Value) {
    let kind = GroupVersionKind::gvk(group, version, object["kind"].as_str().unwrap());
    let resource = ApiResource::from_gvk(&kind);
    world.runtime.block_on(async {
        let client = world.cluster.client(User::Admin).await.unwrap();
        let api: Api<DynamicObject> = match namespaced {
            true => Api::namespaced_with(client, &world.namespace, &resource),
            false => Api::all_with(client, &resource),
        };
        let made: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        api.create(&PostParams::default(), &made).await.unwrap();
        let patch = Patch::Merge(json!({ "status": object["status"] }));
        let name = object["metadata"]["name"].as_str().unwrap();
        api.patch_status(name, &PatchParams::default(), &patch)
            .await
            .unwrap();
    });
}

fn owned(kind: &str, name: &str, uid: &str) -> Value {
    let group = if kind == "Job" { "batch" } else { "flow" };
    json!([{ "apiVersion": format!("{group}.volcano.sh/v1alpha1"), "kind": kind, "name": name, "uid": uid, "controller": true }])
}

/// The Job of an entry; its UID.
fn job(world: &World, flow: &str, entry: &str, phase: &str) -> String {
    let mut status = json!({ "state": { "phase": phase } });
    if phase == "Running" {
        status["running"] = 1.into();
        status["taskStatusCount"] = json!({ "main": { "phase": { "Running": 1 } } });
    }
    let job = world.create(
        "batch.volcano.sh",
        json!({
            "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
            "metadata": {
                "name": format!("zoo-{entry}"),
                "labels": { "volcano.sh/createdByJobFlow": format!("{}.zoo", world.namespace) },
                "annotations": { "flow.volcano.sh/node": format!("{entry}/0/1") },
                "ownerReferences": owned("JobFlow", "zoo", flow),
            },
            "spec": inline(), "status": status,
        }),
    );
    job.metadata.uid.unwrap()
}

fn pod(world: &World, entry: &str, job: &str, status: &Value) {
    world.create(
        "",
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": format!("zoo-{entry}-main-0"),
                "labels": { "volcano.sh/job-name": format!("zoo-{entry}") },
                "ownerReferences": owned("Job", &format!("zoo-{entry}"), job),
            },
            "spec": { "restartPolicy": "Never", "containers": [{ "name": "main", "image": "x" }] },
            "status": status,
        }),
    );
}

fn populated() -> World {
    let world = World::new();
    let queue = format!("gold-{}", world.namespace);
    let flow = world.create("flow.volcano.sh", json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "zoo" }, "spec": zoo(&queue),
    }));
    let uid = flow.metadata.uid.unwrap();
    let mut records = nodes();
    for entry in ["running", "gang", "nodes", "image"] {
        let phase = if entry == "running" { "Running" } else { "Pending" };
        let job = job(&world, &uid, entry, phase);
        for record in records.as_array_mut().unwrap() {
            if record["name"] == entry {
                record["uid"] = job.as_str().into();
            }
        }
        match entry {
            "running" => pod(&world, entry, &job, &json!({ "phase": "Running" })),
            "nodes" => pod(
                &world,
                entry,
                &job,
                &json!({ "phase": "Pending", "conditions": [{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu.",
            }] }),
            ),
            "image" => pod(
                &world,
                entry,
                &job,
                &json!({ "phase": "Pending", "containerStatuses": [{
                "name": "main", "image": "x", "imageID": "", "ready": false, "restartCount": 0,
                "state": { "waiting": { "reason": "ImagePullBackOff", "message": "Back-off pulling image \"x\"" } },
            }] }),
            ),
            _ => put(
                &world,
                ("scheduling.volcano.sh", "v1beta1"),
                true,
                &json!({
                    "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                    "metadata": { "name": format!("zoo-gang-{job}"), "ownerReferences": owned("Job", "zoo-gang", &job) },
                    "spec": { "minMember": 1 },
                    "status": { "phase": "Inqueue", "conditions": [{
                        "type": "Unschedulable", "status": "True", "reason": "NotEnoughResources",
                        "message": "1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable",
                        "transitionID": "1", "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }] },
                }),
            ),
        }
    }
    let full = json!({ "count/jobs.batch.volcano.sh": "4" });
    put(
        &world,
        ("", "v1"),
        true,
        &json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": "jobs" },
            "spec": { "hard": full }, "status": { "hard": full, "used": full },
        }),
    );
    for (queue, state) in [(queue.replace("gold", "open"), "Open"), (queue, "Closed")] {
        put(
            &world,
            ("scheduling.volcano.sh", "v1beta1"),
            false,
            &json!({
                "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": { "name": queue },
                "spec": {}, "status": { "state": state },
            }),
        );
    }
    put(
        &world,
        ("scheduling.volcano.sh", "v1beta1"),
        true,
        &json!({
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": { "name": "somebody-elses" },
            "spec": { "minMember": 1 }, "status": { "phase": "Pending" },
        }),
    );
    let status = json!({
        "state": { "phase": "Running" }, "observedGeneration": 1, "startTime": "2026-01-01T00:00:00Z", "nodes": records,
    });
    world.set_status("zoo", &status);
    world
}

/// The same text whenever it was asked.
fn without_times(world: &World, text: &str, uid: &str) -> String {
    let is_span = |word: &str| {
        let units = word
            .chars()
            .filter(|c| matches!(c, 's' | 'm' | 'h' | 'd'))
            .count();
        let digits = word.chars().filter(char::is_ascii_digit).count();
        units > 0 && digits > 0 && units + digits == word.chars().count()
    };
    let word = |word: &str| {
        let bare = word.trim_end_matches([',', ';', ')', ':']);
        if is_span(bare) {
            word.replace(bare, "TIME")
        } else {
            word.to_owned()
        }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n";
    let text: String = text.lines().map(line).collect();
    world.steady(&text).replace(uid, "UID")
}

#[test]
fn everything_that_holds_an_entry_up_is_told_with_what_would_let_it_go_on() {
    let world = populated();
    let uid = world.stored("zoo").unwrap()["metadata"]["uid"]
        .as_str()
        .unwrap()
        .to_owned();
    let ran = world.run_as(User::Admin, &["why", "zoo"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    insta::assert_snapshot!("why", without_times(&world, &ran.stdout, &uid));
    let close = world.run_as(User::Admin, &["explain", "zoo", "probed"]).stdout;
    insta::assert_snapshot!("why_of_one", without_times(&world, &close, &uid));
    let json: Value = serde_json::from_str(
        &world
            .run_as(User::Admin, &["why", "zoo", "image", "-o", "json"])
            .stdout,
    )
    .unwrap();
    assert_eq!(
        json["nodes"][0]["chain"][0]["notes"][0],
        "pod zoo-image-main-0: container main: ImagePullBackOff: Back-off pulling image \"x\""
    );
    let ran = world.run_as(User::Admin, &["why", "zoo", "imgae"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("did you mean `image`?"),
        "{ran:?}"
    );
}

#[test]
fn what_may_not_be_looked_at_is_said_and_the_rest_is_told() {
    let world = populated();
    let ran = world.run(&["why", "zoo"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "waits: Waiting; waits for running",
        "image: Queued; pod zoo-image-main-0: container main: ImagePullBackOff",
        "limited: Blocked; as many jobs run as may",
        "quota: Submitting; QuotaExceeded; exceeded quota: jobs",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    for kind in ["podgroups", "queues", "resourcequotas"] {
        assert!(
            ran.stderr.contains("not looked at: ") && ran.stderr.contains(kind),
            "{kind}: {}",
            ran.stderr
        );
    }
}

#[test]
fn a_flow_that_can_not_go_on_as_a_whole_says_why() {
    let world = World::new();
    world.flow("unseen", json!(null));
    let ran = world.run(&["why", "unseen"]);
    assert!(
        ran.code == 3
            && ran
                .stderr
                .contains("no controller of jobflow has looked at flow `unseen` yet"),
        "{ran:?}"
    );
    world.create(
        "flow.volcano.sh",
        json!({
            "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "circle" },
            "spec": { "flows": [{ "name": "a", "dependsOn": { "targets": ["b"] } }] },
            "status": { "state": { "phase": "Failed" }, "observedGeneration": 1, "nodes": [] },
        }),
    );
    let ran = world.run(&["why", "circle"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains("its spec can't be used:\n") && ran.stdout.contains("the flow has no entry `b`"),
        "{ran:?}"
    );
    world.create(
        "flow.volcano.sh",
        json!({
            "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "held" },
            "spec": { "suspend": true, "flows": [{ "name": "a", "jobSpec": inline() }] },
            "status": {
                "state": { "phase": "Pending" }, "observedGeneration": 1,
                "nodes": [{ "name": "a", "phase": "Blocked", "reason": "Suspended" }],
            },
        }),
    );
    let ran = world.run(&["why", "held"]);
    assert!(
        ran.stdout.ends_with(
            "a: Blocked; the flow is suspended\n  goes on: when it is resumed: kubectl jobflow resume held\n"
        ),
        "{ran:?}"
    );
    world.create(
        "flow.volcano.sh",
        json!({
            "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "lost" },
            "spec": { "flows": [{ "name": "a", "template": "nowhere" }] },
            "status": {
                "state": { "phase": "Pending" }, "observedGeneration": 1,
                "nodes": [{ "name": "a", "phase": "Blocked", "reason": "TemplateNotFound" }],
            },
        }),
    );
    let ran = world.run(&["why", "lost"]);
    assert!(
        ran.stdout.ends_with(
            "a: Blocked; there is no such template\n  goes on: when there is a JobTemplate `nowhere`\n"
        ),
        "{ran:?}"
    );
}

const FLOW: &str = "\
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: nightly}
spec:
  flows:
    - {name: prepare}
    - {name: train, dependsOn: {targets: [prepare]}}
    - {name: report, dependsOn: {targets: [train]}, jobSpec: {tasks: [{name: main, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}]}}
";

fn template(world: &World, name: &str, replicas: u32) {
    let mut spec = inline();
    spec["minAvailable"] = replicas.into();
    spec["tasks"][0]["replicas"] = replicas.into();
    world.create("flow.volcano.sh", json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": { "name": name }, "spec": spec,
    }));
}

#[test]
fn a_plan_takes_templates_from_the_cluster() {
    let world = World::new().and("flow.yaml", FLOW);
    template(&world, "prepare", 1);
    template(&world, "train", 3);
    let offline = world.run(&["plan", "flow.yaml"]);
    assert!(
        offline.stderr.contains("note: `train` is not in these manifests"),
        "{offline:?}"
    );
    insta::assert_snapshot!(
        "plan_against",
        world.run(&["plan", "flow.yaml", "--against"]).shown(&world)
    );
    let jobs = world
        .run(&["plan", "flow.yaml", "--against", "-o", "yaml"])
        .stdout;
    assert!(
        jobs.contains("name: nightly-train\n") && jobs.contains("replicas: 3\n"),
        "{jobs}"
    );
    let elsewhere = world.bare(&["plan", "flow.yaml"]).output().unwrap();
    assert!(
        elsewhere.status.success(),
        "without --against no server is asked: {elsewhere:?}"
    );
}

#[test]
fn a_diff_tells_what_becomes_of_each_change_where_the_flow_stands() {
    let world = World::new().and("flow.yaml", FLOW);
    let ran = world.run(&["diff", "flow.yaml"]);
    assert!(
        ran.code == 1 && ran.stderr.contains("flow `nightly` is not in namespace `"),
        "{ran:?}"
    );
    assert_eq!(world.run(&["apply", "flow.yaml"]).code, 0);
    let ran = world.run(&["diff", "flow.yaml"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "nightly: no differences\n"),
        "{ran:?}"
    );
    world.set_status("nightly", &json!({
        "state": { "phase": "Running" }, "observedGeneration": 1,
        "nodes": [{ "name": "prepare", "phase": "Succeeded" }, { "name": "train", "phase": "Running", "uid": "1" }],
    }));
    let edited = FLOW
        .replace("{name: prepare}", "{name: prepare, allowFailure: true}")
        .replace(
            "{name: train, dependsOn",
            "{name: train, timeoutSeconds: 9, dependsOn",
        )
        .replace("image: x", "image: other")
        + "    - {name: extra}\n";
    std::fs::write(world.path("flow.yaml"), edited).unwrap();
    insta::assert_snapshot!("diff", world.run(&["diff", "flow.yaml"]).shown(&world));
}
