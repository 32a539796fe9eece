//! The program as a shell sees it: exit codes, streams, signals.

#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

use std::io::Read;
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobflow-controller"));
    command.env_clear().env("HOME", "/nonexistent");
    command
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn help_and_version_are_data_and_succeed() {
    for argument in ["--help", "-h", "--version"] {
        let output = run(&[argument]);
        assert_eq!(output.status.code(), Some(0), "{argument}");
        assert!(text(&output.stdout).contains("jobflow-controller") && output.stderr.is_empty());
    }
    let help = run(&["--help"]);
    assert!(text(&help.stdout).contains("Exit codes:"));
    assert!(text(&help.stdout).contains("[env: JOBFLOW_CONTROLLER_LEASE_NAME=]"));
}

#[test]
fn wrong_arguments_are_told_at_once_with_a_code_of_their_own() {
    let output = program()
        .args(["--events=maybe", "--no-such", "--concurrency", "0"])
        .env("JOBFLOW_CONTROLLER_LOG_FORMAT", "xml")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = "\
error: --no-such: is no argument of this program
error: --concurrency: \"0\" is not a number from 1 to 256
error: --log-format: \"xml\" is not json or text
error: --events: \"maybe\" is not on or off
For what is right, try --help.
";
    assert_eq!(text(&output.stderr), expected);
    assert!(output.stdout.is_empty());
}

#[test]
fn settings_are_printed_as_they_come_to_be() {
    let output = program()
        .args([
            "--dump-config",
            "--namespace=b",
            "--namespace=a",
            "--lease-duration=30s",
        ])
        .env("JOBFLOW_CONTROLLER_TAKE_OVER", "off")
        .env("JOBFLOW_CONTROLLER_DRY_RUN", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let settings: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(settings["namespaces"], serde_json::json!(["a", "b"]));
    assert_eq!(settings["takeOver"], false);
    assert_eq!(settings["dryRun"], true);
    assert_eq!(settings["lease"]["timings"]["duration"], "30s");
}

#[test]
fn completions_and_the_man_page_know_the_values() {
    let bash = run(&["completions", "bash"]);
    assert_eq!(bash.status.code(), Some(0));
    assert!(text(&bash.stdout).contains("json text"), "{}", text(&bash.stdout));
    let folder = tempfile::tempdir().unwrap();
    let man = run(&["man", folder.path().to_str().unwrap()]);
    assert_eq!(man.status.code(), Some(0));
    let page = std::fs::read_to_string(folder.path().join("jobflow-controller.1")).unwrap();
    assert!(page.contains("lease\\-renew\\-deadline"));
}

#[test]
fn without_a_cluster_it_says_what_to_do() {
    let output = run(&[
        "--kubeconfig=/no/such/file",
        "--health-address=off",
        "--metrics-address=off",
    ]);
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert!(
        said.contains("error: cannot tell how the cluster is reached: give --kubeconfig"),
        "{said}"
    );
    assert!(said.contains("because: "), "{said}");
}

const KUBECONFIG: &str = "\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
";

#[test]
fn an_address_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    std::fs::write(&file, KUBECONFIG).unwrap();
    let output = program()
        .arg(format!("--kubeconfig={}", file.display()))
        .arg(format!("--metrics-address={}", taken.local_addr().unwrap()))
        .arg("--health-address=off")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("given as --metrics-address"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn told_to_end_it_ends_soon_and_well_even_if_no_server_answers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    std::fs::write(&file, KUBECONFIG).unwrap();
    let mut child = program()
        .arg(format!("--kubeconfig={}", file.display()))
        .args([
            "--health-address=127.0.0.1:0",
            "--metrics-address=127.0.0.1:0",
            "--log-format=json",
        ])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = child.stderr.take().unwrap();
    let mut first = [0; 1];
    log.read_exact(&mut first).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &id]).status().unwrap();
    assert!(killed.success());
    let began = Instant::now();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(10));
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    for line in format!("{}{rest}", char::from(first[0])).lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["level"].is_string(), "{line}");
    }
}
