//! Flows that really run: the driver of the controller, and the stand-in for Volcano with pods.

use std::sync::Arc;

use jobflow_k8s::client::{Driver, Settings};
use jobflow_test_cluster::User;
use jobflow_test_volcano::{Course, Options, PodCourse, PodEnd, Volcano};

use crate::applying::FLOW;
use crate::world::World;

/// A namespace in which flows run as long as this is held: the driver is a task of the world's runtime.
struct Running {
    world: World,
    _volcano: Volcano,
}

/// Pods of `train` end with this exit code.
fn running(code: i32) -> Running {
    let world = World::new().and("flow.yaml", &FLOW.replace("  suspend: true\n", ""));
    let namespace = world.namespace.clone();
    let course = move |asked: &jobflow_test_volcano::Asked<'_>| Course {
        pods: vec![PodCourse {
            ends: vec![PodEnd::Exits(if asked.name.ends_with("-train") {
                code
            } else {
                0
            })],
            ..PodCourse::default()
        }],
        ..Course::default()
    };
    let volcano = world.runtime.block_on(async {
        let options = Options {
            namespace: Some(namespace.clone()),
            pods: true,
            course: Arc::new(course),
            ..Options::default()
        };
        let mut settings = Settings::default();
        settings.namespaces.insert(namespace);
        let client = world.cluster.client(User::Admin).await.unwrap();
        tokio::spawn(Driver::new(client, settings).run());
        Volcano::start(world.cluster.client(User::Volcano).await.unwrap(), options)
            .await
            .unwrap()
    });
    Running {
        world,
        _volcano: volcano,
    }
}

#[test]
fn a_flow_that_succeeds_is_followed_from_submission_to_its_pods() {
    let running = running(0);
    let world = &running.world;
    let ran = world.run(&["submit", "flow.yaml", "--wait", "--timeout", "90s"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let last = ran.stdout.lines().last().unwrap();
    let name = last
        .strip_prefix("jobflow.flow.volcano.sh/")
        .and_then(|rest| rest.strip_suffix(" Succeed"))
        .unwrap();
    let tree = world.run(&["tree", name]).stdout;
    for part in [
        "prepare  Succeeded",
        &format!("job {name}-train  Completed"),
        "task main",
        &format!("pod {name}-train-main-0  Succeeded"),
    ] {
        assert!(tree.contains(part), "{part}: {tree}");
    }
    let described = world.run(&["describe", name]).stdout;
    assert!(
        described.contains("2/2") && described.contains("Complete"),
        "{described}"
    );
    let list = world.run(&["list", "--phase", "Succeed"]).stdout;
    assert!(list.contains(name) && list.contains("2/2"), "{list}");
}

#[test]
fn a_flow_that_fails_says_where_and_why() {
    let running = running(3);
    let world = &running.world;
    assert_eq!(world.run(&["apply", "flow.yaml"]).code, 0);
    let ran = world.run(&["watch", "nightly"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("] prepare: Succeeded\n"), "{ran:?}");
    assert!(ran.stdout.contains("] train: Failed (the job failed"), "{ran:?}");
    let ran = world.run(&["get", "nightly"]);
    assert!(ran.stdout.starts_with("nightly  Failed  2/2"), "{ran:?}");
    let json: serde_json::Value =
        serde_json::from_str(&world.run(&["get", "nightly", "-o", "json"]).stdout).unwrap();
    assert_eq!(json["status"]["state"]["phase"], "Failed");
}

#[test]
fn a_suspended_flow_waits_until_it_is_resumed() {
    let running = running(0);
    let world = &running.world;
    std::fs::write(world.path("flow.yaml"), FLOW).unwrap();
    assert_eq!(world.run(&["apply", "flow.yaml"]).code, 0);
    let ran = world.run(&["wait", "nightly", "--timeout", "2s"]);
    assert!(ran.code == 5 && ran.stderr.contains("it is Pending"), "{ran:?}");
    assert!(world.run(&["list"]).stdout.contains("Pending (suspended)"));
    assert_eq!(world.run(&["resume", "nightly"]).code, 0);
    assert_eq!(world.run(&["wait", "nightly", "--timeout", "90s"]).code, 0);
}

#[test]
fn a_cancelled_flow_ends_as_failed_with_that_reason() {
    let running = running(0);
    let world = &running.world;
    std::fs::write(world.path("flow.yaml"), FLOW).unwrap();
    assert_eq!(world.run(&["apply", "flow.yaml"]).code, 0);
    assert_eq!(
        world
            .run(&["cancel", "nightly", "--now", "--reason", "wrong data"])
            .code,
        0
    );
    assert_eq!(world.run(&["wait", "nightly", "--timeout", "90s"]).code, 1);
    let described = world.run(&["describe", "nightly"]).stdout;
    assert!(
        described.contains("Now: wrong data") && described.contains("FlowCancelled"),
        "{described}"
    );
}
