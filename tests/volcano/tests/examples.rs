//! Each example, from the files that `jobflow run` takes, on a real API server with real processes: to the end that it
//! has on a machine, and with the output that its README tells.
//!
//! Probes go to no loopback address on a cluster, and that is not changed here: the test runs in a network of its own,
//! in which all of 10.244 is this machine's, so that pods have addresses as pods have them.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jobflow_k8s::client::{Driver, Settings};
use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Options, Processes, Volcano};
use kube::Api;
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};
use tokio::time::{Instant, sleep};

const INSIDE: &str = "JOBFLOW_TEST_NETWORK";
const NETWORK: [u8; 2] = [10, 244];

/// The examples that are flows, with an entry and what it writes.
const EXAMPLES: [(&str, &str, &str); 8] = [
    ("hello", "goodbye", "goodbye\n"),
    ("diamond", "e", "this is diamond-e-main-0\n"),
    ("arithmetic", "h", "140\n"),
    ("parameter-server", "evaluate", "41\n"),
    ("gated-service", "load", "warm\nwarm\n"),
    ("most-of-it", "collect", "trial 0\ntrial 1\ntrial 2\ntrial 3\n"),
    ("sweep", "report", ""),
    ("bucket", "publish", "weights\n"),
];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn every_example_ends_on_an_api_server_as_it_does_on_a_machine() {
    if env::var_os(INSIDE).is_some() {
        lay_network();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        return runtime.block_on(run_all());
    }
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--"])
        .arg(env::current_exe().unwrap())
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
    assert!(
        status.success(),
        "in a network of its own (this needs user namespaces)"
    );
}

/// All of the network of pods is at this machine.
fn lay_network() {
    let [first, second] = NETWORK;
    let pods = format!("{first}.{second}.0.0/16");
    for words in [
        &["link", "set", "lo", "up"][..],
        &["route", "add", "local", &pods, "dev", "lo"],
    ] {
        let status = Command::new("ip").args(words).status().unwrap();
        assert!(status.success(), "ip {words:?}");
    }
}

/// The search path, with the programs of the examples first; they are built if they aren't there.
fn path() -> OsString {
    let program = env::current_exe().unwrap();
    let profile = program.parent().and_then(Path::parent).unwrap();
    if !profile.join("serve").exists() {
        let name = profile.file_name().and_then(|name| name.to_str()).unwrap();
        let cargo = Command::new(env!("CARGO"))
            .args([
                "build",
                "--package",
                "jobflow-examples",
                "--bin",
                "serve",
                "--profile",
            ])
            .arg(if name == "debug" { "dev" } else { name })
            .arg("--target-dir")
            .arg(profile.parent().unwrap())
            .status()
            .unwrap();
        assert!(cargo.success(), "the programs of the examples can't be built");
    }
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths([profile.to_owned()].into_iter().chain(env::split_paths(&others))).unwrap()
}

async fn run_all() {
    let cluster = ControlPlane::start(jobflow_test_cluster::Options::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        pods: true,
        processes: Some(Processes {
            folder: folder.path().to_owned(),
            program: PathBuf::from(env!("CARGO_BIN_EXE_jobflow-test-volcano")),
            network: Some(NETWORK),
            inherit: vec!["BUCKETS".to_owned()],
        }),
        ..Options::default()
    };
    let client = cluster.client(User::Volcano).await.unwrap();
    let volcano = Volcano::start(client.clone(), options).await.unwrap();
    let buckets = PathBuf::from(env::var_os("BUCKETS").unwrap());
    let driver = Driver::new(cluster.client(User::Admin).await.unwrap(), Settings::default())
        .with_extensions(jobflow_example_bucket::extensions(buckets));
    let driver = tokio::spawn(driver.run());
    let mut begun = Vec::new();
    for (example, entry, wrote) in EXAMPLES {
        let namespace = cluster.namespace(example).await.unwrap();
        for file in manifests(example) {
            cluster.apply(&file, &namespace).await.unwrap();
        }
        begun.push((example, namespace, entry, wrote));
    }
    for (example, namespace, entry, wrote) in begun {
        end_of(&client, &namespace, example, &volcano).await;
        let outputs = texts(folder.path(), &namespace, &format!("-{entry}"));
        assert!(
            outputs
                .iter()
                .any(|text| text.ends_with(wrote) && !text.is_empty()),
            "{example}: {outputs:?}"
        );
    }
    driver.abort();
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

/// The text of every log of a namespace whose path contains `name`.
fn texts(folder: &Path, namespace: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let text = path.to_string_lossy().into_owned();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if text.contains(namespace) && text.contains(name) {
                found.extend(fs::read_to_string(&path));
            }
        }
    }
    found
}
