//! Renders the chart.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What `helm template` says with these values.
pub(crate) fn helm(values: &[&str]) -> Output {
    let helm = jobflow_test_cluster::helm().unwrap();
    let mut command = Command::new(helm);
    command
        .args([
            "template",
            "jobflow",
            "--namespace",
            "jobflow-system",
            "--kube-version",
            "1.36.1",
        ])
        .arg(root().join("deploy/chart/jobflow"));
    for value in values {
        command.args(["--set-json", value]);
    }
    command.output().unwrap()
}

/// The text with these values.
pub(crate) fn rendered(values: &[&str]) -> String {
    let output = helm(values);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The objects with these values.
pub(crate) fn objects(values: &[&str]) -> Vec<Value> {
    let objects: Vec<Value> = serde_saphyr::from_multiple(&rendered(values)).unwrap();
    objects.into_iter().filter(|object| !object.is_null()).collect()
}

pub(crate) fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}
