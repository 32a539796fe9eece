use super::*;
use crate::pod::{
    PodFault,
    addresses::{AddressBook, Range},
    identity::JobIdentity,
};
use jobflow_k8s::job::JobView;
use serde_json::{Value, json};

fn job(spec: &Value) -> JobShape {
    let identity = JobIdentity {
        name: "j".into(),
        namespace: "n".into(),
        uid: "u".into(),
        queue: "default".into(),
    };
    read(spec, identity).unwrap()
}

fn read(spec: &Value, identity: JobIdentity) -> Result<JobShape, Vec<PodFault>> {
    let view = JobView::of(serde_json::from_value(spec.clone()).unwrap());
    let addresses = AddressBook::of(Range::FIRST).take(10).unwrap();
    JobShape::read(spec.as_object().unwrap(), &view, identity, addresses)
}

fn check(spec: &Value, target: (usize, u32, bool), expected: &[(&str, &str)]) {
    let (task, index, init) = target;
    let variables = variables(&job(spec), Target { task, index, init });
    let variables: Vec<(&str, &str)> = variables
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(variables, expected);
}

fn tasks(plugins: &Value, first: (&str, u32), second: (&str, u32)) -> Value {
    json!({"plugins": plugins, "tasks": [
        {"name": first.0, "replicas": first.1}, {"name": second.0, "replicas": second.1}]})
}

const PS: (&str, &str) = ("VC_PS_HOSTS", "127.1.0.1");
const PS_NUMBER: (&str, &str) = ("VC_PS_NUM", "1");
const WORKER: (&str, &str) = ("VC_WORKER_HOSTS", "127.1.0.2,127.1.0.3");
const WORKER_NUMBER: (&str, &str) = ("VC_WORKER_NUM", "2");

#[test]
fn env_gives_the_index() {
    let spec = json!({"plugins": {"env": []}, "tasks": [{"name": "w", "replicas": 2}]});
    check(
        &spec,
        (0, 1, false),
        &[("VK_TASK_INDEX", "1"), ("VC_TASK_INDEX", "1")],
    );
    check(
        &spec,
        (0, 1, true),
        &[("VK_TASK_INDEX", "1"), ("VC_TASK_INDEX", "1")],
    );
    check(&json!({"tasks": [{}]}), (0, 0, false), &[]);
}

#[test]
fn svc_gives_the_hosts_of_all_tasks() {
    let spec = tasks(&json!({"svc": null}), ("ps", 1), ("worker", 2));
    check(&spec, (1, 0, true), &[PS, PS_NUMBER, WORKER, WORKER_NUMBER]);
    let files = files(&job(&spec)).unwrap();
    assert_eq!(files["worker.host"], "127.1.0.2\n127.1.0.3");
    assert_eq!(files["VC_PS_NUM"], "1");
    let dashed = json!({"plugins": {"svc": []}, "tasks": [{"name": "my-task", "replicas": 1}]});
    check(
        &dashed,
        (0, 0, false),
        &[("VC_MY_TASK_HOSTS", "127.1.0.1"), ("VC_MY_TASK_NUM", "1")],
    );
}

#[test]
fn pytorch_ranks_the_master_first() {
    let spec = tasks(
        &json!({"pytorch": ["--master=ps", "--worker=worker", "--port=23456"]}),
        ("ps", 1),
        ("worker", 2),
    );
    let all = |rank| {
        let head = [
            ("MASTER_ADDR", "127.1.0.1"),
            ("MASTER_PORT", "23456"),
            ("WORLD_SIZE", "3"),
            ("RANK", rank),
        ];
        [&head[..], &[PS, PS_NUMBER, WORKER, WORKER_NUMBER]].concat()
    };
    check(&spec, (0, 0, false), &all("0"));
    check(&spec, (1, 0, false), &all("1"));
    check(&spec, (1, 1, false), &all("2"));
    check(&spec, (1, 1, true), &[PS, PS_NUMBER, WORKER, WORKER_NUMBER]);
}

#[test]
fn tensorflow_gets_the_text_that_volcano_writes() {
    let spec = tasks(
        &json!({"tensorflow": ["--port", "5000"]}),
        ("ps", 1),
        ("worker", 2),
    );
    let config = r#"{"cluster":{"ps":["127.1.0.1:5000"],"worker":["127.1.0.2:5000","127.1.0.3:5000"]},"task":{"type":"worker","index":1}}"#;
    check(
        &spec,
        (1, 1, false),
        &[PS, PS_NUMBER, WORKER, WORKER_NUMBER, ("TF_CONFIG", config)],
    );
}

#[test]
fn mpi_tells_the_master_only() {
    let spec = tasks(
        &json!({"mpi": ["--master=ps", "--worker=worker"]}),
        ("ps", 1),
        ("worker", 2),
    );
    let hosts = ("MPI_HOST", "127.1.0.2,127.1.0.3");
    check(
        &spec,
        (0, 0, true),
        &[hosts, PS, PS_NUMBER, WORKER, WORKER_NUMBER],
    );
    check(&spec, (1, 0, false), &[PS, PS_NUMBER, WORKER, WORKER_NUMBER]);
}

#[test]
fn a_hostile_number_of_replicas_is_refused() {
    let identity = JobIdentity {
        name: "j".into(),
        namespace: "n".into(),
        uid: "u".into(),
        queue: "default".into(),
    };
    let spec = tasks(&json!({"ray": []}), ("a", 2_147_483_647), ("b", 2_147_483_647));
    let faults = read(&spec, identity).unwrap_err();
    assert_eq!(faults.len(), 2);
}
