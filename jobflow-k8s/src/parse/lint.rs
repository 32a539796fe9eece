//! What is allowed in a flow and probably not meant.

use jobflow_core::FlowGraph;
use jobflow_core::condition::Condition;
use jobflow_core::gang::{Action, Event};
use jobflow_core::key::NodeId;

use super::{Built, Entries, Placed};
use crate::fault::{Code, Fault, FieldPath};
use crate::job::JobView;
use crate::types::job::Policy;

/// Warnings about Jobs in their places of the flow, as far as the Jobs are known.
pub(super) fn warnings(graph: &FlowGraph, entries: &Entries<'_>, built: &[Built]) -> Vec<Fault> {
    let mut warnings = Vec::new();
    for (at, placed) in (0..).zip(&entries.placed) {
        let node = NodeId(at);
        warnings.extend(deleted_early(graph, node, placed));
        for (position, target) in graph.entry(node).targets.iter().enumerate() {
            let waits_for_end = target
                .rules
                .as_slice()
                .iter()
                .any(|rule| rule.condition == Condition::Completed);
            let service = entries
                .placed
                .get(target.node.position())
                .filter(|_| waits_for_end)
                .and_then(|target| Some((target, restarting(target.job.as_deref()?)?)));
            let Some((target, most)) = service else { continue };
            let path = built
                .get(node.position())
                .and_then(|built| built.targets.get(position));
            let path = path.cloned().unwrap_or_else(|| placed.path.field("dependsOn"));
            warnings.push(never_completed(path, &target.entry.name, most));
        }
    }
    warnings
}

/// A Job that is deleted a while after its end, though others come after it.
fn deleted_early(graph: &FlowGraph, node: NodeId, placed: &Placed<'_>) -> Option<Fault> {
    const FIELD: &str = "ttlSecondsAfterFinished";
    let seconds = placed.job.as_deref()?.ttl_seconds_after_finished?;
    if graph.dependents(node).is_empty() {
        return None;
    }
    let says = |spec: Option<&crate::types::JobSpecData>| spec.is_some_and(|spec| spec.contains_key(FIELD));
    let entry = placed.entry;
    let patch = entry.patch.as_ref().and_then(|patch| patch.job_spec.as_ref());
    let path = match (says(patch), says(entry.job_spec.as_ref())) {
        (true, _) => placed.path.field("patch").field("jobSpec").field(FIELD),
        (false, true) => placed.path.field("jobSpec").field(FIELD),
        (false, false) if entry.template.is_some() => placed.path.field("template"),
        (false, false) => placed.path.field("name"),
    };
    let message = format!(
        "`{FIELD}` of this entry's Job is {seconds}: the Job, its pods and their logs are deleted {seconds} s after \
         its end, while the flow may still run"
    );
    let help = "its outcome is recorded before, and what depends on it goes on; to keep logs until the flow ends, \
                take it away here";
    Some(Fault::warning(Code::BadJob, path, message).with_help(help))
}

/// How often a Job is restarted that starts anew whenever a task of it completes; nothing for other Jobs.
fn restarting(job: &JobView) -> Option<i32> {
    let restarts = |policy: &Policy| {
        let events = policy.event.iter().chain(policy.events.iter().flatten());
        policy.action.as_deref() == Some(Action::RestartJob.as_str())
            && events
                .into_iter()
                .any(|event| event == Event::TaskCompleted.as_str())
    };
    let of_job = job.policies.iter().any(restarts);
    // A task's own policies stand in the place of the Job's.
    let of_tasks = job.tasks.iter().any(|task| task.policies.iter().any(restarts));
    ((of_job || of_tasks) && job.min_success.is_none()).then_some(job.max_retry)
}

fn never_completed(path: FieldPath, target: &str, most: i32) -> Fault {
    let message = format!(
        "`{target}` never completes: it is restarted whenever a task of it completes, {most} times, and fails then; \
         this entry waits for `Completed`"
    );
    let help = "wait for `Ready`, `Running` or `Started` of such a service with `condition`";
    Fault::warning(Code::BadJob, path, message).with_help(help)
}
