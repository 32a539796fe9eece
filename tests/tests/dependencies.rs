//! What satisfies a dependency, planned from states of jobs that the made-up world can't show.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::sync::Arc;

use jobflow_core::condition::{Condition, Rule, TaskCondition, TaskStatus};
use jobflow_core::facts::{Answer, FactKey, TemplateVersion};
use jobflow_core::gang::JobPhase;
use jobflow_core::graph::{Entry, Target};
use jobflow_core::node::NodeState;
use jobflow_core::plan::plan_with_answers;
use jobflow_core::policy::FailurePolicy;
use jobflow_core::snapshot::{JobView, Ledger, PodCounts, Sighting, TaskCount};
use jobflow_core::{
    FactCache, FlowGraph, JobKey, NodeId, NodePhase, Plan, Policy, Reason, Snapshot, Time, Uid,
};

/// `a`, whose job is seen like this, and `b`, which asks this of it.
fn planned(condition: Condition, view: &JobView) -> Plan {
    let mut b = Entry::job("b");
    b.targets.push(Target::with("a".into(), Rule::new(condition)));
    planned_in(vec![Entry::job("a"), b], view)
}

/// The flow's first entry has this job; nothing is known of the others.
fn planned_in(entries: Vec<Entry<Arc<str>>>, view: &JobView) -> Plan {
    let graph = FlowGraph::from_names(entries).unwrap();
    let mut snapshot = Snapshot::unborn(graph.len());
    snapshot.ledger = Ledger::Kept;
    let a = snapshot.record.nodes.change(NodeId(0));
    a.state = NodeState::recorded(NodePhase::Submitting);
    a.attempt = 1;
    let key = JobKey {
        node: NodeId(0),
        index: 0,
        attempt: 1,
    };
    snapshot.jobs.insert(key, Sighting::Seen(view.clone()));
    plan(&graph, &snapshot)
}

fn plan(graph: &FlowGraph, snapshot: &Snapshot) -> Plan {
    let policy = Policy {
        failure_policy: FailurePolicy::Continue,
        ..Policy::default()
    };
    plan_with_answers(
        graph,
        &policy,
        snapshot,
        &mut FactCache::default(),
        answer,
        Time(1_000),
    )
}

fn answer(question: &FactKey) -> Option<Answer> {
    let is_template = matches!(question, FactKey::Template(_));
    Some(if is_template {
        Answer::Template(TemplateVersion::default())
    } else {
        Answer::Rendered(0)
    })
}

fn job(phase: JobPhase, tasks: &[(&str, PodCounts)]) -> JobView {
    let mut view = JobView::new(Uid::from("u"), phase, Time(0));
    view.tasks = tasks.iter().map(|(task, counts)| count(task, *counts)).collect();
    view
}

fn count(task: &str, counts: PodCounts) -> TaskCount {
    let PodCounts {
        pending,
        running,
        ready: _,
        succeeded,
        failed,
    } = counts;
    TaskCount {
        task: task.into(),
        replicas: pending + running + succeeded + failed,
        counts,
    }
}

fn succeeded(succeeded: u32) -> PodCounts {
    PodCounts {
        succeeded,
        ..PodCounts::default()
    }
}

fn failed(failed: u32) -> PodCounts {
    PodCounts {
        failed,
        ..PodCounts::default()
    }
}

fn running(running: u32) -> PodCounts {
    PodCounts {
        running,
        ready: running,
        ..PodCounts::default()
    }
}

fn task(name: &str, status: TaskStatus) -> Condition {
    Condition::Task(TaskCondition {
        task: name.into(),
        status,
        at_least: None,
    })
}

fn end(plan: &Plan, node: u32) -> (NodePhase, Option<Reason>) {
    let record = &plan.next.nodes[NodeId(node)];
    (record.phase(), record.reason)
}

const STARTS: (NodePhase, Option<Reason>) = (NodePhase::Submitting, None);
const WAITS: (NodePhase, Option<Reason>) = (NodePhase::Waiting, None);
const RULED_OUT: (NodePhase, Option<Reason>) = (NodePhase::Skipped, Some(Reason::UpstreamFailed));

#[test]
fn a_task_that_finished_counts_although_its_job_never_completes() {
    let workers = |phase, servers| job(phase, &[("worker", succeeded(2)), ("server", servers)]);
    let finished = task("worker", TaskStatus::Succeeded);
    assert_eq!(
        end(
            &planned(finished.clone(), &workers(JobPhase::Running, running(1))),
            1
        ),
        STARTS
    );
    assert_eq!(
        end(&planned(finished, &workers(JobPhase::Terminated, failed(1))), 1),
        STARTS
    );
}

#[test]
fn a_terminated_job_rules_out_what_needs_it_completed_and_says_which_it_was() {
    let plan = planned(
        Condition::Completed,
        &job(JobPhase::Terminated, &[("server", failed(1))]),
    );
    assert_eq!(end(&plan, 1), RULED_OUT);
    let cause = plan.next.nodes[NodeId(1)].cause.unwrap();
    assert_eq!((cause.node, cause.reason), (NodeId(0), Reason::JobTerminated));
}

