//! `jobflow run`, with real processes.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{Ran, World};

/// A flow of entries `name: command`, each after the one before.
fn chain(entries: &[(&str, &str)]) -> String {
    let mut text =
        "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: chain}\nspec:\n  flows:\n"
            .to_owned();
    for (at, (name, command)) in entries.iter().enumerate() {
        let targets = at.checked_sub(1).map_or("", |before| entries[before].0);
        let command = Value::from(*command);
        text.push_str(&format!(
            "  - name: {name}\n    dependsOn: {{targets: [{targets}]}}\n    jobSpec:\n      tasks:\n      - name: main\n        \
             replicas: 1\n        template: {{spec: {{restartPolicy: Never, containers: [{{name: main, image: x, \
             command: [sh, -c, {command}]}}]}}}}\n"
        ));
    }
    text
}

fn events(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_flow_that_succeeds_ends_with_0() {
    let world = World::with("flow.yaml", &chain(&[("a", "echo one"), ("b", "echo two")]));
    let ran = world.run(&["run", "flow.yaml", "-o", "json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let events = events(&ran.stdout);
    let (first, last) = (&events[0], &events[events.len() - 1]);
    assert_eq!(
        (&first["event"], &first["resumed"]),
        (&"began".into(), &false.into())
    );
    assert_eq!(
        (&last["outcome"], &last["progress"]),
        (&"succeeded".into(), &"2/2".into())
    );
    assert_eq!(world.run(&["logs", "b"]).stdout, "two\n");
    assert!(world.run(&["status"]).stdout.starts_with("chain  Succeed  2/2"));
}

#[test]
fn a_flow_that_fails_ends_with_1_and_says_why() {
    let world = World::with("flow.yaml", &chain(&[("a", "exit 3"), ("b", "true")]));
    let ran = world.run(&["run", "flow.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.shown());
    assert!(ran.stdout.starts_with("chain  Failed  2/2"), "{}", ran.stdout);
    assert!(ran.stdout.contains("exit code 3"), "{}", ran.stdout);
    assert!(ran.stdout.contains("a target failed"), "{}", ran.stdout);
    assert!(ran.stderr.contains("a: Failed (the job failed"), "{}", ran.stderr);
}

/// What a run ends with, below its table; then where there is more, without the run's name.
fn ending(ran: &Ran) -> String {
    let output: Vec<&str> = ran.stdout.lines().skip_while(|line| !line.is_empty()).collect();
    let logs = ran
        .stderr
        .lines()
        .filter_map(|line| line.split_once("jobflow logs "));
    let more: Vec<String> = logs
        .map(|(said, logs)| format!("{said}jobflow logs RUN {}", logs.split_once(' ').unwrap().1))
        .collect();
    format!("{}\n--- more\n{}", output.join("\n"), more.join("\n"))
}

#[test]
fn a_run_ends_with_what_its_last_entries_wrote() {
    let flow = chain(&[("a", "echo one"), ("b", "seq 12; printf 'no\\033end'")]);
    let world = World::with("flow.yaml", &flow);
    let ran = world.run(&["run", "flow.yaml"]);
    assert!(
        ran.stdout
            .ends_with("\n\nb:\n4\n5\n6\n7\n8\n9\n10\n11\n12\nno\u{1b}end\n"),
        "{}",
        ran.shown()
    );
    assert!(world.run(&["run", "--resume"]).stdout.ends_with("no\u{1b}end\n"));
    let quiet = world.run(&["run", "flow.yaml", "--no-output"]);
    assert!(!quiet.stdout.contains("12\n"), "{}", quiet.stdout);
}

#[test]
fn a_run_that_fails_ends_with_what_the_failed_entries_wrote() {
    let world = World::with(
        "flow.yaml",
        &chain(&[("a", "echo broken >&2; exit 3"), ("b", "true")]),
    );
    let ran = world.run(&["run", "flow.yaml"]);
    insta::assert_snapshot!(ending(&ran), @r"
    a:
    broken
    --- more
    all that a wrote: jobflow logs RUN a
    ");
    let json = world.run(&["run", "flow.yaml", "-o", "json"]);
    assert!(!json.shown().contains("broken"), "{}", json.stdout);
}

#[test]
fn a_flow_that_is_wrong_starts_nothing() {
    let text = chain(&[("a", "true")]).replace("dependsOn", "dependOn");
    let world = World::with("flow.yaml", &text);
    let ran = world.run(&["run", "flow.yaml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("did you mean `dependsOn`?"), "{}", ran.stderr);
    assert!(!world.path().join("state").exists());
}

#[test]
fn arguments_that_make_no_sense_start_nothing() {
    let world = World::with("flow.yaml", &chain(&[("a", "true")]));
    for arguments in [
        &["--cpus", "many"][..],
        &["--map", "data=none"],
        &["--flow", "other"],
        &["--jobs", "0"],
        &["--resume"],
        &["--command", "main"],
    ] {
        let ran = world.run(&[&["run", "flow.yaml"], arguments].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.shown());
    }
    assert!(!world.path().join("state").exists());
}

#[test]
fn a_state_folder_that_can_not_be_made_ends_with_3() {
    let world = World::with("flow.yaml", &chain(&[("a", "true")])).and("state", "");
    let ran = world.run(&["run", "flow.yaml"]);
    assert_eq!(ran.code, 3, "{}", ran.shown());
}

#[test]
fn a_new_flow_runs_as_it_is() {
    let world = World::new();
    let flow = world.run(&["new"]).stdout;
    let ran = Ran::of(world.command(&["run", "-"]).write_stdin(flow));
    assert_eq!(ran.code, 0, "{}", ran.shown());
}

#[test]
fn an_interrupted_run_ends_with_130_and_goes_on_with_resume() {
    let world = World::with("flow.yaml", &chain(&[("a", "test -e go || sleep 60")]));
    let child = Command::new(env!("CARGO_BIN_EXE_jobflow"))
        .args(["run", "flow.yaml", "--grace", "1"])
        .current_dir(world.path())
        .env("JOBFLOW_STATE_DIR", world.path().join("state"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !world.run(&["status"]).stdout.contains("Running") {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never ran");
        std::thread::sleep(Duration::from_millis(50));
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("interrupted; go on with: jobflow run --resume"),
        "{said}"
    );

    let world = world.and("go", "");
    let ran = world.run(&["run", "--resume", "-o", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(events(&ran.stdout)[0]["resumed"], true);
}
