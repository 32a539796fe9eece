//! Logs come from pods, through the API server, from the node that they run on.

use jobflow_test_cluster::User;
use serde_json::{Value, json};

use crate::kubelet;
use crate::world::World;

struct Flow {
    world: World,
}

/// A flow that failed in `train`: one pod each of `prepare` and `train`, and one that broke.
fn flow() -> Flow {
    let world = World::new();
    let node = kubelet::node(&world);
    let flow = world.flow("nightly", json!({ "state": { "phase": "Failed" } }));
    let uid = flow.metadata.uid.unwrap();
    for (entry, attempt, code, container) in [
        ("prepare", 1, 0, "main"),
        ("train", 1, 1, "main"),
        ("report", 2, 0, "broken"),
    ] {
        let name = match attempt {
            1 => format!("nightly-{entry}"),
            attempt => format!("nightly-{entry}-r{attempt}"),
        };
        let job = world.create(
            "batch.volcano.sh",
            json!({
                "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
                "metadata": {
                    "name": name,
                    "labels": { "volcano.sh/createdByJobFlow": format!("{}.nightly", world.namespace) },
                    "annotations": { "flow.volcano.sh/node": format!("{entry}/0/{attempt}") },
                    "ownerReferences": [owner("flow.volcano.sh/v1alpha1", "JobFlow", "nightly", &uid)],
                },
                "spec": {},
            }),
        );
        world.create("", json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": format!("{name}-worker-0"),
                "labels": { "volcano.sh/job-name": name, "volcano.sh/task-spec": "worker" },
                "ownerReferences": [owner("batch.volcano.sh/v1alpha1", "Job", &name, &job.metadata.uid.unwrap())],
            },
            "spec": { "nodeName": node, "restartPolicy": "Never", "containers": [{ "name": container, "image": "x" }] },
            "status": { "phase": if code == 0 { "Succeeded" } else { "Failed" }, "containerStatuses": [{
                "name": container, "image": "x", "imageID": "", "ready": false, "restartCount": 0,
                "state": { "terminated": { "exitCode": code } },
            }] },
        }));
    }
    Flow { world }
}

fn owner(version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!({ "apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": true })
}

#[test]
fn logs_of_failed_pods_come_first_and_one_that_is_lost_hides_no_other() {
    let Flow { world } = flow();
    let ran = world.run_as(User::Admin, &["logs", "nightly", "--tail", "7"]);
    let labels: Vec<&str> = ran
        .stdout
        .lines()
        .filter_map(|line| line.split(']').next())
        .collect();
    assert_eq!(labels[0], "[train/worker/0 main", "{ran:?}");
    assert_eq!(labels.len(), 6, "{ran:?}");
    assert!(
        ran.stdout
            .contains("[train/worker/0 main] nightly-train-worker-0 main tailLines=7\n"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("[prepare/worker/0 main] no end\n"), "{ran:?}");
    assert!(
        ran.code == 3 && ran.stderr.contains("report/worker/0 broken attempt 2"),
        "{ran:?}"
    );
}

#[test]
fn the_log_of_one_is_exact_in_a_pipe() {
    let Flow { world } = flow();
    for arguments in [
        ["logs", "nightly", "prepare"],
        ["logs", "nightly", "prepare/worker/0"],
    ] {
        let ran = world.run_as(User::Admin, &arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "nightly-prepare-worker-0 main \n\u{1b}[31mred\nno end"),
            "{}",
            ran.stderr
        );
    }
    let ran = world.run_as(User::Admin, &["logs", "nightly", "prepare", "-f"]);
    assert!(
        ran.code == 0
            && ran
                .stdout
                .starts_with("nightly-prepare-worker-0 main follow=true\n"),
        "an ended flow is read to its end: {ran:?}"
    );
}

#[test]
fn what_is_not_there_is_said() {
    let Flow { world } = flow();
    for (arguments, code, said) in [
        (vec!["logs", "nightly", "prepaer"], 2, "did you mean `prepare`?"),
        (vec!["logs", "nightly", "prepare/worker/x"], 2, "NODE/TASK/INDEX"),
        (
            vec!["logs", "nightly", "-c", "side"],
            2,
            "there are: broken, main",
        ),
        (
            vec!["logs", "nightly", "--previous"],
            0,
            "no container has been restarted",
        ),
        (
            vec!["logs", "nightly", "prepare", "--attempt", "4"],
            0,
            "nothing to show of prepare",
        ),
        (vec!["logs", "none"], 4, "there is no flow `none`"),
    ] {
        let ran = world.run_as(User::Admin, &arguments);
        assert!(
            ran.code == code && ran.stderr.contains(said),
            "{arguments:?} {ran:?}"
        );
    }
}
