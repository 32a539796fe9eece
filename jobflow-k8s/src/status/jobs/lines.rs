//! What is listed of one Job. Times come from the Job and are written once: what stands there is not written over.

use std::collections::BTreeMap;

use jobflow_core::Time;
use jobflow_core::snapshot::TaskCount;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time as KubeTime;

use super::rows::Row;
use crate::observe::SlimJob;
use crate::types::job::TaskState;
use crate::types::{Instant, JobConditionEntry, JobPhase, JobRunningHistory, JobStatusEntry};

fn kube(time: Time) -> KubeTime {
    Instant::from(time).into()
}

/// The line of a Job in `jobStatusList`.
pub(super) fn line(
    row: &Row,
    job: Option<&SlimJob>,
    before: Option<&JobStatusEntry>,
    histories: usize,
) -> JobStatusEntry {
    let written = |get: fn(&JobStatusEntry) -> &Option<KubeTime>| before.and_then(|line| get(line).clone());
    let start = written(|line| &line.start_timestamp);
    let end = written(|line| &line.end_timestamp).filter(|_| row.ended.is_some());
    let restarts = job
        .map(|job| i32::try_from(job.retry_count).unwrap_or(i32::MAX))
        .filter(|count| *count > 0);
    JobStatusEntry {
        name: Some(row.name.clone()),
        state: Some(row.phase.to_owned()),
        start_timestamp: start.or_else(|| job.and_then(SlimJob::created).map(kube)),
        end_timestamp: end.or_else(|| row.ended.map(kube)),
        restart_count: restarts.or_else(|| before.and_then(|line| line.restart_count)),
        running_histories: self::histories(job, before, histories),
    }
}

/// The last phases of the Job, each with its beginning and the next one's.
fn histories(
    job: Option<&SlimJob>,
    before: Option<&JobStatusEntry>,
    most: usize,
) -> Option<Vec<JobRunningHistory>> {
    let told = job.map(|job| &*job.history).filter(|history| !history.is_empty());
    let mut histories = match told {
        Some(history) => of_history(history),
        None => before
            .and_then(|line| line.running_histories.clone())
            .unwrap_or_default(),
    };
    histories.drain(..histories.len().saturating_sub(most));
    (!histories.is_empty()).then_some(histories)
}

fn of_history(history: &[(JobPhase, Option<Time>)]) -> Vec<JobRunningHistory> {
    let ends = history.iter().skip(1).map(|(_, since)| *since).chain([None]);
    history
        .iter()
        .zip(ends)
        .map(|((phase, since), until)| JobRunningHistory {
            start_timestamp: since.map(kube),
            end_timestamp: until.map(kube),
            state: Some(in_words(*phase).to_owned()),
        })
        .collect()
}

const fn in_words(phase: JobPhase) -> &'static str {
    match phase {
        JobPhase::New => "",
        JobPhase::Pending => "Pending",
        JobPhase::Running => "Running",
        JobPhase::Restarting => "Restarting",
        JobPhase::Completing => "Completing",
        JobPhase::Completed => "Completed",
        JobPhase::Terminating => "Terminating",
        JobPhase::Terminated => "Terminated",
        JobPhase::Aborting => "Aborting",
        JobPhase::Aborted => "Aborted",
        JobPhase::Failed => "Failed",
        JobPhase::Unknown => "Unknown",
    }
}

/// The entry of a Job in `conditions`.
pub(super) fn condition(
    row: &Row,
    job: Option<&SlimJob>,
    line: Option<&JobStatusEntry>,
    before: Option<&JobConditionEntry>,
) -> JobConditionEntry {
    let created = before.and_then(|condition| condition.create_time.clone());
    let created = created.or_else(|| line.and_then(|line| line.start_timestamp.clone()));
    let duration = job
        .and_then(|job| job.running_duration.as_deref())
        .map(str::to_owned);
    let counts = row
        .tasks
        .as_deref()
        .map(counts)
        .filter(|counts| !counts.is_empty());
    JobConditionEntry {
        phase: Some(row.phase.to_owned()),
        create_time: created.or_else(|| job.and_then(SlimJob::created).map(kube)),
        running_duration: duration
            .or_else(|| before.and_then(|condition| condition.running_duration.clone())),
        task_status_count: counts
            .or_else(|| before.and_then(|condition| condition.task_status_count.clone())),
    }
}

fn counts(tasks: &[TaskCount]) -> BTreeMap<String, TaskState> {
    let of = |task: &TaskCount| {
        let counts = [
            ("Pending", task.counts.pending),
            ("Running", task.counts.running),
            ("Succeeded", task.counts.succeeded),
            ("Failed", task.counts.failed),
        ];
        let told = counts.into_iter().filter(|(_, count)| *count > 0);
        let phases: BTreeMap<String, i32> = told
            .map(|(phase, count)| (phase.to_owned(), i32::try_from(count).unwrap_or(i32::MAX)))
            .collect();
        (task.task.to_string(), TaskState { phase: Some(phases) })
    };
    let all = tasks.iter().map(of);
    all.filter(|(_, state)| state.phase.as_ref().is_some_and(|phases| !phases.is_empty()))
        .collect()
}
