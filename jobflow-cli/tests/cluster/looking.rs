//! What is shown of flows, and that nothing in them harms who looks.

use jobflow_test_cluster::User;
use kube::api::PostParams;
use serde_json::{Value, json};

use crate::world::World;

fn status() -> Value {
    json!({
        "state": { "phase": "Failed" },
        "observedGeneration": 1,
        "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:10:00Z",
        "progress": "3/3", "summary": { "total": 3, "succeeded": 1, "failed": 1, "skipped": 1 },
        "cause": { "node": "train", "reason": "JobFailed" },
        "flowConditions": [{ "type": "Failed", "status": "True", "reason": "JobFailed", "message": "train failed",
                             "lastTransitionTime": "2020-01-01T00:00:00Z" }],
        "nodes": [
            { "name": "prepare", "phase": "Succeeded", "startTime": "2026-01-01T00:00:00Z", "finishTime": "2026-01-01T00:01:00Z" },
            { "name": "train", "phase": "Failed", "reason": "JobFailed", "exitCode": 137, "attempt": 2,
              "message": "1 of 4 pods failed", "tasks": { "worker": { "replicas": 4, "succeeded": 3, "failed": 1 } },
              "attempts": [{ "attempt": 1, "reason": "Timeout", "startTime": "2026-01-01T00:01:00Z", "finishTime": "2026-01-01T00:03:00Z" }],
              "startTime": "2026-01-01T00:03:00Z", "finishTime": "2026-01-01T00:10:00Z" },
            { "name": "report", "phase": "Skipped", "reason": "UpstreamFailed", "cause": { "node": "train", "reason": "JobFailed" } },
        ],
    })
}

/// Ages and other times that pass, taken out.
fn without_ages(text: &str) -> String {
    let is_age = |word: &str| {
        let units = word
            .chars()
            .filter(|c| matches!(c, 's' | 'm' | 'h' | 'd'))
            .count();
        let digits = word.chars().filter(char::is_ascii_digit).count();
        units > 0 && digits > 0 && units + digits == word.chars().count()
    };
    let line = |line: &str| {
        let words: Vec<&str> = line
            .split_whitespace()
            .map(|word| if is_age(word) { "TIME" } else { word })
            .collect();
        words.join(" ") + "\n"
    };
    text.lines().map(line).collect()
}

#[test]
fn flows_are_listed_and_chosen() {
    let world = World::new();
    world.flow("nightly", status());
    world.flow("weekly", json!(null));
    let text = world.run(&["list"]).stdout;
    assert_eq!(
        without_ages(&text),
        "NAME PHASE PROGRESS RUNNING FAILED AGE\nnightly Failed 3/3 0 1 TIME\nweekly Pending 0/3 0 0 TIME\n"
    );
    let text = world.run(&["list", "-o", "wide", "--phase", "failed"]).stdout;
    assert!(
        without_ages(&text).contains("nightly Failed 3/3 0 1 TIME TIME train: the job failed\n"),
        "{text}"
    );
    let names = |arguments: &[&str]| world.run(&[&["list", "-o", "name"], arguments].concat()).stdout;
    assert_eq!(names(&["--queue", "default"]).lines().count(), 2);
    assert_eq!(names(&["--queue", "gpu"]), "");
    assert_eq!(names(&["-l", "team=a"]), "");
    let ran = world.run(&["list", "--phase", "Running"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.starts_with("no flows in namespace"), "{ran:?}");
    let list: Value = serde_json::from_str(&world.run(&["list", "-o", "json"]).stdout).unwrap();
    assert_eq!(list["items"][1]["metadata"]["name"], "weekly");
    assert_eq!(list["items"][1]["kind"], "JobFlow");
    let all = world.run_as(User::Admin, &["describe", "nightly"]).code;
    assert_eq!(all, 0);
}

#[test]
fn a_template_decides_the_queue_where_nothing_nearer_does() {
    let world = World::new();
    world.flow("nightly", json!(null));
    world.create(
        "flow.volcano.sh",
        json!({
            "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate",
            "metadata": { "name": "train" }, "spec": { "queue": "gpu", "tasks": [] },
        }),
    );
    let ran = world.run(&["list", "--queue", "gpu", "-o", "name"]);
    assert_eq!(ran.stdout, "jobflow.flow.volcano.sh/nightly\n", "{ran:?}");
}

#[test]
fn more_flows_than_fit_an_answer_are_all_listed() {
    let world = World::new();
    let api = world.flows();
    world.runtime.block_on(async {
        let create = |number: usize| {
            let flow = json!({ "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": format!("f-{number}") }, "spec": {} });
            let api = &api;
            async move { api.create(&PostParams::default(), &serde_json::from_value(flow).unwrap()).await.unwrap() }
        };
        use futures::StreamExt;
        let made = futures::stream::iter(0..501).map(create).buffer_unordered(20);
        assert_eq!(made.count().await, 501);
    });
    assert_eq!(world.run(&["list", "-o", "name"]).stdout.lines().count(), 501);
}

