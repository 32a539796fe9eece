//! A cluster without our definitions, with Volcano's own, and with ours; and what the doctor says of each.
//!
//! One test after the other on a control plane of its own: definitions are everybody's.

use assert_cmd::Command;
use jobflow_test_cluster::{ControlPlane, Options, User};
use serde_json::{Value, json};

use crate::world::Ran;

struct Bed {
    cluster: ControlPlane,
    namespace: String,
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Bed {
    fn new() -> Self {
        let cluster = ControlPlane::start(Options::default()).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let namespace = runtime.block_on(cluster.namespace("cli")).unwrap();
        runtime
            .block_on(cluster.grant(User::TenantA, &namespace))
            .unwrap();
        Self {
            cluster,
            namespace,
            folder: tempfile::tempdir().unwrap(),
            runtime,
        }
    }

    fn run(&self, user: User, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-jobflow"));
        command
            .env_clear()
            .current_dir(self.folder.path())
            .env("KUBECONFIG", self.cluster.kubeconfig(user))
            .args(arguments)
            .args(["-n", &self.namespace]);
        Ran::of(&mut command)
    }

    fn kubectl(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(self.cluster.binaries().kubectl());
        command
            .env_clear()
            .current_dir(self.folder.path())
            .env("KUBECONFIG", self.cluster.kubeconfig(User::Admin))
            .args(arguments);
        Ran::of(&mut command)
    }

    /// What the doctor finds once it finds something: a server tells of new definitions a moment after it serves them.
    fn findings_with(
        &self,
        user: User,
        more: &[&str],
        state: &str,
        part: &str,
    ) -> (i32, Vec<(String, String, String)>) {
        for _ in 0..50 {
            let found = self.findings(user, more);
            if said(&found.1, state, part).is_some() {
                return found;
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        self.findings(user, more)
    }

    fn findings(&self, user: User, more: &[&str]) -> (i32, Vec<(String, String, String)>) {
        let ran = self.run(user, &[&["doctor", "-o", "json"], more].concat());
        let found: Value = serde_json::from_str(&ran.stdout)
            .map_err(|_| ran.stderr.clone())
            .unwrap();
        let text = |finding: &Value, field: &str| finding[field].as_str().unwrap_or_default().to_owned();
        let found = found.as_array().unwrap().iter();
        let found = found.map(|finding| {
            (
                text(finding, "state"),
                text(finding, "about"),
                text(finding, "said"),
            )
        });
        (ran.code, found.collect())
    }
}

const FLOW: &str = "\
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: nightly}
spec:
  parallelism: 2
  flows:
  - name: prepare
";

fn said<'a>(findings: &'a [(String, String, String)], state: &str, part: &str) -> Option<&'a str> {
    findings
        .iter()
        .find(|(found, _, said)| found == state && said.contains(part))
        .map(|(_, _, said)| said.as_str())
}

#[test]
fn definitions_are_missed_compared_and_installed() {
    let bed = Bed::new();
    std::fs::write(bed.folder.path().join("flow.yaml"), FLOW).unwrap();
    let names = [
        "jobflows.flow.volcano.sh",
        "jobtemplates.flow.volcano.sh",
        "jobflowtemplates.flow.volcano.sh",
    ];

    // Without any: everything says what to do.
    let ran = bed.kubectl(&[["delete", "crd", "--wait"].as_slice(), &names].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    for arguments in [vec!["list"], vec!["wait", "nightly"], vec!["apply", "flow.yaml"]] {
        let ran = bed.run(User::TenantA, &arguments);
        assert!(
            ran.code != 0 && ran.stderr.contains("kubectl jobflow crd --install"),
            "{arguments:?} {ran:?}"
        );
    }
    let (code, findings) = bed.findings_with(User::TenantA, &[], "bad", "does not serve flow");
    assert_eq!(code, 6);
    assert!(
        said(&findings, "bad", "does not serve flow.volcano.sh/v1alpha1").is_some(),
        "{findings:?}"
    );

    // Volcano's own drop fields of ours: an error, not a flow that means something else.
    bed.runtime
        .block_on(bed.cluster.put_back_volcanos_definitions())
        .unwrap();
    let ran = bed.run(User::TenantA, &["apply", "flow.yaml"]);
    assert!(
        ran.code == 2
            && ran.stderr.contains("does not know the field `spec.parallelism`")
            && ran.stderr.contains("flow.yaml:5"),
        "{ran:?}"
    );
    let (code, findings) = bed.findings_with(User::TenantA, &[], "bad", "JobFlow is served without");
    assert_eq!(code, 6);
    assert!(
        said(&findings, "bad", "JobFlow is served without").is_some_and(|said| said.contains("spec.")),
        "{findings:?}"
    );

    // They are somebody's; a tenant may not touch them.
    let ran = bed.run(User::TenantA, &["crd", "--install"]);
    assert!(
        ran.code == 3 && ran.stderr.contains("tenant-a") && ran.stdout.is_empty(),
        "{ran:?}"
    );
    let ran = bed.run(User::Admin, &["crd", "--install"]);
    assert!(
        ran.code == 3
            && ran.stderr.contains("jobflows.flow.volcano.sh: adds ")
            && ran.stderr.contains("--force-conflicts"),
        "{ran:?}"
    );
    let ran = bed.run(
        User::Admin,
        &["crd", "--install", "--force-conflicts", "--dry-run"],
    );
    assert_eq!(ran.stdout.matches("would be installed").count(), 3, "{ran:?}");
    let ran = bed.run(User::Admin, &["crd", "--install", "--force-conflicts"]);
    assert_eq!(
        (ran.code, ran.stdout.matches(" installed\n").count()),
        (0, 3),
        "{ran:?}"
    );
    let again = bed.run(User::Admin, &["crd", "--install"]);
    assert_eq!(
        again.stderr.matches("is there as it should be").count(),
        3,
        "{again:?}"
    );
    let version = bed.run(User::TenantA, &["version"]);
    assert!(
        version
            .stdout
            .contains("server v1.36.1\nflow.volcano.sh v1alpha1\n"),
        "{version:?}"
    );

    the_doctor_tells_what_a_flow_lacks(&bed);
}

fn the_doctor_tells_what_a_flow_lacks(bed: &Bed) {
    let template = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": { "name": "train" },
        "spec": { "queue": "gpu", "ttlSecondsAfterFinished": 60, "volumes": [{ "mountPath": "/d", "volumeClaimName": "data" }],
                  "tasks": [{ "name": "main", "replicas": 1, "template": { "spec": { "restartPolicy": "Never", "serviceAccountName": "robot",
                      "containers": [{ "name": "main", "image": "x" }] } } }] },
    });
    let flow = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "nightly" },
        "spec": { "flows": [
            { "name": "train", "patch": { "jobSpec": { "minAvailable": 1 } } },
            { "name": "report", "dependsOn": { "targets": ["train"], "probe": { "taskStatusList": [{ "taskName": "main", "phase": "Running" }] } } },
        ] },
    });
    let circle = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "circle" },
        "spec": { "flows": [
            { "name": "a", "dependsOn": { "targets": ["b"] } }, { "name": "b", "dependsOn": { "targets": ["a"] } },
        ] },
    });
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": [template, flow, circle] });
    std::fs::write(bed.folder.path().join("all.json"), list.to_string()).unwrap();
    let ran = bed.kubectl(&["apply", "-n", &bed.namespace, "-f", "all.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");

    let (code, findings) = bed.findings_with(
        User::Admin,
        &["--before-takeover"],
        "good",
        "JobFlow is served with all",
    );
    assert_eq!(code, 6);
    for (state, part) in [
        ("good", "JobFlow is served with all of its fields"),
        ("good", "you may apply flows"),
        ("bad", "there is no Lease jobflow-system/jobflow-controller"),
        ("bad", "there is no job template `report`; named by nightly"),
        ("bad", "there is no queue `gpu`; named by nightly"),
        ("bad", "there is no claim `data`; named by nightly"),
        ("bad", "there is no service account `robot`; named by nightly"),
        ("bad", "circle: "),
        ("note", "nightly: train have patches"),
        ("note", "nightly: report have probes"),
        (
            "note",
            "nightly: train have a template with ttlSecondsAfterFinished",
        ),
    ] {
        assert!(
            said(&findings, state, part).is_some(),
            "{state} {part}: {findings:#?}"
        );
    }
    let (_, findings) = bed.findings(User::TenantA, &[]);
    assert!(
        said(&findings, "unknown", "you may not read the Lease").is_some(),
        "{findings:#?}"
    );
    assert!(
        said(&findings, "unknown", "you may not read queues").is_some(),
        "{findings:#?}"
    );
    assert!(
        said(&findings, "note", "you may not read logs").is_some(),
        "{findings:#?}"
    );
}
