use super::*;
use crate::pod::addresses::{AddressBook, Range};
use crate::{host::ContainerKey, task::TaskSpec};
use jobflow_core::{JobKey, NodeId, gang::PodKey};
use serde_json::json;

struct World {
    _folder: tempfile::TempDir,
    run: PathBuf,
    settings: KitSettings,
    objects: ConfigObjects,
    machine: Machine,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().canonicalize().unwrap();
    World {
        _folder: folder,
        run,
        settings: KitSettings {
            work: "/work".into(),
            enter: vec!["/bin/jobflow".into(), "__enter".into()],
            ..KitSettings::default()
        },
        objects: ConfigObjects::default(),
        machine: Machine {
            amounts: [("cpu".to_owned(), crate::resources::Quantity::whole(4))].into(),
        },
    }
}

impl World {
    fn prepare(&self, spec: &Value) -> Result<Prepared, Vec<String>> {
        let kit = Kit::new(
            &self.run,
            &self.settings,
            self.objects.clone(),
            &self.machine,
            false,
        );
        let view = JobView::of(serde_json::from_value(spec.clone()).unwrap());
        let identity = JobIdentity {
            name: "f-etl".into(),
            namespace: "default".into(),
            uid: "u".into(),
            queue: "default".into(),
        };
        let prepared = kit.prepare("etl", identity, spec.as_object().unwrap(), &view);
        prepared.map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    /// The task of a container of the first pod.
    fn task(&self, spec: &Value, container: u32) -> TaskSpec {
        let addresses = AddressBook::of(Range::FIRST).take(9).unwrap();
        self.prepare(spec)
            .unwrap()
            .task(key(0, container), 0, 0, addresses)
    }

    fn faults(&self, spec: &Value) -> Vec<String> {
        self.prepare(spec).unwrap_err()
    }
}

fn key(task: u32, container: u32) -> ContainerKey {
    ContainerKey {
        job: JobKey {
            node: NodeId(3),
            index: 0,
            attempt: 1,
        },
        pod: PodKey {
            task,
            index: 0,
            incarnation: 0,
        },
        container,
        run: 2,
    }
}

/// A Job of one task with one pod.
fn job(pod: Value) -> Value {
    json!({"tasks": [{"name": "main", "replicas": 1, "template": {"spec": pod}}]})
}

fn variable<'a>(task: &'a TaskSpec, name: &str) -> Option<&'a str> {
    let found = task.env.iter().find(|(variable, _)| variable == name);
    found.map(|(_, value)| value.as_str())
}