#[test]
fn each_condition_is_met_by_the_states_that_it_names() {
    let queued = job(
        JobPhase::Pending,
        &[(
            "main",
            PodCounts {
                pending: 1,
                ..PodCounts::default()
            },
        )],
    );
    let runs = job(JobPhase::Running, &[("main", running(1))]);
    let done = job(JobPhase::Completed, &[("main", succeeded(1))]);
    let mut broke = job(JobPhase::Failed, &[("main", failed(1))]);
    broke.started = true;
    let not_needed = (NodePhase::Skipped, Some(Reason::NotNeeded));
    let table = [
        (Condition::Completed, [WAITS, WAITS, STARTS, RULED_OUT]),
        (Condition::Started, [WAITS, STARTS, STARTS, STARTS]),
        (Condition::Running, [WAITS, STARTS, STARTS, RULED_OUT]),
        (Condition::Ready(None), [WAITS, STARTS, STARTS, RULED_OUT]),
        (Condition::Failed, [WAITS, WAITS, not_needed, STARTS]),
        (Condition::Finished, [WAITS, WAITS, STARTS, STARTS]),
    ];
    for (condition, expected) in table {
        let found = [&queued, &runs, &done, &broke].map(|view| end(&planned(condition.clone(), view), 1));
        assert_eq!(found, expected, "{condition:?}");
    }
}

#[test]
fn a_pod_that_failed_need_not_have_run() {
    let broke = job(JobPhase::Failed, &[("main", failed(1))]);
    assert_eq!(end(&planned(Condition::Started, &broke), 1), RULED_OUT);
}

#[test]
fn a_gang_that_misses_a_pod_is_not_running() {
    let mut view = job(JobPhase::Running, &[("main", running(2))]);
    view.min_available = 3;
    assert_eq!(end(&planned(Condition::Running, &view), 1), WAITS);
    assert_eq!(end(&planned(Condition::Started, &view), 1), STARTS);
}

#[test]
fn a_completed_job_with_a_failed_task_is_told_by_the_task() {
    let view = job(JobPhase::Completed, &[("good", succeeded(1)), ("bad", failed(1))]);
    assert_eq!(end(&planned(Condition::Completed, &view), 1), STARTS);
    let all_succeeded = planned(task("", TaskStatus::Succeeded), &view);
    assert_eq!(
        end(&all_succeeded, 1),
        (NodePhase::Skipped, Some(Reason::ConditionNeverMet))
    );
    assert_eq!(
        all_succeeded.next.nodes[NodeId(0)].tasks.as_deref().unwrap()[1]
            .counts
            .failed,
        1
    );
}

#[test]
fn order_and_repetition_of_targets_change_nothing() {
    let done = job(JobPhase::Completed, &[]);
    for targets in [["a", "x", "y"], ["y", "x", "a"], ["a", "a", "y"], ["y", "a", "a"]] {
        let entries = vec![
            Entry::job("a"),
            Entry::job("x"),
            Entry::job("y"),
            Entry::job("b").after(targets.map(Into::into)),
        ];
        assert_eq!(end(&planned_in(entries, &done), 3), WAITS, "{targets:?}");
        let alone = vec![Entry::job("a"), Entry::job("b").after(["a".into(), "a".into()])];
        assert_eq!(end(&planned_in(alone, &done), 1), STARTS);
    }
}

#[test]
fn what_can_never_start_is_settled_with_the_flow_in_the_same_plan() {
    let entries = vec![
        Entry::job("a"),
        Entry::job("b").after(["a".into()]),
        Entry::job("c").after(["b".into()]),
        Entry::job("d").after(["c".into()]),
    ];
    let plan = planned_in(entries, &job(JobPhase::Failed, &[]));
    assert_eq!([1, 2, 3].map(|node| end(&plan, node)), [RULED_OUT; 3]);
    assert_eq!(plan.next.phase, jobflow_core::FlowPhase::Failed);
    assert_eq!(plan.next.nodes[NodeId(3)].cause.unwrap().node, NodeId(0));
}

#[test]
fn an_end_is_read_from_the_record_when_no_job_is_left() {
    let graph = FlowGraph::from_names(vec![Entry::job("a"), Entry::job("b").after(["a".into()])]).unwrap();
    for (phase, expected) in [(NodePhase::Succeeded, STARTS), (NodePhase::Failed, RULED_OUT)] {
        let mut snapshot = Snapshot::unborn(graph.len());
        snapshot.ledger = Ledger::Kept;
        let a = snapshot.record.nodes.change(NodeId(0));
        a.state = NodeState::recorded(phase);
        a.attempt = 1;
        let plan = plan(&graph, &snapshot);
        assert_eq!(end(&plan, 1), expected, "{phase}");
        assert_eq!(end(&plan, 0).0, phase);
    }
}
