//! The rules for one task and its containers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{bad, not_negative};
use crate::fault::{Code, Fault, FieldPath};
use crate::job::{TaskView, policies};
use crate::names;
use crate::types::job::{JobTask, PartitionPolicy};

/// Adds everything that is wrong with a task.
pub(super) fn faults(written: &JobTask, task: &TaskView, path: &FieldPath, faults: &mut Vec<Fault>) {
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
