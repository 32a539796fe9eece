//! Each example, from the files that `jobflow run` takes, on a real API server with real processes: to the end that it
//! has on a machine, and with the output that its README tells.
//!
//! Probes go to no loopback address on a cluster, and that is not changed here: the test runs in a network of its own,
//! in which all of 10.244 is this machine's, so that pods have addresses as pods have them.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test says so when something is missing, and what it kept back"
)]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Options, Processes, Volcano};
use kube::Api;
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};
use tokio::time::{Instant, sleep};

const INSIDE: &str = "JOBFLOW_TEST_NETWORK";
const NETWORK: [u8; 2] = [10, 244];
const UNSHARED: [&str; 4] = ["--user", "--map-root-user", "--net", "--"];

/// The program with a kind of predicate of its own, which runs the other examples as well.
const CONTROLLER: &str = "jobflow-example-bucket-controller";

/// The examples in which somebody is probed.
const PROBED: [&str; 1] = ["gated-service"];

/// The examples that are flows, with what one of their entries writes; of a README, its first block of text.
const EXAMPLES: [(&str, &str); 8] = [
    ("hello", "goodbye\n"),
    ("diamond", "this is diamond-e-main-0\n"),
    ("arithmetic", "140\n"),
    ("parameter-server", "41\n"),
    ("gated-service", "warm\nwarm\n"),
    ("most-of-it", "trial 0\ntrial 1\ntrial 2\ntrial 3\n"),
    ("sweep", include_str!("../../../examples/sweep/README.md")),
    ("bucket", "weights\n"),
];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn every_example_ends_on_an_api_server_as_it_does_on_a_machine() {
    if env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        return runtime.block_on(run_all(lay_network()));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut inside = if lets_unshare() {
        let mut command = Command::new("unshare");
        command.args(UNSHARED).arg(env::current_exe().unwrap());
        command
    } else {
        Command::new(env::current_exe().unwrap())
    };
    let status = inside
        .args([
            "--exact",
            "every_example_ends_on_an_api_server_as_it_does_on_a_machine",
            "--nocapture",
        ])
        .env(INSIDE, "1")
        .env("PATH", path())
        .env("BUCKETS", folder.path())
        .status()
        .unwrap();
    assert!(status.success());
}

/// Whether this machine lets anybody have a network of their own.
fn lets_unshare() -> bool {
    let tried = Command::new("unshare").args(UNSHARED).arg("true").status();
    tried.is_ok_and(|status| status.success())
}

/// Makes all of the network of pods this machine's; false where that isn't allowed.
fn lay_network() -> bool {
    let [first, second] = NETWORK;
    let pods = format!("{first}.{second}.0.0/16");
    [
        &["link", "set", "lo", "up"][..],
        &["route", "add", "local", &pods, "dev", "lo"],
    ]
    .into_iter()
    .all(|words| {
        let status = Command::new("ip").args(words).status();
        status.is_ok_and(|status| status.success())
    })
}

/// Where the programs of this build are.
fn profile() -> PathBuf {
    let program = env::current_exe().unwrap();
    program.parent().and_then(Path::parent).unwrap().to_owned()
}

/// The search path, with the programs of the examples first; they are built if they aren't there.
fn path() -> OsString {
    let profile = profile();
    if !["serve", CONTROLLER]
        .iter()
        .all(|name| profile.join(name).exists())
    {
        let name = profile.file_name().and_then(|name| name.to_str()).unwrap();
        let cargo = Command::new(env!("CARGO"))
            .args(["build", "--bins", "--package", "jobflow-examples"])
            .args(["--package", "jobflow-example-bucket", "--profile"])
            .arg(if name == "debug" { "dev" } else { name })
            .arg("--target-dir")
            .arg(profile.parent().unwrap())
            .status()
            .unwrap();
        assert!(cargo.success(), "the programs of the examples can't be built");
    }
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths([profile].into_iter().chain(env::split_paths(&others))).unwrap()
}

/// The controller, which ends with the test.
struct Controller(Child);

impl Controller {
    /// The one that knows buckets.
    fn start(kubeconfig: &Path) -> Self {
        let child = Command::new(profile().join(CONTROLLER))
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .args([
                "--leader-elect=off",
                "--health-address=off",
                "--metrics-address=off",
            ])
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn run_all(has_network: bool) {
    let cluster = ControlPlane::start(jobflow_test_cluster::Options::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        pods: true,
        processes: Some(Processes {
            folder: folder.path().to_owned(),
            program: PathBuf::from(env!("CARGO_BIN_EXE_jobflow-test-volcano")),
            network: has_network.then_some(NETWORK),
            inherit: vec!["BUCKETS".to_owned()],
        }),
        ..Options::default()
    };
    let client = cluster.client(User::Volcano).await.unwrap();
    let volcano = Volcano::start(client.clone(), options).await.unwrap();
    let _controller = Controller::start(&cluster.kubeconfig(User::Admin));
    let mut begun = Vec::new();
    for (example, wrote) in EXAMPLES {
        if PROBED.contains(&example) && !has_network {
            println!(
                "{example} is kept back: it is probed, and this machine lets nobody have a network of their own"
            );
            continue;
        }
        let namespace = cluster.namespace(example).await.unwrap();
        for file in manifests(example) {
            cluster.apply(&file, &namespace).await.unwrap();
        }
        begun.push((example, namespace, wrote));
    }
    for (example, namespace, wrote) in begun {
        end_of(&client, &namespace, example, &volcano).await;
        let told = wrote
            .split("```text\n")
            .nth(1)
            .and_then(|block| block.split("```").next());
        let outputs = logs(folder.path(), &namespace);
        assert!(
            outputs.iter().any(|text| text == told.unwrap_or(wrote)),
            "{example}: {outputs:?}"
        );
    }
}

fn manifests(example: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(examples().join(example)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    // Flows come last here; that they may come first is a test of the driver's own.
    files.sort_by_key(|file| (file.file_stem().is_some_and(|name| name == "flow"), file.clone()));
    files
}

/// Waits for the one flow of a namespace, which must end well.
async fn end_of(client: &kube::Client, namespace: &str, example: &str, volcano: &Volcano) {
    let kind = GroupVersionKind::gvk("flow.volcano.sh", "v1alpha1", "JobFlow");
    let flows: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind));
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let flow = flows
            .list(&kube::api::ListParams::default())
            .await
            .unwrap()
            .items
            .remove(0);
        let status = &flow.data["status"];
        let phase = status["state"]["phase"].as_str().unwrap_or_default().to_owned();
        if phase == "Succeed" {
            return;
        }
        assert!(
            phase != "Failed" && Instant::now() < deadline,
            "{example} is {phase}: {:#} {:?}",
            status["nodes"],
            volcano.complaints()
        );
        sleep(Duration::from_millis(200)).await;
    }
}

/// What the pods of a namespace have written, a text a container.
fn logs(folder: &Path, namespace: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "log")
                && path.to_string_lossy().contains(namespace)
            {
                found.extend(fs::read_to_string(&path));
            }
        }
    }
    found
}
