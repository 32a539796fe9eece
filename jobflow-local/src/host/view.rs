//! A Job of processes as a cluster would show it.

use std::sync::Arc;

use jobflow_core::{
    Uid,
    gang::{Action, GangSpec, JobPhase, PodPhase},
    snapshot::{JobView, PodCounts, TaskCount},
};

use super::job::{FailedOutcome, JobLife};

pub(super) fn view(job: &JobLife) -> JobView {
    let gang = job.gang();
    let mut view = JobView::new(Uid(job.plan.uid.as_str().into()), gang.phase(), gang.created);
    view.deleting = job.deleting;
    view.changed = gang.status.last_transition;
    view.min_available = job.spec.min_available;
    view.tasks = tasks(job);
    // A gang whose pods all failed counts as having been Running; where none began to run, it wasn't.
    view.ran = job.started
        && gang
            .status
            .conditions
            .iter()
            .any(|condition| condition.status == JobPhase::Running);
    view.started = job.started;
    view.aborts_itself = aborts_itself(&job.spec);
    view.pods_left = job.has_processes();
    view.infrastructure = job.lost && job.failure.is_none();
    view.pod_reasons = job
        .pods()
        .filter_map(|(_, pod)| pod.reason)
        .map(Arc::from)
        .collect();
    if let Some(failure) = &job.failure {
        view.exit_code = match &failure.outcome {
            FailedOutcome::Code(code) => Some(*code),
            FailedOutcome::NotStarted(_) => Some(128),
        };
    }
    view.message = message(job);
    view
}

fn tasks(job: &JobLife) -> Arc<[TaskCount]> {
    let mut counts: Vec<TaskCount> = job
        .spec
        .tasks
        .iter()
        .map(|task| TaskCount {
            task: task.name.as_str().into(),
            replicas: task.replicas,
            counts: PodCounts::default(),
        })
        .collect();
    let mut any = false;
    for (key, pod) in job.pods() {
        let Some(task) = counts.get_mut(key.task as usize) else {
            continue;
        };
        any = true;
        match pod.phase {
            PodPhase::Pending | PodPhase::Unknown => task.counts.pending += 1,
            PodPhase::Running => {
                task.counts.running += 1;
                task.counts.ready += u32::from(pod.ready);
            }
            PodPhase::Succeeded => task.counts.succeeded += 1,
            PodPhase::Failed => task.counts.failed += 1,
        }
    }
    if any { counts.into() } else { Arc::default() }
}

fn aborts_itself(spec: &GangSpec) -> bool {
    let of_tasks = spec.tasks.iter().flat_map(|task| &task.policies);
    spec.policies
        .iter()
        .chain(of_tasks)
        .any(|policy| policy.action == Action::AbortJob)
}

/// Which container failed, and how; never what it said.
fn message(job: &JobLife) -> Option<Arc<str>> {
    let failure = job.failure.as_ref()?;
    let task = job.plan.pods.get(failure.pod.task as usize)?;
    let container = &task.containers.get(failure.container as usize)?.name;
    let pod = format!(
        "{}-{}-{}",
        job.plan.name, job.spec.tasks[failure.pod.task as usize].name, failure.pod.index
    );
    let how = match &failure.outcome {
        FailedOutcome::Code(code @ 129..=192) => format!("was ended by signal {}", code - 128),
        FailedOutcome::Code(code) => format!("exited with {code}"),
        FailedOutcome::NotStarted(why) => format!("could not be started: {why}"),
    };
    Some(format!("container {container} of pod {pod} {how}").into())
}
