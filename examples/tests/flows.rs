//! Each example flow is valid, and runs on this machine to the end that its README tells.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The examples that are flows.
const EXAMPLES: [&str; 7] = [
    "hello",
    "diamond",
    "arithmetic",
    "parameter-server",
    "gated-service",
    "most-of-it",
    "sweep",
];

/// The command line as it was built beside this test, or is built now.
fn jobflow() -> PathBuf {
    let program = env::current_exe().unwrap();
    let profile = program.parent().and_then(Path::parent).unwrap();
    let jobflow = profile.join("jobflow");
    if !jobflow.exists() {
        let name = profile.file_name().and_then(|name| name.to_str()).unwrap();
        let cargo = Command::new(env!("CARGO"))
            .args(["build", "--package", "jobflow-cli", "--profile"])
            .arg(if name == "debug" { "dev" } else { name })
            .arg("--target-dir")
            .arg(profile.parent().unwrap())
            .status()
            .unwrap();
        assert!(cargo.success(), "jobflow can't be built");
    }
    jobflow
}

/// A place for runs, gone with the test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn call(&self, arguments: &[&str]) -> Output {
        Command::new(jobflow())
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("JOBFLOW_STATE_DIR", self.0.path())
            .env("PATH", path())
            .output()
            .unwrap()
    }

    /// Runs an example to its end, which must be a good one.
    fn run(&self, example: &str) {
        let output = self.call(&["run", example]);
        assert!(output.status.success(), "{example}: {}", text(&output.stderr));
    }

    /// What an entry of the newest run wrote.
    fn output(&self, entry: &str) -> String {
        let output = self.call(&["logs", "--raw", entry]);
        assert!(output.status.success(), "{entry}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}

/// The search path, with the programs of the examples first.
fn path() -> OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_serve"))
        .parent()
        .map(Path::to_owned);
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths(own.into_iter().chain(env::split_paths(&others))).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_example_is_valid() {
    for example in EXAMPLES {
        let output = Place::new().call(&["validate", example]);
        assert!(output.status.success(), "{example}: {}", text(&output.stderr));
        assert!(
            !text(&output.stderr).contains("warning"),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn hello_says_hello_and_then_goodbye() {
    let place = Place::new();
    place.run("hello");
    assert_eq!(place.output("hello"), "hello\n");
    assert_eq!(place.output("goodbye"), "goodbye\n");
}

#[test]
fn each_step_of_the_diamond_tells_its_pod() {
    let place = Place::new();
    place.run("diamond");
    for entry in ["a", "b", "c", "d", "e"] {
        assert_eq!(place.output(entry), format!("this is diamond-{entry}-main-0\n"));
    }
}

#[test]
fn one_template_makes_five_different_jobs() {
    let place = Place::new();
    place.run("sweep");
    let readme = include_str!("../sweep/README.md");
    let told = readme
        .split("```")
        .nth(1)
        .and_then(|block| block.strip_prefix("text\n"));
    assert_eq!(Some(place.output("report").as_str()), told);
}

#[test]
fn the_arithmetic_comes_to_140() {
    let place = Place::new();
    place.run("arithmetic");
    assert_eq!(place.output("h"), "140\n");
}

#[test]
fn workers_start_when_the_parameter_server_runs() {
    let place = Place::new();
    place.run("parameter-server");
    assert_eq!(place.output("evaluate"), "41\n");
}

#[test]
fn a_job_starts_when_the_service_answers() {
    let place = Place::new();
    place.run("gated-service");
    assert_eq!(place.output("load"), "warm\nwarm\n");
}

#[test]
fn a_step_goes_on_when_four_of_five_have_succeeded() {
    let place = Place::new();
    place.run("most-of-it");
    assert_eq!(place.output("collect"), "trial 0\ntrial 1\ntrial 2\ntrial 3\n");
}

#[test]
fn a_job_starts_when_the_service_is_ready() {
    let place = Place::new();
    let flow =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("gated-service/flow.yaml")).unwrap();
    let (before, rest) = flow.split_once("        probe:\n").unwrap();
    let (_, after) = rest.split_once("          periodSeconds: 1\n").unwrap();
    let probe = "readinessProbe: {periodSeconds: 1, httpGet: {path: /healthz, port: 8080}}";
    let after = after.replace("ports:\n", &format!("{probe}\n              ports:\n"));
    let file = place.0.path().join("ready.yaml");
    fs::write(&file, format!("{before}        condition: Ready\n{after}")).unwrap();
    place.run(file.to_str().unwrap());
    assert_eq!(place.output("load"), "warm\nwarm\n");
}
