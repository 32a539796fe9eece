//! `cargo xtask cluster`, as a person uses it.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use jobflow_test_cluster::Binaries;
use rustix::process::{Pid, Signal, kill_process};

struct Here {
    folder: tempfile::TempDir,
}

impl Here {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn xtask(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["cluster", "--state"])
            .arg(self.folder.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    fn keeper(&self) -> Pid {
        let text = std::fs::read_to_string(self.folder.path().join("keeper.pid")).unwrap();
        Pid::from_raw(text.parse().unwrap()).unwrap()
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.xtask(&["down"]);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a shell would make of it.
fn kubeconfig(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let line = text(&output.stdout);
    let quoted = line.trim_end().strip_prefix("export KUBECONFIG='").unwrap();
    quoted.strip_suffix('\'').unwrap().to_owned()
}

fn definitions(kubeconfig: &str) -> Output {
    Command::new(Binaries::ready().unwrap().kubectl())
        .args(["get", "crds", "--output=name"])
        .env("KUBECONFIG", kubeconfig)
        .output()
        .unwrap()
}

#[test]
fn a_control_plane_stays_up_between_commands_until_it_is_taken_down() {
    let here = Here::new();
    let up = here.xtask(&["up", "--admission-plugin", "OwnerReferencesPermissionEnforcement"]);
    let config = kubeconfig(&up);
    let listed = text(&definitions(&config).stdout);
    assert!(
        listed.contains("jobflows.flow.volcano.sh") && listed.contains("jobs.batch.volcano.sh"),
        "{listed}"
    );
    assert_eq!(kubeconfig(&here.xtask(&["up"])), config, "the same one");
    let status = here.xtask(&["status"]);
    assert!(text(&status.stderr).contains("Kubernetes 1.36.1 is up"));
    assert_eq!(kubeconfig(&status), config);
    assert!(here.xtask(&["down"]).status.success());
    assert!(!definitions(&config).status.success());
    assert!(text(&here.xtask(&["status"]).stderr).contains("no control plane is up"));
}

#[test]
fn a_control_plane_ends_with_its_keeper_even_if_that_is_killed() {
    let here = Here::new();
    let config = kubeconfig(&here.xtask(&["up"]));
    kill_process(here.keeper(), Signal::KILL).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while Path::new(&config).exists() {
        assert!(Instant::now() < deadline, "its folder is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!definitions(&config).status.success());
    assert!(text(&here.xtask(&["status"]).stderr).contains("no control plane is up"));
}

#[test]
fn what_keeps_it_from_coming_up_is_shown() {
    let here = Here::new();
    let up = here.xtask(&["up", "--admission-plugin", "NoSuchPlugin"]);
    assert!(!up.status.success());
    let said = text(&up.stderr);
    assert!(said.contains("error: the control plane didn't come up"), "{said}");
    assert!(said.contains("kube-apiserver ended with"), "{said}");
    assert!(said.contains("NoSuchPlugin"), "{said}");
}

#[test]
fn taking_down_what_is_not_up_is_no_error() {
    let output = Here::new().xtask(&["down"]);
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "no control plane is up\n");
}

/// A Job of one container that runs a script.
fn job(name: &str, script: &str) -> String {
    format!(
        "{{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {{name: {name}}}, spec: {{tasks: [{{name: main, \
         replicas: 1, template: {{spec: {{restartPolicy: Never, containers: [{{name: main, image: busybox, \
         command: [sh, -c, '{script}']}}]}}}}}}]}}}}"
    )
}

fn kubectl(kubeconfig: &str, arguments: &[&str]) -> String {
    let output = Command::new(Binaries::ready().unwrap().kubectl())
        .args(arguments)
        .env("KUBECONFIG", kubeconfig)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn with_volcano_jobs_run_as_processes() {
    let here = Here::new();
    let config = kubeconfig(&here.xtask(&["up", "--volcano=processes"]));
    let file = here.folder.path().join("job.yaml");
    std::fs::write(&file, job("seven", "exit 7")).unwrap();
    kubectl(&config, &["create", "--filename", file.to_str().unwrap()]);
    let failed = "--for=jsonpath={.status.state.phase}=Failed";
    kubectl(
        &config,
        &["wait", failed, "job.batch.volcano.sh/seven", "--timeout=60s"],
    );
    let code = "--output=jsonpath={.status.containerStatuses[0].state.terminated.exitCode}";
    assert_eq!(kubectl(&config, &["get", "pod", "seven-main-0", code]), "7");
}
