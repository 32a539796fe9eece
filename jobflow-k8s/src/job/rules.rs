//! The rules for Jobs, as Volcano's admission has them, all at once.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_core::graph::{Entry, FlowGraph, GraphFault};
use jobflow_core::key::NodeId;
use serde_json::Value;

use super::{JobView, TaskView, policies};
use crate::fault::{Code, Fault, FieldPath};
use crate::names;
use crate::types::job::{JobSpec, JobTask, JobVolume, PartitionPolicy};

const PLUGINS: [&str; 7] = ["env", "ssh", "svc", "tensorflow", "mpi", "pytorch", "ray"];

/// Everything for which Volcano would refuse the Job, and what is worth a warning.
pub(super) fn faults(spec: &JobSpec, view: &JobView, path: &FieldPath) -> Vec<Fault> {
    let mut faults = Vec::new();
    job(spec, view, path, &mut faults);
    let tasks = path.field("tasks");
    for (index, (written, task)) in spec.tasks.iter().flatten().zip(&view.tasks).enumerate() {
        self::task(written, task, &tasks.index(index), &mut faults);
    }
    task_names(view, &tasks, &mut faults);
    task_order(view, &tasks, &mut faults);
    faults.extend(policies::faults(&view.policies, &path.field("policies")));
    volumes(
        spec.volumes.as_deref().unwrap_or_default(),
        &path.field("volumes"),
        &mut faults,
    );
    plugins(view, &path.field("plugins"), &mut faults);
    faults
}

fn bad(path: FieldPath, message: impl Into<String>) -> Fault {
    Fault::error(Code::BadJob, path, message)
}

fn job(spec: &JobSpec, view: &JobView, path: &FieldPath, faults: &mut Vec<Fault>) {
    let negative = [
        ("minAvailable", spec.min_available),
        ("maxRetry", spec.max_retry),
        ("ttlSecondsAfterFinished", spec.ttl_seconds_after_finished),
    ];
    for (field, value) in negative {
        not_negative(field, value, path, faults);
    }
    if view.tasks.is_empty() {
        faults.push(bad(path.field("tasks"), "a job needs at least one task"));
    }
    let replicas = view
        .tasks
        .iter()
        .fold(0_i32, |sum, task| sum.saturating_add(task.replicas));
    if view.min_available > replicas {
        let message = format!(
            "minAvailable is {}, but all tasks together have {replicas} pods",
            view.min_available
        );
        faults.push(bad(path.field("minAvailable"), message));
    }
    if let Some(least) = view.min_success.filter(|least| *least > replicas) {
        let message = format!(
            "minSuccess is {least}, but all tasks together have {replicas} pods: it is never reached"
        );
        faults.push(Fault::warning(Code::BadJob, path.field("minSuccess"), message));
    }
}

fn not_negative(field: &str, value: Option<i32>, path: &FieldPath, faults: &mut Vec<Fault>) {
    if let Some(value) = value.filter(|value| *value < 0) {
        faults.push(bad(
            path.field(field),
            format!("{field} is {value}; it can't be negative"),
        ));
    }
}

fn task(written: &JobTask, task: &TaskView, path: &FieldPath, faults: &mut Vec<Fault>) {
    not_negative("replicas", written.replicas, path, faults);
    not_negative("minAvailable", written.min_available, path, faults);
    if task.min_available > task.replicas {
        let message = format!(
            "minAvailable is {}, but the task has {} pods",
            task.min_available, task.replicas
        );
        faults.push(bad(path.field("minAvailable"), message));
    }
    if !names::is_dns_label(&task.name) {
        let fault = Fault::error(
            Code::BadName,
            path.field("name"),
            format!("`{}` is no name of a task", task.name),
        );
        faults.push(fault.with_help("lower-case letters, digits and `-`, 63 characters at most"));
    }
    faults.extend(policies::faults(&task.policies, &path.field("policies")));
    if let Some(policy) = &task.partition_policy {
        partitions(policy, task.replicas, &path.field("partitionPolicy"), faults);
    }
    containers(task, &path.field("template").field("spec"), faults);
}

fn partitions(policy: &PartitionPolicy, replicas: i32, path: &FieldPath, faults: &mut Vec<Fault>) {
    let (total, size) = (
        policy.total_partitions.unwrap_or(0),
        policy.partition_size.unwrap_or(0),
    );
    for (field, value) in [("totalPartitions", total), ("partitionSize", size)] {
        if value <= 0 {
            faults.push(bad(
                path.field(field),
                format!("{field} is {value}; it must be at least 1"),
            ));
        }
    }
    if total.saturating_mul(size) != replicas {
        let message = format!("{total} partitions of {size} pods are not the {replicas} pods of the task");
        faults.push(bad(path.clone(), message));
    }
    let least = policy.min_partitions.unwrap_or(0);
    if least < 0 || least > total {
        faults.push(bad(
            path.field("minPartitions"),
            format!("minPartitions is {least}, of {total} partitions"),
        ));
    }
}

