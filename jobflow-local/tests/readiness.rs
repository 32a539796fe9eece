//! Readiness of real processes: what waits for `Ready` starts when each `readinessProbe` has succeeded.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use jobflow_core::{FlowPhase, NodePhase, plan::Change};
use jobflow_k8s::{extensions::Extensions, types::JobFlow};
use jobflow_local::{
    client::Launch,
    kit::KitSettings,
    resources::Machine,
    rundir::{RunId, StateRoot},
    runner::{Controls, End, Input, Moment, RunError, Settings, Surroundings, Watcher, resume, start},
};
use serde_json::{Value, json};

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

fn surroundings(folder: &Path) -> Surroundings {
    Surroundings {
        root: StateRoot::at(folder.to_owned()),
        launch: Launch {
            program: env!("CARGO_BIN_EXE_jobflow-executor").into(),
            arguments: Vec::new(),
        },
        interrupt: Arc::new(AtomicBool::new(false)),
        controls: Controls::default(),
        clock: now,
        random: [7; 16],
        extensions: Extensions::default(),
    }
}

fn settings() -> Settings {
    Settings {
        kit: KitSettings::default(),
        machine: Machine::of_this_system(),
        ignore_resources: true,
        grace: Duration::from_secs(1),
    }
}

/// What happened, as `ENTRY PHASE`.
#[derive(Default)]
struct Heard(Vec<String>);

impl Watcher for Heard {
    fn began(&mut self, _run: &RunId, _folder: &Path, _resumed: bool) {}

    fn changed(&mut self, change: &Change, moment: Moment<'_>) {
        let name = &moment.graph.entry(change.key.node).name;
        self.0.push(format!("{name} {}", change.to));
    }

    fn passed(&mut self, _moment: Moment<'_>) {}

    fn blocked(&mut self, _reason: Option<&str>) {}
}

impl Heard {
    fn at(&self, entry: &str, phase: NodePhase) -> usize {
        let wanted = format!("{entry} {phase}");
        self.0.iter().position(|line| *line == wanted).unwrap()
    }
}

/// A Job of one pod that works in a folder which all share.
fn job(script: &str, more: Value) -> Value {
    let mut container =
        json!({"name": "main", "image": "busybox", "command": ["sh", "-c", script], "workingDir": "/shared"});
    for (field, value) in more.as_object().into_iter().flatten() {
        container[field] = value.clone();
    }
    json!({
        "schedulerName": "volcano",
        "volumes": [{"mountPath": "/shared", "volumeClaimName": "shared"}],
        "tasks": [{"name": "main", "replicas": 1, "template": {"spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container],
        }}}],
    })
}

/// `service`, and `user` that waits until it is ready.
fn input(service: &Value, user: &Value) -> Input {
    let flow: JobFlow = serde_json::from_value(json!({
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobFlow",
        "metadata": {"name": "gated"},
        "spec": {"flows": [
            {"name": "service", "jobSpec": service},
            {"name": "user", "jobSpec": user, "dependsOn": {"targets": ["service"], "condition": "Ready"}},
        ]},
    }))
    .unwrap();
    Input {
        flow,
        templates: [].into(),
        objects: Vec::new(),
    }
}

fn exec(script: &str) -> Value {
    json!({"readinessProbe": {"exec": {"command": ["sh", "-c", script]}, "periodSeconds": 1}})
}

const UNTIL_DONE: &str = "until [ -e done ]; do sleep 0.05; done";

#[test]
fn a_pod_is_ready_when_its_probe_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let service = job(
        &format!("sleep 0.5; echo $POD > ready; {UNTIL_DONE}"),
        // The command of a probe sees the container's environment and folder; a `$` is the shell's.
        json!({
            "env": [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "readinessProbe": exec("test \"$(cat ready)\" = $POD")["readinessProbe"],
        }),
    );
    let user = job("test -e ready && touch done", json!({}));
    let mut heard = Heard::default();
    let (_, end) = start(
        input(&service, &user),
        settings(),
        &surroundings(folder.path()),
        &mut heard,
    )
    .unwrap();
    assert_eq!(end, End::Ended(FlowPhase::Succeed), "{:?}", heard.0);
    assert!(heard.at("user", NodePhase::Succeeded) < heard.at("service", NodePhase::Succeeded));
}

#[test]
fn one_that_never_is_ready_is_waited_for_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let service = job("sleep 1.5", exec("exit 1"));
    let user = job("true", json!({}));
    let mut heard = Heard::default();
    let (_, end) = start(
        input(&service, &user),
        settings(),
        &surroundings(folder.path()),
        &mut heard,
    )
    .unwrap();
    assert_eq!(end, End::Ended(FlowPhase::Succeed), "{:?}", heard.0);
    assert!(heard.at("service", NodePhase::Succeeded) < heard.at("user", NodePhase::Submitting));
}

#[test]
fn a_run_that_was_interrupted_looks_again() {
    let folder = tempfile::tempdir().unwrap();
    let service = job(&format!("touch up; {UNTIL_DONE}"), exec("test -e go"));
    let user = job("touch done", json!({}));
    let first = surroundings(folder.path());
    let interrupt = Arc::clone(&first.interrupt);
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(1500));
        interrupt.store(true, Ordering::Relaxed);
    });
    let mut heard = Heard::default();
    let (run, end) = start(input(&service, &user), settings(), &first, &mut heard).unwrap();
    assert_eq!(end, End::Interrupted);
    assert!(!heard.0.contains(&"user Submitting".to_owned()), "{:?}", heard.0);
    let up = find(&first.root.path(&run), "up");
    std::fs::write(up.with_file_name("go"), "").unwrap();
    let end = resume(&run, &surroundings(folder.path()), &mut heard).unwrap();
    assert_eq!(end, End::Ended(FlowPhase::Succeed), "{:?}", heard.0);
}

/// A file somewhere below a folder.
fn find(folder: &Path, name: &str) -> std::path::PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_name() == name {
                return entry.path();
            }
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    std::path::PathBuf::new()
}

#[test]
fn a_probe_of_a_port_that_nobody_declares_is_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let mut input = input(&job("true", json!({})), &job("true", json!({})));
    let entry = input.flow.spec.flows.as_mut().unwrap().last_mut().unwrap();
    entry.depends_on = serde_json::from_value(json!({
        "targets": ["service"], "probe": {"tcpSocketList": [{"taskName": "main", "port": 22}]},
    }))
    .unwrap();
    let refused = start(
        input,
        settings(),
        &surroundings(folder.path()),
        &mut Heard::default(),
    );
    let Err(RunError::Faults(faults)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].path.to_string(), "spec.flows[1].dependsOn.probe");
    assert!(
        faults[0].message.contains("port 22 of `service`"),
        "{}",
        faults[0].message
    );
}
