//! Probes: each applies to every target that has a task of its name.

mod header;
mod network;
mod path;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jobflow_core::condition::{Condition, Rule, TaskCondition};

use super::Entries;
use super::depends::{Waits, task_status};
use crate::fault::{Code, Fault, FieldPath};
use crate::types::{self, DependsOn, DependsOnProbe, PodCondition};

const PHASES: [(&str, PodCondition); 8] = [
    ("Pending", PodCondition::Pending),
    ("Running", PodCondition::Running),
    ("Succeeded", PodCondition::Succeeded),
    ("Completed", PodCondition::Succeeded),
    ("Failed", PodCondition::Failed),
    ("Started", PodCondition::Started),
    ("Ready", PodCondition::Ready),
    ("Finished", PodCondition::Finished),
];

/// Whether anything is probed; lists that are empty are none.
pub(super) fn is_there(depends_on: &DependsOn) -> bool {
    depends_on.probe.as_ref().is_some_and(|probe| {
        let DependsOnProbe {
            http_get_list,
            tcp_socket_list,
            task_status_list,
            period_seconds: _,
            timeout_seconds: _,
            success_threshold: _,
            scheme: _,
            replicas: _,
        } = probe;
        is_filled(http_get_list.as_deref())
            || is_filled(tcp_socket_list.as_deref())
            || is_filled(task_status_list.as_deref())
    })
}

fn is_filled<T>(list: Option<&[T]>) -> bool {
    list.is_some_and(|list| !list.is_empty())
}

/// Adds the probes of an entry to its targets.
pub(super) fn add(
    depends_on: &DependsOn,
    path: &FieldPath,
    entries: &Entries<'_>,
    waits: &mut Waits,
    faults: &mut Vec<Fault>,
) {
    let Some(probe) = &depends_on.probe else { return };
    let path = path.field("probe");
    let mut wanted = network::probes(probe, &path, faults);
    wanted.extend(task_statuses(probe, &path, faults));
    if waits.targets.is_empty() && is_there(depends_on) {
        let message = "a probe needs `targets` that it looks at";
        return faults.push(Fault::error(Code::MissingField, path, message));
    }
    let tasks: Vec<_> = waits
        .targets
        .iter()
        .map(|target| tasks_of(&target.name, entries))
        .collect();
    for Wanted {
        task,
        path,
        condition,
    } in wanted
    {
        let chosen = chosen(task, &tasks);
        if chosen.is_empty() {
            let message = format!("no target has a task `{task}`");
            let fault = Fault::error(Code::UnknownReference, path.field("taskName"), message);
            faults.push(fault.with_suggestion(task, tasks.iter().flatten().flatten().map(String::as_str)));
        }
        for position in chosen {
            if let Some(target) = waits.targets.get_mut(position) {
                target.rules.push(Rule::new(condition.clone()));
            }
        }
    }
}

/// A probe before it is known whom it applies to.
struct Wanted<'a> {
    /// The task that a target must have; empty for every target.
    task: &'a str,
    /// Where the probe is written.
    path: FieldPath,
    condition: Condition,
}

fn task_statuses<'a>(
    probe: &'a DependsOnProbe,
    path: &FieldPath,
    faults: &mut Vec<Fault>,
) -> Vec<Wanted<'a>> {
    let list = probe.task_status_list.iter().flatten().enumerate();
    list.filter_map(|(at, probe)| {
        let path = path.field("taskStatusList").index(at);
        let status = task_status(phase(probe, &path, faults)?);
        let task = probe.task_name.as_deref().unwrap_or_default();
        let condition = Condition::Task(TaskCondition {
            task: Arc::from(task),
            status,
            at_least: None,
        });
        Some(Wanted {
            task,
            path,
            condition,
        })
    })
    .collect()
}

fn phase(probe: &types::TaskStatus, path: &FieldPath, faults: &mut Vec<Fault>) -> Option<PodCondition> {
    let written = probe.phase.as_deref().unwrap_or_default();
    let found = PHASES
        .iter()
        .find(|(name, _)| *name == written)
        .map(|(_, condition)| *condition);
    if found.is_none() {
        let names = PHASES.map(|(name, _)| name);
        let message = format!("`{written}` is no phase of pods: {}", names.join(", "));
        faults
            .push(Fault::error(Code::BadValue, path.field("phase"), message).with_suggestion(written, names));
    }
    found
}

/// The targets that a probe of a task applies to: those that are known to have it; if none is, those about whose
/// tasks nothing is known. No name means every task of every target.
fn chosen(task: &str, tasks: &[Option<Vec<String>>]) -> Vec<usize> {
    let positions = |wanted: &dyn Fn(&Option<Vec<String>>) -> bool| {
        (0..)
            .zip(tasks)
            .filter(|(_, tasks)| wanted(tasks))
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
    if task.is_empty() {
        return positions(&|_| true);
    }
    let having = positions(&|tasks| {
        tasks
            .as_ref()
            .is_some_and(|tasks| tasks.iter().any(|name| name == task))
    });
    if having.is_empty() {
        positions(&Option::is_none)
    } else {
        having
    }
}

/// The tasks of an entry's job, if they are known.
pub(super) fn tasks_of(name: &str, entries: &Entries<'_>) -> Option<Vec<String>> {
    let job = entries.find(name)?.job.as_deref()?;
    Some(job.tasks.iter().map(|task| task.name.clone()).collect())
}
