//! `jobflow why`, of real runs of which each thing that can hold an entry up holds one.

use std::fmt::Write;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::running::{begun, chain, kill};
use crate::world::World;

const LONG: &str = "sleep 60";

/// A flow whose settings are these; an entry is its name, its command, and lines of its own.
fn flow(settings: &str, entries: &[(&str, &str, &str)], finally: &[(&str, &str, &str)]) -> String {
    let mut text = format!(
        "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {{name: zoo}}\nspec:\n{settings}"
    );
    for (list, entries) in [("flows", entries), ("finally", finally)] {
        let _ = writeln!(text, "  {list}:{}", if entries.is_empty() { " []" } else { "" });
        for (name, command, lines) in entries {
            let (own, resources) = lines.split_once("resources: ").unwrap_or((lines, "{}"));
            let command = Value::from(*command);
            let _ = write!(
                text,
                "  - name: {name}\n    jobSpec:\n      tasks:\n      - name: main\n        replicas: 1\n        \
                 template: {{spec: {{restartPolicy: Never, containers: [{{name: main, image: x, resources: {resources}, \
                 command: [sh, -c, {command}]}}]}}}}\n"
            );
            own.lines()
                .for_each(|line| text.push_str(&format!("    {line}\n")));
        }
    }
    text
}

