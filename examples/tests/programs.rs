//! The programs that embed the core do what they say.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::process::Command;

/// The lines that a program printed, and its jobs among them.
fn lines(program: &str, arguments: &[&str]) -> Vec<String> {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_runner_of_eighty_lines_runs_a_flow_in_order() {
    let lines = lines(env!("CARGO_BIN_EXE_embed"), &[]);
    let at = |line: &str| lines.iter().position(|found| found == line).unwrap();
    assert!(at("fetch: Succeeded") < at("train: Submitting"), "{lines:?}");
    assert!(at("train: Succeeded") < at("report: Submitting"), "{lines:?}");
    assert!(at("test: Succeeded") < at("report: Submitting"), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "the flow: Succeed");
}

#[test]
fn the_runner_has_fewer_than_eighty_lines() {
    assert!(include_str!("../src/bin/embed.rs").lines().count() < 80);
}

#[test]
fn a_runner_that_dies_after_every_job_runs_each_of_them_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    let runs: Vec<Vec<String>> = (0..4)
        .map(|_| lines(env!("CARGO_BIN_EXE_resume"), &[file.to_str().unwrap()]))
        .collect();
    let expected = [
        ["fetch", "killed before train"],
        ["train", "killed before test"],
        ["test", "killed before report"],
        ["report", "the flow: Succeed"],
    ];
    assert_eq!(runs, expected);
}

#[test]
fn an_ended_flow_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    let call = || lines(env!("CARGO_BIN_EXE_resume"), &[file.to_str().unwrap()]);
    (0..4).for_each(|_| drop(call()));
    assert_eq!(call(), ["the flow: Succeed"]);
}
