//! A Job as the core sees it: its phase, its counts, and what its history tells.

use std::sync::Arc;

use jobflow_core::Span;
use jobflow_core::gang::JobPhase as CorePhase;
use jobflow_core::key::Uid;
use jobflow_core::snapshot::{JobView, PodCounts, TaskCount};

use super::pods::PodsSeen;
use super::slim_job::{SlimJob, SlimTask};
use crate::names::ANNOTATION_TTL;
use crate::types::JobPhase;

/// What a Job shows, with what was seen of its pods if anybody looked.
///
/// - `tasks` are sorted by name, and empty when the status tells of no pods (the second write of an end doesn't any
///   more, seen in recordings): the core keeps what it saw before.
/// - `ran` holds if the history of phases shows `Running`, so that a short life isn't missed.
/// - `aborts_itself` holds if a policy at any level has the action `AbortJob`: an Aborted Job looks the same whoever
///   aborted it.
/// - A phase that is not known here is no end: the Job counts as Pending, or Running if pods of it run.
#[must_use]
pub fn job_view(job: &SlimJob, pods: Option<&PodsSeen>) -> JobView {
    let ran = job.history.iter().any(|(phase, _)| *phase == JobPhase::Running);
    let tasks = tasks(job, pods);
    let pods_ran = job.running > 0 || job.succeeded > 0 || pods.is_some_and(|pods| pods.started);
    JobView {
        uid: Uid::from(job.uid()),
        phase: phase(job),
        deleting: job.is_deleting(),
        created: job.created().unwrap_or_default(),
        changed: job.changed,
        queue: Some(Arc::from(&*job.queue)),
        min_available: job
            .counted_min_available
            .filter(|least| *least > 0)
            .unwrap_or(job.min_available),
        started: ran || pods_ran || tasks.iter().any(|task| task.counts.any_ran()),
        ran,
        aborts_itself: job.aborts_itself,
        // Who watches pods knows whether it has read them.
        pods_unread: false,
        pods_left: pods.map_or_else(|| counts_live_pods(job), |pods| pods.left),
        exit_code: pods.and_then(|pods| pods.exit_code),
        infrastructure: pods.is_some_and(|pods| pods.infrastructure),
        pod_reasons: pods.map(|pods| pods.reasons.clone()).unwrap_or_default(),
        message: message(job, &tasks, pods),
        ttl: ttl(job),
        tasks,
    }
}

/// The phase in the core's words.
const fn phase(job: &SlimJob) -> CorePhase {
    match job.phase {
        JobPhase::New => CorePhase::Empty,
        JobPhase::Pending => CorePhase::Pending,
        JobPhase::Running => CorePhase::Running,
        JobPhase::Restarting => CorePhase::Restarting,
        JobPhase::Completing => CorePhase::Completing,
        JobPhase::Completed => CorePhase::Completed,
        JobPhase::Terminating => CorePhase::Terminating,
        JobPhase::Terminated => CorePhase::Terminated,
        JobPhase::Aborting => CorePhase::Aborting,
        JobPhase::Aborted => CorePhase::Aborted,
        JobPhase::Failed => CorePhase::Failed,
        JobPhase::Unknown if job.running > 0 => CorePhase::Running,
        JobPhase::Unknown => CorePhase::Pending,
    }
}

/// Whether the status tells of pods that haven't ended.
const fn counts_live_pods(job: &SlimJob) -> bool {
    job.pending > 0 || job.running > 0 || job.terminating > 0 || job.unknown > 0
}

fn tasks(job: &SlimJob, pods: Option<&PodsSeen>) -> Arc<[TaskCount]> {
    if !job.counts_pods() {
        return Arc::default();
    }
    let mut tasks: Vec<TaskCount> = job.tasks.iter().map(|task| count(task, pods)).collect();
    tasks.sort_by(|one, other| one.task.cmp(&other.task));
    Arc::from(tasks)
}

/// Ready pods are counted from pods; never more than the Job counts as running, since it may be ahead.
fn count(task: &SlimTask, pods: Option<&PodsSeen>) -> TaskCount {
    let counts = task.counts.unwrap_or_default();
    let ready = pods
        .and_then(|pods| pods.ready.get(&*task.name))
        .copied()
        .unwrap_or(0);
    TaskCount {
        task: Arc::from(&*task.name),
        replicas: task.replicas,
        counts: PodCounts {
            pending: counts.pending,
            running: counts.running,
            ready: ready.min(counts.running),
            succeeded: counts.succeeded,
            failed: counts.failed,
        },
    }
}

/// The template's `ttlSecondsAfterFinished`, which a created Job bears as an annotation; what is no number is none.
fn ttl(job: &SlimJob) -> Option<Span> {
    let annotations = job.metadata.annotations.as_ref()?;
    annotations.get(ANNOTATION_TTL)?.parse().ok().map(Span::from_secs)
}

/// What to tell about a Job that failed or was terminated: Volcano's own reason and message are always empty.
fn message(job: &SlimJob, tasks: &[TaskCount], pods: Option<&PodsSeen>) -> Option<Arc<str>> {
    if !matches!(
        job.phase,
        JobPhase::Failed | JobPhase::Terminated | JobPhase::Aborted
    ) {
        return None;
    }
    let failed = tasks.iter().filter(|task| task.counts.failed > 0).map(|task| {
        format!(
            "task {}: {} of {} pods failed",
            task.task, task.counts.failed, task.replicas
        )
    });
    let first = pods
        .and_then(|pods| pods.first_failure.as_deref())
        .map(str::to_owned);
    let parts: Vec<String> = failed.take(4).chain(first).collect();
    (!parts.is_empty()).then(|| Arc::from(parts.join("; ")))
}
