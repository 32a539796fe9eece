//! Which phase follows from counts: one rule a phase. In: the spec and a status that was just counted; out: a phase.

use super::phase::{JobPhase, PodPhase};
use super::spec::GangSpec;
use super::status::GangStatus;

/// The phase after a sync.
pub(super) fn judge(spec: &GangSpec, status: &GangStatus) -> JobPhase {
    match status.phase {
        JobPhase::Pending => while_pending(spec, status),
        JobPhase::Running => while_running(spec, status),
        JobPhase::Restarting => while_restarting(spec, status),
        JobPhase::Empty => JobPhase::Pending,
        JobPhase::Completing
        | JobPhase::Completed
        | JobPhase::Terminating
        | JobPhase::Terminated
        | JobPhase::Aborting
        | JobPhase::Aborted
        | JobPhase::Failed => status.phase,
    }
}

/// Failed once no retry is left; Pending as soon as enough pods aren't terminating any more. A minimum that can't be met
/// holds nothing up here: the job would restart for ever and spend no retry.
pub(super) fn while_restarting(spec: &GangSpec, status: &GangStatus) -> JobPhase {
    if status.retry_count >= spec.max_retry {
        return JobPhase::Failed;
    }
    let replicas = spec.replicas();
    let free = replicas.saturating_sub(status.counts.terminating);
    let needed = status.min_available.unwrap_or(spec.min_available).min(replicas);
    if free >= needed {
        JobPhase::Pending
    } else {
        JobPhase::Restarting
    }
}

fn while_pending(spec: &GangSpec, status: &GangStatus) -> JobPhase {
    if status.counts.placed() >= spec.min_available {
        JobPhase::Running
    } else {
        JobPhase::Pending
    }
}

fn while_running(spec: &GangSpec, status: &GangStatus) -> JobPhase {
    let (counts, replicas) = (status.counts, spec.replicas());
    if replicas == 0 {
        return JobPhase::Running;
    }
    if spec.min_success.is_some_and(|needed| counts.succeeded >= needed) {
        return JobPhase::Completed;
    }
    if counts.succeeded.saturating_add(counts.failed) == replicas {
        return if is_success(spec, status) {
            JobPhase::Completed
        } else {
            JobPhase::Failed
        };
    }
    let spare = replicas.saturating_sub(spec.min_available);
    if counts.pending > spare {
        JobPhase::Pending
    } else {
        JobPhase::Running
    }
}

/// All pods ended. The tasks' own minima count only where the job's minimum leaves none of them out.
fn is_success(spec: &GangSpec, status: &GangStatus) -> bool {
    let strict = spec.min_available >= spec.task_min_available();
    if strict && !every_task_succeeded(spec, status) {
        return false;
    }
    spec.min_success.is_none() && status.counts.succeeded >= spec.min_available
}

fn every_task_succeeded(spec: &GangSpec, status: &GangStatus) -> bool {
    spec.tasks.iter().all(|task| {
        let phases = status.task_status_count.get(&task.name);
        let succeeded = phases.map(|phases| phases.get(&PodPhase::Succeeded).copied().unwrap_or(0));
        succeeded.is_none_or(|succeeded| succeeded >= task.min_available)
    })
}