#[test]
fn one_flow_is_shown_and_described() {
    let world = World::new();
    world.flow("nightly", status());
    insta::assert_snapshot!("got", world.run(&["get", "nightly"]).shown(&world));
    let described = world.run(&["describe", "nightly"]);
    let steady: String = described
        .stdout
        .lines()
        .filter(|line| !line.starts_with("Created:"))
        .map(|line| format!("{line}\n"))
        .collect();
    insta::assert_snapshot!("described", without_ages(&world.steady(&steady)));
    world.flow("untouched", json!(null));
    let described = without_ages(&world.run(&["describe", "untouched"]).stdout);
    assert!(
        described
            .contains("WAITS FOR MESSAGE\nprepare Waiting\ntrain Waiting prepare\nreport Waiting train\n"),
        "{described}"
    );
    let yaml = world.run(&["get", "nightly", "-o", "yaml"]).stdout;
    assert!(
        yaml.contains("kind: JobFlow\n") && !yaml.contains("managedFields"),
        "{yaml}"
    );
}

#[test]
fn a_tree_leads_from_the_flow_to_its_pods() {
    let world = World::new();
    let flow = world.flow("nightly", status());
    family(&world, flow.metadata.uid.as_deref().unwrap());
    insta::assert_snapshot!("tree", world.run(&["tree", "nightly"]).shown(&world));
    let tree: Value = serde_json::from_str(&world.run(&["tree", "nightly", "-o", "json"]).stdout).unwrap();
    assert_eq!(
        tree["nodes"][1]["jobs"][1]["tasks"][0]["pods"][1]["reason"],
        "OOMKilled, exit code 137"
    );
}

/// Two attempts of `train`, two pods of the second; and what only looks as if it belonged to them.
fn family(world: &World, uid: &str) {
    let other = world.flow("weekly", json!(null)).metadata.uid.unwrap();
    let mut second = String::new();
    for (name, attempt, phase, uid) in [
        ("nightly-train", 1, "Failed", uid),
        ("nightly-train-r2", 2, "Failed", uid),
        ("nightly-foreign", 1, "Running", other.as_str()),
    ] {
        let job = world.create("batch.volcano.sh", json!({
            "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
            "metadata": {
                "name": name,
                "labels": { "volcano.sh/createdByJobFlow": format!("{}.nightly", world.namespace) },
                "annotations": { "flow.volcano.sh/node": format!("train/0/{attempt}") },
                "ownerReferences": [{ "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "nightly", "uid": uid, "controller": true }],
            },
            "spec": {}, "status": { "state": { "phase": phase } },
        }));
        if name == "nightly-train-r2" {
            second = job.metadata.uid.unwrap();
        }
    }
    for (index, phase, code) in [(0, "Succeeded", 0), (1, "Failed", 137)] {
        pod(world, &second, index, phase, code);
    }
}

fn pod(world: &World, job: &str, index: u32, phase: &str, code: i32) {
    let reason = if code == 0 { "Completed" } else { "OOMKilled" };
    world.create("", json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("nightly-train-r2-worker-{index}"),
            "labels": { "volcano.sh/job-name": "nightly-train-r2", "volcano.sh/task-spec": "worker" },
            "ownerReferences": [{ "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "nightly-train-r2", "uid": job, "controller": true }],
        },
        "spec": { "restartPolicy": "Never", "containers": [{ "name": "main", "image": "x" }] },
        "status": { "phase": phase, "containerStatuses": [{ "name": "main", "image": "x", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "terminated": { "exitCode": code, "reason": reason } } }] },
    }));
}

#[test]
fn nothing_in_a_flow_harms_a_terminal() {
    let world = World::new();
    let evil = "\u{1b}]0;x\u{7}\u{202e}\u{9b}31m";
    let mut status = status();
    status["nodes"][1]["message"] = evil.into();
    status["flowConditions"][0]["message"] = evil.into();
    world.flow("nightly", status);
    for arguments in [
        vec!["list", "-o", "wide"],
        vec!["list", "-o", "json"],
        vec!["list", "-o", "yaml"],
        vec!["get", "nightly"],
        vec!["get", "nightly", "-o", "yaml"],
        vec!["describe", "nightly"],
        vec!["tree", "nightly"],
        vec!["watch", "nightly"],
        vec!["watch", "nightly", "-o", "json"],
    ] {
        let ran = world.run(&arguments);
        assert!(!ran.stdout.is_empty(), "{arguments:?} {}", ran.stderr);
        let harmful = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!(ran.stdout + &ran.stderr).contains(harmful), "{arguments:?}");
    }
}

#[test]
fn a_flow_that_can_not_be_read_hides_no_other() {
    let world = World::new();
    world.flow("weekly", json!(null));
    world.flow(
        "broken",
        json!({ "jobStatusList": [{ "name": "a", "state": "Running" }], "state": { "phase": "Running" } }),
    );
    let ran = world.run(&["list"]);
    assert_eq!(ran.stdout.lines().count(), 3, "{ran:?}");
    let ran = world.run(&["get", "none"]);
    assert!(
        ran.code == 4 && ran.stderr.contains("kubectl jobflow list"),
        "{ran:?}"
    );
}