#[test]
fn a_job_becomes_pods_and_their_tasks() {
    let world = world();
    let mut spec = job(json!({
        "restartPolicy": "OnFailure", "activeDeadlineSeconds": 60, "terminationGracePeriodSeconds": 5,
        "initContainers": [{"name": "get", "command": ["true"]}],
        "containers": [{"name": "main", "command": ["echo", "$(GREETING) $(UNKNOWN)"], "args": ["$(POD)"],
            "resources": {"requests": {"cpu": "500m"}},
            "env": [{"name": "GREETING", "value": "hello"},
                {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}]}));
    spec["plugins"] = json!({"env": [], "svc": []});
    let prepared = world.prepare(&spec).unwrap();
    let container = |name: &str, init| ContainerPlan {
        name: name.to_owned(),
        init,
        readiness: None,
    };
    let pod = PodPlan {
        containers: vec![container("get", true), container("main", false)],
        restart_policy: crate::pod::template::RestartPolicy::OnFailure,
        deadline: Some(Span::from_secs(60)),
        grace: Duration::from_secs(5),
    };
    assert_eq!(prepared.pods(), [pod]);
    assert_eq!(prepared.requests(), std::slice::from_ref(prepared.minimum()));
    assert_eq!(prepared.minimum()["cpu"].to_string(), "500m");

    let task = world.task(&spec, 1);
    assert_eq!(task.argv, ["echo", "hello $(UNKNOWN)", "f-etl-main-0"]);
    assert_eq!(task.cwd, Path::new("/work"));
    assert_eq!(task.log, Path::new("logs/3-0-1.main-0-0/main.2.log"));
    assert_eq!(variable(&task, "VC_TASK_INDEX"), Some("0"));
    assert_eq!(variable(&task, "VC_MAIN_HOSTS"), Some("127.1.0.1"));
    assert_eq!(
        variable(&task, "HOME"),
        Some(world.run.join("home").to_str().unwrap())
    );
    assert!(world.run.join("home").is_dir());
}

#[test]
fn every_fault_of_a_job_is_told_once_with_its_path() {
    let world = world();
    let containers = json!([{"name": "a", "image": "x"},
        {"name": "b", "command": ["b"], "resources": {"limits": {"cpu": "much"}}}]);
    let faults = world.faults(&job(json!({"containers": containers})));
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0]
            .starts_with("spec.tasks[0].template.spec.containers[0].command: container `a` has no command")
    );
    assert!(faults[0].contains("--command etl/main='…'"));
    assert!(faults[1].starts_with("spec.tasks[0].template.spec.containers[1].resources.limits.cpu: "));

    let containers = json!([{"name": "a", "command": ["a"]}, {"name": "b", "command": ["b"]}]);
    let mut spec = job(json!({"containers": containers}));
    spec["volumes"] = json!([{"mountPath": "relative", "volumeClaimName": "c"}]);
    let faults = world.faults(&spec);
    assert_eq!(
        faults,
        [r#"spec.volumes[0]: "relative" is no absolute path without `..`"#]
    );
}

#[test]
fn a_given_command_stands_in_the_place_of_the_tasks_own() {
    let mut world = world();
    world.settings.commands = vec![CommandFor {
        entry: None,
        task: "main".into(),
        command: "echo $(A) $$".into(),
    }];
    let env = json!([{"name": "A", "value": "1"}]);
    for container in [
        json!({"name": "a", "env": env}),
        json!({"name": "a", "command": ["b"], "env": env}),
    ] {
        let task = world.task(&job(json!({"containers": [container]})), 0);
        assert_eq!(task.argv, ["sh", "-c", "echo $(A) $$"]);
    }
}

#[test]
fn a_gang_that_never_fits_is_a_fault() {
    let world = world();
    let resources = json!({"requests": {"cpu": 3}, "limits": {"nvidia.com/gpu": 1}});
    let mut spec = job(json!({"containers": [{"name": "a", "command": ["a"], "resources": resources}]}));
    let faults = world.faults(&spec);
    assert!(faults[0].contains("--resources nvidia.com/gpu=N"), "{faults:?}");
    assert!(faults[0].contains("--ignore-resources"), "{faults:?}");

    let resources = json!({"requests": {"cpu": 3}});
    spec["tasks"][0]["template"]["spec"]["containers"][0]["resources"] = resources;
    spec["tasks"][0]["replicas"] = json!(2);
    assert!(world.faults(&spec)[0].contains("--cpus N"));
    spec["tasks"][0]["minAvailable"] = json!(1);
    assert!(world.prepare(&spec).is_ok());
}

#[test]
fn what_cannot_be_made_is_a_task_that_cannot_start_and_says_why() {
    let world = world();
    let spec = job(json!({"containers": [{"name": "a", "command": ["a"],
        "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}));
    std::fs::create_dir_all(world.run.join("volumes/claims")).unwrap();
    std::os::unix::fs::symlink("/etc", world.run.join("volumes/claims/c")).unwrap();
    let task = world.task(&spec, 0);
    assert!(task.argv[0].starts_with("/dev/null/"), "{:?}", task.argv);
    assert!(task.argv[0].contains("volumes/claims/c"), "{:?}", task.argv);
}

#[test]
fn secrets_reach_neither_argv_nor_messages() {
    let mut world = world();
    let secret = json!({"kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "hunter2"}});
    world.objects.add(&secret).unwrap();
    let env = json!([{"name": "K", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]);
    let spec = job(json!({"containers": [{"name": "a", "command": ["a"], "env": env}]}));
    let task = world.task(&spec, 0);
    assert_eq!(variable(&task, "K"), Some("hunter2"));
    let debug = format!("{task:?} {:?}", world.prepare(&spec).unwrap());
    assert!(!debug.contains("hunter2"));
    let volume = json!([{"name": "v", "secret": {"secretName": "s", "items": [{"key": "no", "path": "p"}]}}]);
    let spec = job(json!({"containers": [{"name": "a", "command": ["a"], "env": env,
        "volumeMounts": [{"name": "v", "mountPath": "/v"}]}], "volumes": volume}));
    assert!(!world.faults(&spec).concat().contains("hunter2"));
}
