//! The program with its own kind of predicate runs flows that use it, and refuses those that use it wrongly.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;
use std::{fs, str};

/// What puts the object into its bucket.
const PUT: &str = "mv \"$BUCKETS/results/.model.bin\"";

fn call(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_jobflow-example-bucket"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("BUCKETS", folder.join("buckets"))
        .env("JOBFLOW_STATE_DIR", folder.join("runs"))
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn an_entry_starts_when_its_object_is_in_the_bucket() {
    let folder = tempfile::tempdir().unwrap();
    let output = call(folder.path(), &["run", "--inherit-env", "BUCKETS", "flow.yaml"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let published = call(folder.path(), &["logs", "--raw", "publish"]);
    assert_eq!(text(&published.stdout), "weights\n");
}

#[test]
fn an_entry_waits_for_an_object_that_comes_late() {
    let folder = tempfile::tempdir().unwrap();
    let flow = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("flow.yaml")).unwrap();
    let slow = flow.replace(PUT, "sleep 3; true ");
    let file = folder.path().join("slow.yaml");
    fs::write(&file, slow).unwrap();
    let results = folder.path().join("buckets/results");
    let putting = thread::spawn(move || {
        thread::sleep(Duration::from_secs(1));
        fs::create_dir_all(&results).unwrap();
        fs::write(results.join("model.bin"), "late\n").unwrap();
    });
    let output = call(
        folder.path(),
        &["run", "--inherit-env", "BUCKETS", file.to_str().unwrap()],
    );
    putting.join().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let published = call(folder.path(), &["logs", "--raw", "publish"]);
    assert_eq!(text(&published.stdout), "late\n");
}

#[test]
fn an_object_that_never_comes_ends_the_wait_with_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let flow = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("flow.yaml")).unwrap();
    let file = folder.path().join("never.yaml");
    fs::write(&file, flow.replace(PUT, "true ")).unwrap();
    let output = call(
        folder.path(),
        &["run", "--inherit-env", "BUCKETS", file.to_str().unwrap()],
    );
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let status = call(folder.path(), &["status"]);
    assert!(
        text(&status.stdout).contains("what it waited for never happened"),
        "{}",
        text(&status.stdout)
    );
}

#[test]
fn wrong_arguments_are_told_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let flow = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("flow.yaml")).unwrap();
    let file = folder.path().join("wrong.yaml");
    fs::write(&file, flow.replace("object: model.bin", "object: ../model.bin")).unwrap();
    let output = call(folder.path(), &["validate", file.to_str().unwrap()]);
    assert!(!output.status.success());
    let told = str::from_utf8(&output.stderr).unwrap();
    assert!(
        told.contains("custom[0].args") && told.contains("no name of a bucket"),
        "{told}"
    );
}