/// Asks until the answer holds all of these.
fn why(world: &World, arguments: &[&str], awaited: &[&str]) -> String {
    let asked = Instant::now();
    loop {
        let ran = world.run(&[&["why"], arguments].concat());
        if awaited.iter().all(|part| ran.stdout.contains(part)) {
            return without_times(&ran.stdout);
        }
        assert!(asked.elapsed() < Duration::from_secs(20), "{}", ran.shown());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The same text whenever it was asked.
fn without_times(text: &str) -> String {
    let is_span = |word: &str| {
        let inner = word.strip_suffix('s').unwrap_or_default();
        !inner.is_empty() && inner.chars().all(|c| c.is_ascii_digit() || c == 'm')
    };
    let replaced = |word: &str| {
        let bare = word
            .trim_end_matches([',', ';', ')', ':'])
            .trim_start_matches('(');
        match bare {
            bare if is_span(bare) => word.replace(bare, "TIME"),
            bare if bare.contains("Z-zoo-") => word.replace(bare, "RUN"),
            _ => word.to_owned(),
        }
    };
    let line = |line: &str| line.split(' ').map(replaced).collect::<Vec<_>>().join(" ") + "\n";
    text.lines().map(line).collect()
}

/// Ends a run, and all that it started.
fn end(mut child: Child) {
    kill("-INT", &child.id().to_string());
    child.wait().unwrap();
}

#[test]
fn everything_that_holds_an_entry_up_is_told_with_what_would_let_it_go_on() {
    let entries = [
        ("busy", LONG, "resources: {requests: {cpu: 2}}"),
        (
            "big",
            "true",
            "dependsOn: {targets: [quick]}\nresources: {requests: {cpu: 1}}",
        ),
        (
            "flaky",
            "exit 3",
            "retry: {limit: 1, backoff: {initialSeconds: 600, jitterPercent: 0}}",
        ),
        ("quick", "true", ""),
        (
            "late",
            "true",
            "dependsOn: {rules: [{target: quick, condition: Completed, delaySeconds: 600}]}",
        ),
        ("both", "true", "dependsOn: {targets: [quick, busy]}"),
        (
            "pods",
            "true",
            "dependsOn: {rules: [{target: busy, task: main, condition: Succeeded}]}",
        ),
        ("far", "true", "dependsOn: {targets: [retried]}"),
        ("retried", "true", "dependsOn: {targets: [flaky]}"),
    ];
    let world = World::with("flow.yaml", &flow("", &entries, &[("clean", "true", "")]));
    let run = begun(&world, &["run", "flow.yaml", "--cpus", "2", "--grace", "0"]);
    let all = why(
        &world,
        &[],
        &[
            "busy: Running; for",
            "big: Queued; needs",
            "BackingOff",
            "counts in",
        ],
    );
    insta::assert_snapshot!("why_all", all);
    insta::assert_snapshot!("why_one", why(&world, &["both"], &["holds"]));
    let explained: Value =
        serde_json::from_str(&world.run(&["explain", "far", "-o", "json"]).stdout).unwrap();
    let node = &explained["nodes"][0];
    let names: Vec<&Value> = node["chain"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| &link["name"])
        .collect();
    assert_eq!(names, ["far", "retried", "flaky"]);
    assert_eq!(node["chain"][2]["why"]["kind"], "Until");
    let big: Value = serde_json::from_str(&world.run(&["why", "big", "-o", "json"]).stdout).unwrap();
    let shortage = serde_json::json!({"resource": "cpu", "wanted": "1", "free": "0", "total": "2"});
    assert_eq!(big["nodes"][0]["chain"][0]["shortage"], shortage);
    let status = world.run(&["status"]).stdout;
    assert!(status.contains("needs 1 cpu; 0 of 2 is free"), "{status}");
    end(run);
    let after = world.run(&["why", "both"]);
    assert!(
        after
            .stderr
            .contains("interrupted; go on with: jobflow run --resume"),
        "{}",
        after.shown()
    );
}

#[test]
fn a_limit_names_those_who_take_the_places() {
    let entries = [("one", LONG, ""), ("two", "true", "")];
    let world = World::with("flow.yaml", &flow("  parallelism: 1\n", &entries, &[]));
    let run = begun(&world, &["run", "flow.yaml", "--grace", "0"]);
    insta::assert_snapshot!("why_limit", why(&world, &["two"], &["goes on: when one ends"]));
    end(run);
}

#[test]
fn a_suspension_is_told() {
    let entries = [
        ("one", "true", ""),
        ("two", "true", "dependsOn: {targets: [one]}"),
    ];
    let world = World::with("flow.yaml", &flow("  suspend: true\n", &entries, &[]));
    assert_eq!(world.run(&["run", "flow.yaml"]).code, 0);
    insta::assert_snapshot!("why_suspended", why(&world, &[], &[]));
}

/// A run has its templates before it begins; what a cluster would say is read from the same report.
#[test]
fn a_template_that_is_missing_is_named() {
    let entries = [
        ("one", "true", ""),
        ("two", "true", "dependsOn: {targets: [one]}"),
    ];
    let world = World::with("flow.yaml", &flow("  suspend: true\n", &entries, &[]));
    assert_eq!(world.run(&["run", "flow.yaml"]).code, 0);
    let runs = std::fs::read_dir(world.path().join("state/runs")).unwrap();
    let checkpoint = runs
        .map(|run| run.unwrap().path().join("flow.json"))
        .next()
        .unwrap();
    let text = std::fs::read_to_string(&checkpoint).unwrap();
    std::fs::write(&checkpoint, text.replace("\"Suspended\"", "\"TemplateNotFound\"")).unwrap();
    let told = why(
        &world,
        &["two"],
        &["because one: Blocked; there is no such template"],
    );
    assert!(
        told.ends_with("goes on: when there is a JobTemplate `one`\n"),
        "{told}"
    );
}

#[test]
fn a_skip_is_told_with_the_failure_that_caused_it() {
    let entries = [
        ("one", "exit 3", ""),
        ("two", "true", "dependsOn: {targets: [one]}"),
        ("three", "true", "dependsOn: {targets: [two]}"),
        (
            "alarm",
            "true",
            "dependsOn: {targets: [clean], condition: Failed}",
        ),
        ("clean", "true", ""),
    ];
    let world = World::with("flow.yaml", &flow("  failurePolicy: Continue\n", &entries, &[]));
    assert_eq!(world.run(&["run", "flow.yaml"]).code, 1);
    insta::assert_snapshot!("why_skipped", why(&world, &[], &[]));
}

#[test]
fn a_stop_is_told_while_processes_are_still_there() {
    let stubborn = "trap '' TERM; while :; do sleep 1; done";
    let entries = [
        ("one", stubborn, ""),
        ("two", "true", "dependsOn: {targets: [one]}"),
    ];
    let world = World::with("flow.yaml", &flow("  activeDeadlineSeconds: 2\n", &entries, &[]));
    let run = begun(&world, &["run", "flow.yaml", "--grace", "0"]);
    insta::assert_snapshot!("why_stopped", why(&world, &[], &["one: Stopping"]));
    end(run);
}

#[test]
fn a_flow_that_went_well_has_nothing_to_explain() {
    let world = World::with("flow.yaml", &chain(&[("a", "true")]));
    assert_eq!(world.run(&["run", "flow.yaml"]).code, 0);
    let ran = world.run(&["why"]);
    assert!(
        ran.stdout.ends_with("every entry has succeeded\n"),
        "{}",
        ran.shown()
    );
    let named = world.run(&["why", "b"]);
    assert_eq!(named.code, 2);
    assert!(
        named.stderr.contains("the flow has no entry `b`"),
        "{}",
        named.stderr
    );
}
