//! What it takes to patch a Job of about 200 lines, against its bound.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark reports")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use jobflow_k8s::fault::FieldPath;
use jobflow_k8s::patch;
use jobflow_k8s::types::Patch;
use serde_json::{Map, Value, json};

const BOUND: Duration = Duration::from_micros(50);

/// A task of about fifty lines of YAML.
fn task(name: &str) -> Value {
    let env: Vec<Value> = (0..8)
        .map(|at| json!({ "name": format!("VARIABLE_{at}"), "value": format!("value {at}") }))
        .collect();
    json!({
        "name": name,
        "replicas": 2,
        "policies": [{ "event": "TaskCompleted", "action": "CompleteJob" }],
        "template": {
            "metadata": { "labels": { "app": "train", "part": name }, "annotations": { "a.b/c": "d" } },
            "spec": {
                "restartPolicy": "Never",
                "containers": [{
                    "name": "main",
                    "image": "registry.example/train:1",
                    "command": ["sh", "-c", "train"],
                    "env": env,
                    "ports": [{ "containerPort": 80, "name": "http" }, { "containerPort": 443 }],
                    "resources": { "requests": { "cpu": "1", "memory": "1Gi" }, "limits": { "memory": "2Gi" } },
                    "volumeMounts": [{ "name": "data", "mountPath": "/data" }, { "name": "code", "mountPath": "/code" }],
                }],
                "volumes": [{ "name": "data", "emptyDir": {} }, { "name": "code", "configMap": { "name": "code" } }],
                "tolerations": [{ "key": "gpu", "operator": "Exists", "effect": "NoSchedule" }],
            },
        },
    })
}

fn job() -> Map<String, Value> {
    let tasks: Vec<Value> = ["chief", "worker", "ps", "eval"].map(task).into();
    let job = json!({ "queue": "q", "minAvailable": 4, "plugins": { "svc": [], "env": [] }, "tasks": tasks });
    serde_json::from_value(job).unwrap()
}

fn changes() -> Patch {
    let task = |name: &str| {
        json!({ "name": name, "replicas": 3, "template": { "spec": { "containers": [{
            "name": "main",
            "image": "registry.example/train:2",
            "env": [{ "name": "VARIABLE_3", "value": "new" }, { "name": "MORE", "value": "x" }],
            "resources": { "limits": { "memory": null } },
        }] } } })
    };
    let tasks: Vec<Value> = ["chief", "worker", "ps", "eval"].map(task).into();
    serde_json::from_value(json!({
        "jobSpec": { "queue": "other", "tasks": tasks },
        "remove": ["tasks[ps].template.spec.containers[main].ports[443]"],
    }))
    .unwrap()
}

fn main() {
    let (job, changes, root) = (job(), changes(), FieldPath::root());
    let merge = || patch::apply(black_box(&job), black_box(&changes), &root).unwrap();
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    criterion.bench_function("patch a Job of 200 lines", |bencher| bencher.iter(merge));
    criterion.final_summary();
    let mut samples: Vec<Duration> = (0..1000)
        .map(|_| {
            let began = Instant::now();
            black_box(merge());
            began.elapsed()
        })
        .collect();
    samples.sort_unstable();
    let (median, fastest) = (samples[samples.len() / 2], samples[0]);
    let word = if median <= BOUND { "holds" } else { "MISSED" };
    println!("{word}: patch a Job of 200 lines: {median:.1?} of {BOUND:?}, fastest {fastest:.1?}");
}
