//! `wait` and `watch` end, whatever becomes of the flow.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use jobflow_test_cluster::User;
use serde_json::{Value, json};

use crate::world::World;

fn phase(phase: &str) -> Value {
    json!({ "state": { "phase": phase } })
}

#[test]
fn an_end_that_was_is_told_at_once() {
    let world = World::new();
    world.flow("good", phase("Succeed"));
    world.flow("bad", phase("Failed"));
    world.flow("runs", phase("Running"));
    for (arguments, code, said) in [
        (vec!["wait", "good"], 0, "jobflow.flow.volcano.sh/good Succeed\n"),
        (vec!["wait", "bad"], 1, "jobflow.flow.volcano.sh/bad Failed\n"),
        (
            vec!["wait", "bad", "--for", "phase=Failed"],
            0,
            "jobflow.flow.volcano.sh/bad Failed\n",
        ),
        (
            vec!["wait", "good", "--for", "phase=Running"],
            1,
            "jobflow.flow.volcano.sh/good Succeed\n",
        ),
        (
            vec!["wait", "jf/runs", "--for", "phase=running"],
            0,
            "jobflow.flow.volcano.sh/runs Running\n",
        ),
        (
            vec!["wait", "none", "--for", "delete"],
            0,
            "jobflow.flow.volcano.sh/none is gone\n",
        ),
        (vec!["wait", "none"], 4, ""),
        (vec!["wait", "runs", "--timeout", "300ms"], 5, ""),
        (vec!["wait", "runs", "--for", "phase=Done"], 2, ""),
    ] {
        let ran = world.run(&arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (code, said),
            "{arguments:?} {}",
            ran.stderr
        );
    }
}

/// Runs the plugin, does something once it has begun, and answers how it ended.
fn meanwhile(world: &World, arguments: &[&str], act: impl FnOnce()) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-jobflow"))
        .env_clear()
        .env("KUBECONFIG", world.cluster.kubeconfig(User::TenantA))
        .args(arguments)
        .args(["-n", &world.namespace])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    act();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), text)
}

#[test]
fn waiting_ends_when_the_flow_is_deleted_or_another_takes_its_name() {
    let world = World::new();
    world.flow("nightly", phase("Running"));
    let (code, _) = meanwhile(&world, &["wait", "nightly", "--timeout", "60s"], || {
        assert_eq!(world.run(&["delete", "nightly"]).code, 0);
        world.flow("nightly", phase("Running"));
    });
    assert_eq!(code, 4);
}

#[test]
fn waiting_ends_when_the_flow_does() {
    let world = World::new();
    world.flow("nightly", phase("Pending"));
    let (code, text) = meanwhile(&world, &["wait", "nightly", "--timeout", "60s"], || {
        world.set_status("nightly", &phase("Running"));
        world.set_status("nightly", &phase("Succeed"));
    });
    assert_eq!(
        (code, text.as_str()),
        (0, "jobflow.flow.volcano.sh/nightly Succeed\n")
    );
}

#[test]
fn a_watch_in_a_pipe_is_a_line_a_change_and_the_result() {
    let world = World::new();
    let node = |name: &str, phase: &str| json!({ "name": name, "phase": phase });
    let status = |phase: &str, nodes: Vec<Value>| json!({ "state": { "phase": phase }, "startTime": "2026-01-01T00:00:00Z", "nodes": nodes });
    world.flow("nightly", status("Running", vec![node("prepare", "Running")]));
    let (code, text) = meanwhile(&world, &["watch", "nightly"], || {
        world.set_status(
            "nightly",
            &status(
                "Running",
                vec![node("prepare", "Succeeded"), node("train", "Running")],
            ),
        );
        let failed = json!({ "name": "train", "phase": "Failed", "reason": "JobFailed", "exitCode": 3, "message": "\u{1b}[2Jx" });
        let skipped = json!({ "name": "report", "phase": "Skipped", "reason": "UpstreamFailed", "cause": { "node": "train" } });
        let mut last = status("Failed", vec![node("prepare", "Succeeded"), failed, skipped]);
        last["completionTime"] = "2026-01-01T00:01:05Z".into();
        world.set_status("nightly", &last);
    });
    let without_times: String = text
        .lines()
        .map(|line| line.split_once("] ").map_or(line, |(_, rest)| rest).to_owned() + "\n")
        .collect();
    insta::assert_snapshot!("watched", format!("exit {code}\n{without_times}"));
}
