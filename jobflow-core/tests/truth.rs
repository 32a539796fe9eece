//! What each condition comes to at each moment of a job's whole life, as a real Volcano recorded it.
//!
//! The jobs are those of `traces/`. After each status that Volcano wrote, the flow is planned, with a dependent for each
//! condition; it is suspended, so that none of them starts. The tables in `snapshots/` have a line a condition and a
//! character a status: `.` not yet, `+` holds, `-` never.

#![expect(clippy::unwrap_used, reason = "a recording that can't be read fails the test")]

#[path = "truth/recording.rs"]
mod recording;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use jobflow_core::condition::{Condition, Rule, TaskCondition, TaskStatus};
use jobflow_core::graph::{Entry, Target};
use jobflow_core::node::NodeState;
use jobflow_core::policy::FailurePolicy;
use jobflow_core::snapshot::{Ledger, Sighting};
use jobflow_core::{FactCache, FlowGraph, JobKey, NodeId, NodePhase, Policy, Snapshot, Time, plan};
use recording::{Moment, Recording};

const JOB: JobKey = JobKey {
    node: NodeId(0),
    index: 0,
    attempt: 1,
};

const STATUSES: [TaskStatus; 7] = [
    TaskStatus::Pending,
    TaskStatus::Running,
    TaskStatus::Ready,
    TaskStatus::Started,
    TaskStatus::Succeeded,
    TaskStatus::Failed,
    TaskStatus::Finished,
];

/// Every condition on a job with these tasks, by name.
fn conditions(tasks: &[String]) -> Vec<(String, Condition)> {
    let whole = [
        ("Completed", Condition::Completed),
        ("Started", Condition::Started),
        ("Running", Condition::Running),
        ("Ready", Condition::Ready(None)),
        ("Failed", Condition::Failed),
        ("Finished", Condition::Finished),
    ];
    let of_task = |task: &String| {
        let task: Arc<str> = task.as_str().into();
        STATUSES.map(|status| {
            let condition = TaskCondition {
                task: Arc::clone(&task),
                status,
                at_least: None,
            };
            (format!("{task} {status:?}"), Condition::Task(condition))
        })
    };
    whole
        .map(|(name, condition)| (name.to_owned(), condition))
        .into_iter()
        .chain(tasks.iter().flat_map(of_task))
        .collect()
}

fn graph(conditions: &[(String, Condition)]) -> FlowGraph {
    let dependent = |(name, condition): &(String, Condition)| {
        let mut entry = Entry::job(name.as_str());
        let target = Target::with("job".into(), Rule::new(condition.clone()));
        entry.targets.push(target);
        entry
    };
    let entries = conditions.iter().map(dependent);
    FlowGraph::from_names([Entry::job("job")].into_iter().chain(entries).collect()).unwrap()
}

/// How each dependent stands after each moment.
fn played(graph: &FlowGraph, moments: &[Moment]) -> Vec<String> {
    let policy = Policy {
        failure_policy: FailurePolicy::Continue,
        ..Policy::default()
    };
    let mut snapshot = Snapshot::unborn(graph.len());
    snapshot.ledger = Ledger::Kept;
    snapshot.wishes.suspend = true;
    let job = snapshot.record.nodes.change(NodeId(0));
    job.state = NodeState::recorded(NodePhase::Submitting);
    job.attempt = 1;
    let mut lines = vec![String::new(); graph.len() - 1];
    for moment in moments {
        let view = moment.view.clone();
        let at = Time(moment.milliseconds);
        let sighting = if moment.gone {
            Sighting::Gone { last: Some(view), at }
        } else {
            Sighting::Seen(view)
        };
        snapshot.jobs.insert(JOB, sighting);
        // A plan that ended the job is followed by one that may tell what follows from it.
        for _ in 0..2 {
            snapshot.record = plan(graph, &policy, &snapshot, &FactCache::default(), at).next;
        }
        for (node, record) in snapshot.record.nodes.iter().skip(1) {
            lines[node.position() - 1].push(match record.phase() {
                NodePhase::Waiting => '.',
                NodePhase::Blocked => '+',
                NodePhase::Skipped => '-',
                // What doesn't happen while a flow is suspended.
                NodePhase::Submitting
                | NodePhase::Queued
                | NodePhase::Running
                | NodePhase::Stopping
                | NodePhase::BackingOff
                | NodePhase::Paused
                | NodePhase::Succeeded
                | NodePhase::Failed
                | NodePhase::Cancelled => '?',
            });
        }
    }
    lines
}

/// The table of one recording.
fn table(recording: &Recording) -> String {
    let conditions = conditions(&recording.tasks);
    let graph = graph(&conditions);
    let lines = played(&graph, &recording.moments);
    let mut table = String::new();
    for (number, moment) in (1..).zip(&recording.moments) {
        writeln!(table, "{number:>3} {}", moment.words).unwrap();
    }
    for ((name, _), line) in conditions.iter().zip(lines) {
        writeln!(table, "{name:<20} {line}").unwrap();
    }
    table
}

fn recordings() -> Vec<(String, Recording)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, Recording::read(&fs::read_to_string(path).unwrap()))
    };
    files.into_iter().map(read).collect()
}

#[test]
fn each_condition_has_these_verdicts_over_a_jobs_life() {
    let recordings = recordings();
    assert!(recordings.len() >= 24);
    for (name, recording) in recordings {
        insta::assert_snapshot!(name, table(&recording));
    }
}

#[test]
fn a_verdict_once_given_stays() {
    for (name, recording) in recordings() {
        let graph = graph(&conditions(&recording.tasks));
        for line in played(&graph, &recording.moments) {
            let decided = line.trim_start_matches('.');
            let first = decided.chars().next().unwrap_or('.');
            assert!(
                first != '?' && decided.chars().all(|verdict| verdict == first),
                "{name}: {line}"
            );
        }
    }
}
