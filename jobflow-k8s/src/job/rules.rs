//! The rules for Jobs, as Volcano's admission has them, all at once.

mod gang;
mod order;
mod task;

use std::collections::BTreeSet;

use super::{JobView, policies};
use crate::fault::{Code, Fault, FieldPath};
use crate::names;
use crate::types::job::{JobSpec, JobVolume};

const PLUGINS: [&str; 7] = ["env", "ssh", "svc", "tensorflow", "mpi", "pytorch", "ray"];

/// Everything for which Volcano would refuse the Job, and what is worth a warning.
pub(super) fn faults(spec: &JobSpec, view: &JobView, path: &FieldPath) -> Vec<Fault> {
    let mut faults = Vec::new();
    job(spec, view, path, &mut faults);
    let tasks = path.field("tasks");
    for (index, (written, task)) in spec.tasks.iter().flatten().zip(&view.tasks).enumerate() {
        task::faults(written, task, &tasks.index(index), &mut faults);
    }
    task_names(view, &tasks, &mut faults);
    order::faults(view, &tasks, &mut faults);
    faults.extend(policies::faults(&view.policies, &path.field("policies")));
    volumes(
        spec.volumes.as_deref().unwrap_or_default(),
        &path.field("volumes"),
        &mut faults,
    );
    plugins(view, &path.field("plugins"), &mut faults);
    if !faults.iter().any(Fault::is_error) {
        faults.extend(gang::fault(spec, view, path));
    }
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