fn containers(task: &TaskView, path: &FieldPath, faults: &mut Vec<Fault>) {
    let spec = task.template.get("spec");
    let list = |name: &str| {
        spec.and_then(|spec| spec.get(name))
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    };
    if list("containers").is_empty() {
        faults.push(bad(
            path.field("containers"),
            "a pod needs at least one container",
        ));
    }
    let mut seen = BTreeSet::new();
    for field in ["initContainers", "containers"] {
        for (index, container) in list(field).iter().enumerate() {
            let path = path.field(field).index(index);
            let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
            if !names::is_dns_label(name) {
                let fault = Fault::error(
                    Code::BadName,
                    path.field("name"),
                    format!("`{name}` is no name of a container"),
                );
                faults.push(fault.with_help("lower-case letters, digits and `-`, 63 characters at most"));
            } else if !seen.insert(name) {
                let message = format!("the container `{name}` stands twice");
                faults.push(Fault::error(Code::DuplicateName, path.field("name"), message));
            }
            if container
                .get("image")
                .and_then(Value::as_str)
                .is_none_or(str::is_empty)
            {
                faults.push(bad(
                    path.field("image"),
                    format!("the container `{name}` has no image"),
                ));
            }
        }
    }
}

fn task_names(view: &JobView, path: &FieldPath, faults: &mut Vec<Fault>) {
    let mut seen = BTreeSet::new();
    for (index, task) in view.tasks.iter().enumerate() {
        if !seen.insert(task.name.as_str()) {
            let message = format!("the task `{}` stands twice", task.name);
            faults.push(Fault::error(
                Code::DuplicateName,
                path.index(index).field("name"),
                message,
            ));
        }
    }
}

/// Tasks may wait for tasks of the same Job, but not in a circle.
fn task_order(view: &JobView, path: &FieldPath, faults: &mut Vec<Fault>) {
    let places: BTreeMap<_, _> = (0..)
        .zip(&view.tasks)
        .map(|(at, task)| (task.name.as_str(), NodeId(at)))
        .collect();
    let mut entries = Vec::new();
    for (index, task) in view.tasks.iter().enumerate() {
        let mut targets = Vec::new();
        let written = task
            .depends_on
            .iter()
            .filter_map(|depends_on| depends_on.name.as_ref())
            .flatten();
        for (at, name) in written.enumerate() {
            if let Some(target) = places.get(name.as_str()) {
                targets.push(*target);
                continue;
            }
            let path = path.index(index).field("dependsOn").field("name").index(at);
            let fault = Fault::error(
                Code::UnknownReference,
                path,
                format!("the job has no task `{name}`"),
            );
            faults.push(fault.with_suggestion(name, places.keys().copied()));
        }
        entries.push(Entry::job(task.name.as_str()).after(targets));
    }
    for fault in FlowGraph::build(entries).err().into_iter().flatten() {
        let GraphFault::Cycle { nodes, names } = fault else {
            continue;
        };
        let first = nodes.first().map_or(0, |node| node.position());
        let message = format!("tasks wait for each other: {}", names.join(" -> "));
        faults.push(Fault::error(
            Code::Cycle,
            path.index(first).field("dependsOn"),
            message,
        ));
    }
}

fn volumes(volumes: &[JobVolume], path: &FieldPath, faults: &mut Vec<Fault>) {
    let mut seen = BTreeSet::new();
    for (index, volume) in volumes.iter().enumerate() {
        let path = path.index(index);
        let mount = volume.mount_path.as_deref().unwrap_or_default();
        let claim = volume.volume_claim_name.as_deref().unwrap_or_default();
        if mount.is_empty() {
            faults.push(bad(path.field("mountPath"), "a volume needs a mountPath"));
        } else if !seen.insert(mount) {
            faults.push(bad(
                path.field("mountPath"),
                format!("`{mount}` is mounted twice"),
            ));
        }
        if volume.volume_claim.is_none() && claim.is_empty() {
            faults.push(bad(path, "a volume needs a volumeClaimName or a volumeClaim"));
        } else if !claim.is_empty() && !names::is_dns_subdomain(claim) {
            let fault = Fault::error(
                Code::BadName,
                path.field("volumeClaimName"),
                format!("`{claim}` is no valid name"),
            );
            faults.push(fault.with_help(names::DNS_SUBDOMAIN_RULE));
        }
    }
}

/// A plugin that isn't known here may be one that the cluster knows: a warning.
fn plugins(view: &JobView, path: &FieldPath, faults: &mut Vec<Fault>) {
    for name in view
        .plugins
        .keys()
        .filter(|name| !PLUGINS.contains(&name.as_str()))
    {
        let message = format!("`{name}` is none of Volcano's plugins: {}", PLUGINS.join(", "));
        let fault = Fault::warning(Code::BadJob, path.field(name.clone()), message);
        faults.push(fault.with_suggestion(name, PLUGINS));
    }
}
