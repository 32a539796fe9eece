//! An ended node costs 120 bytes at most, in every way that a node can end.

use jobflow_core::key::{NodeId, Uid};
use jobflow_core::node::NodeState;
use jobflow_core::record::{Cause, Decided, NodeRecord, Nodes};
use jobflow_core::snapshot::{PodCounts, TaskCount};
use jobflow_core::{NodePhase, Reason, Time};

use super::{flow_of, node_line};
use crate::types;

/// As long a name as most have.
const NAME: &str = "preprocess-data";

/// An end, a whole second after 2026 as a Job tells it.
const END: Time = Time(1_796_000_000_000);

/// Reasons of each end, those with a job and those without.
const WITH_JOB: [(NodePhase, &[Reason]); 4] = [
    (
        NodePhase::Failed,
        &[
            Reason::JobFailed,
            Reason::JobTerminated,
            Reason::JobDeleted,
            Reason::JobAborted,
            Reason::Timeout,
            Reason::CreateRefused,
            Reason::NameConflict,
        ],
    ),
    (NodePhase::Skipped, &[Reason::SkippedByRequest]),
    (
        NodePhase::Cancelled,
        &[
            Reason::FlowCancelled,
            Reason::DeadlineExceeded,
            Reason::CancelAll,
            Reason::NotNeeded,
        ],
    ),
    (NodePhase::Succeeded, &[]),
];

const WITHOUT_JOB: [(NodePhase, &[Reason]); 3] = [
    (
        NodePhase::Failed,
        &[
            Reason::RenderFailed,
            Reason::ExpressionFailed,
            Reason::Rejected,
            Reason::TooFewSucceeded,
        ],
    ),
    (
        NodePhase::Skipped,
        &[
            Reason::ConditionFalse,
            Reason::NotTaken,
            Reason::NotNeeded,
            Reason::SkippedByRequest,
            Reason::UpstreamSkipped,
            Reason::UpstreamExcused,
            Reason::UpstreamFailed,
            Reason::UpstreamCancelled,
            Reason::ConditionNeverMet,
            Reason::FlowFailing,
        ],
    ),
    (
        NodePhase::Cancelled,
        &[Reason::FlowCancelled, Reason::DeadlineExceeded],
    ),
];

/// Everything that a plan may have left in the record of a node, ended so.
fn record(phase: NodePhase, reason: Option<Reason>, attempt: u32) -> NodeRecord {
    let mut record = NodeRecord::default();
    record.state = NodeState::recorded(phase);
    record.reason = reason;
    record.attempt = attempt;
    record.finish_time = Some(END);
    if attempt > 0 {
        record.start_time = Some(END);
        record.entry_hash = 7;
        record.min_available = 4;
        record.template = Some(jobflow_core::facts::TemplateVersion {
            uid: "t".repeat(36).as_str().into(),
            generation: 9,
        });
        record.started_since = Some(END);
        record.ran_since = Some(END);
        let counts = PodCounts {
            failed: 3,
            ..PodCounts::default()
        };
        record.tasks = Some(
            [TaskCount {
                task: "worker".into(),
                replicas: 4,
                counts,
            }]
            .into(),
        );
    }
    record
}

fn bytes(record: &NodeRecord) -> (usize, types::NodeRecord) {
    let mut other = NodeRecord::default();
    other.state = NodeState::recorded(NodePhase::Failed);
    other.reason = Some(Reason::JobTerminated);
    let nodes: Nodes = [record.clone(), other].into_iter().collect();
    let line = node_line(&flow_of(&[NAME, "train-all-models"]), &nodes, NodeId(0)).unwrap();
    (serde_json::to_string(&line).unwrap().len(), line)
}

fn check(record: &NodeRecord, most: usize) {
    let (size, line) = bytes(record);
    assert!(
        size <= most,
        "{size} bytes: {}",
        serde_json::to_string(&line).unwrap()
    );
}

#[test]
fn a_node_that_ended_with_a_job_has_120_bytes_at_most() {
    for (phase, reasons) in WITH_JOB {
        let reasons: Vec<Option<Reason>> = match reasons {
            [] => vec![None],
            reasons => reasons.iter().copied().map(Some).collect(),
        };
        for reason in reasons {
            let mut plain = record(phase, reason, 1);
            check(&plain, 120);
            plain.exit_code = Some(137);
            check(&plain, 120);
        }
    }
}

#[test]
fn a_node_that_ended_without_a_job_has_120_bytes_at_most() {
    for (phase, reasons) in WITHOUT_JOB {
        for reason in reasons {
            let mut skipped = record(phase, Some(*reason), 0);
            if phase == NodePhase::Skipped {
                skipped.cause = Some(Cause {
                    node: NodeId(1),
                    reason: Reason::JobTerminated,
                });
            }
            check(&skipped, 120);
        }
    }
    let mut switch = record(NodePhase::Succeeded, None, 0);
    switch.decided = Some(Decided::Case(Some(12)));
    check(&switch, 120);
}

#[test]
fn a_later_attempt_costs_its_number() {
    for (phase, reasons) in WITH_JOB {
        for reason in reasons {
            let (first, _) = bytes(&record(phase, Some(*reason), 1));
            let (third, _) = bytes(&record(phase, Some(*reason), 3));
            assert!(
                third <= first.max(120) + r#""attempt":3,"#.len(),
                "{phase} {reason}: {first} {third}"
            );
        }
    }
}

#[test]
fn success_says_nothing_but_its_time() {
    let (_, line) = bytes(&record(NodePhase::Succeeded, None, 1));
    assert_eq!(
        serde_json::to_string(&line).unwrap(),
        r#"{"name":"preprocess-data","phase":"Succeeded","finishTime":"2026-11-30T00:53:20Z"}"#
    );
}

#[test]
fn a_job_that_runs_says_what_a_restart_must_know() {
    let mut running = record(NodePhase::Running, None, 2);
    running.finish_time = None;
    running.uid = Some(Uid::from("an-uid"));
    let (_, line) = bytes(&running);
    assert_eq!(line.job.as_deref(), Some("flow-preprocess-data-r2"));
    assert_eq!(
        (line.attempt, line.uid.as_deref(), line.min_available),
        (Some(2), Some("an-uid"), Some(4))
    );
    assert_eq!(line.entry_hash.as_deref(), Some("0000000000000007"));
}
