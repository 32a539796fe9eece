//! Nodes of a flow that only Volcano's own controller has looked at: it writes the phases of Jobs, by their names.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::NodePhase;
use jobflow_core::snapshot::{PodCounts, TaskCount};
use jobflow_k8s::names::job_name;
use jobflow_k8s::types::{Entry, Instant, JobFlow, JobFlowStatus};

use super::{entries, jobs, took, waits_for};
use crate::standing::Row;

/// A row an entry.
pub(super) fn rows(flow: &JobFlow, status: &JobFlowStatus, now: i64) -> Vec<Row> {
    let name = flow.metadata.name.as_deref().unwrap_or_default();
    let jobs = jobs(status);
    let phase_of = |entry: &str| {
        let job = jobs.get(job_name(name, entry, None, 1).as_str());
        job.map_or(NodePhase::Waiting, |job| {
            phase(job.state.as_deref().unwrap_or_default())
        })
    };
    let row = |entry: &Entry| {
        let job = job_name(name, &entry.name, None, 1);
        let phase = phase_of(&entry.name);
        let known = jobs.get(job.as_str());
        Row {
            name: entry.name.clone(),
            phase,
            attempt: u32::from(known.is_some()),
            took: known.and_then(|job| {
                let [began, ended] =
                    [&job.start_timestamp, &job.end_timestamp].map(|time| time.as_ref().map(Instant::from));
                took(began, ended, now)
            }),
            tasks: tasks(status, &job),
            exit_code: None,
            why: waiting(entry, phase, phase_of),
        }
    };
    entries(&flow.spec).map(row).collect()
}

fn tasks(status: &JobFlowStatus, job: &str) -> Vec<TaskCount> {
    let condition = status
        .conditions
        .as_ref()
        .and_then(|conditions| conditions.get(job));
    let counts = condition.and_then(|condition| condition.task_status_count.as_ref());
    let by_phase = counts.into_iter().flatten();
    by_phase
        .filter_map(|(task, state)| Some(counted(task, state.phase.as_ref()?)))
        .collect()
}

fn counted(task: &str, phases: &BTreeMap<String, i32>) -> TaskCount {
    let number = |count: &i32| u32::try_from(*count).unwrap_or(0);
    let of = |phase: &str| phases.get(phase).map_or(0, number);
    TaskCount {
        task: Arc::from(task),
        replicas: phases.values().map(number).fold(0, u32::saturating_add),
        counts: PodCounts {
            pending: of("Pending"),
            running: of("Running"),
            ready: 0,
            succeeded: of("Succeeded"),
            failed: of("Failed"),
        },
    }
}

fn waiting(entry: &Entry, phase: NodePhase, phase_of: impl Fn(&str) -> NodePhase) -> String {
    if phase != NodePhase::Waiting {
        return String::new();
    }
    let depends = entry.depends_on.as_ref();
    let targets = depends
        .and_then(|depends| depends.targets.as_ref())
        .into_iter()
        .flatten();
    let unmet: Vec<String> = targets
        .filter(|target| !phase_of(target).is_end())
        .cloned()
        .collect();
    waits_for(&unmet).unwrap_or_default()
}

/// What the phase of a Job says of its node. That Volcano's controller never goes on after an abort is no end.
fn phase(job: &str) -> NodePhase {
    match job {
        "Running" | "Restarting" | "Completing" => NodePhase::Running,
        "Terminating" | "Aborting" => NodePhase::Stopping,
        "Completed" => NodePhase::Succeeded,
        "Failed" | "Terminated" => NodePhase::Failed,
        "Aborted" => NodePhase::Paused,
        _ => NodePhase::Queued,
    }
}
