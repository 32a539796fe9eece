//! Wishes of people: they change the spec of exactly the flow that was looked at.

use serde_json::json;

use crate::world::World;

#[test]
fn a_flow_is_suspended_resumed_and_cancelled() {
    let world = World::new();
    world.flow("nightly", json!({ "state": { "phase": "Running" } }));
    let spec = || world.stored("nightly").unwrap()["spec"].clone();
    for (arguments, said, field, value) in [
        (vec!["suspend", "nightly"], "suspended", "suspend", json!(true)),
        (
            vec!["suspend", "nightly", "--running"],
            "suspended",
            "suspendRunning",
            json!(true),
        ),
        (vec!["resume", "nightly"], "resumed", "suspend", json!(null)),
        (
            vec!["cancel", "nightly", "--reason", "late"],
            "is being cancelled",
            "cancel",
            json!({ "mode": "Graceful", "reason": "late" }),
        ),
        (
            vec!["cancel", "nightly", "--now"],
            "is being cancelled",
            "cancel",
            json!({ "mode": "Now", "reason": "late" }),
        ),
    ] {
        let ran = world.run(&arguments);
        assert_eq!(
            (ran.code, ran.stdout),
            (0, format!("jobflow.flow.volcano.sh/nightly {said}\n")),
            "{}",
            ran.stderr
        );
        assert_eq!(spec()[field], value, "{arguments:?}");
    }
    assert_eq!(spec()["suspendRunning"], json!(null));
    let ran = world.run(&["cancel", "nightly"]);
    assert!(
        ran.code == 0 && ran.stdout.is_empty() && ran.stderr.contains("already"),
        "{ran:?}"
    );
    let ran = world.run(&["suspend", "nightly"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("it is being cancelled"),
        "{ran:?}"
    );
}

#[test]
fn an_ended_flow_can_not_be_changed_any_more() {
    let world = World::new();
    world.flow("nightly", json!({ "state": { "phase": "Failed" } }));
    let ran = world.run(&["cancel", "nightly"]);
    assert!(ran.code == 2 && ran.stderr.contains("it has ended"), "{ran:?}");
    let ran = world.run(&["cancel", "nihgtly"]);
    assert!(
        ran.code == 4 && ran.stderr.contains("no flow `nihgtly`"),
        "{ran:?}"
    );
}

#[test]
fn deleting_takes_the_jobs_along_and_can_be_waited_for() {
    let world = World::new();
    let flow = world.flow("nightly", json!(null));
    world.create(
        "batch.volcano.sh",
        json!({
            "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
            "metadata": { "name": "nightly-prepare", "ownerReferences": [{
                "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "nightly",
                "uid": flow.metadata.uid, "controller": true, "blockOwnerDeletion": true,
            }] },
            "spec": {},
        }),
    );
    let ran = world.run(&[
        "delete",
        "nightly",
        "none",
        "--cascade",
        "foreground",
        "--wait",
        "--timeout",
        "60s",
    ]);
    assert_eq!(ran.code, 4, "one of them wasn't there: {ran:?}");
    assert_eq!(
        ran.stdout,
        "jobflow.flow.volcano.sh/nightly deleted\njobflow.flow.volcano.sh/nightly is gone\n"
    );
    assert!(ran.stderr.contains("no flow `none`"), "{ran:?}");
    let job = world
        .runtime
        .block_on(world.api("batch.volcano.sh", "Job").get_opt("nightly-prepare"))
        .unwrap();
    assert!(job.is_none());
    assert_eq!(world.run(&["delete", "none", "--ignore-not-found"]).code, 0);
}
