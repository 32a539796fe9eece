//! The table of conditions is total: whatever a target came to, every condition has a verdict.

use std::fmt::Write as _;
use std::sync::Arc;

use jobflow_core::condition::{Condition, TaskCondition, TaskStatus};
use jobflow_core::graph::Entry;
use jobflow_core::node::NodeState;
use jobflow_core::plan::{Judged, Judgement, judge};
use jobflow_core::probe::{Ask, Probe, Replicas};
use jobflow_core::record::NodeRecord;
use jobflow_core::{FactCache, NodeId, NodePhase, Reason, Span, Time};

fn conditions() -> Vec<(&'static str, Condition)> {
    let task = TaskCondition {
        task: "".into(),
        status: TaskStatus::Running,
        at_least: None,
    };
    vec![
        ("Completed", Condition::Completed),
        ("Started", Condition::Started),
        ("Running", Condition::Running),
        ("Ready", Condition::Ready(None)),
        ("Failed", Condition::Failed),
        ("Finished", Condition::Finished),
        ("Task", Condition::Task(task)),
        ("Probe", Condition::Probe(probe())),
    ]
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe {
        task: "".into(),
        port: 80,
        ask: Ask::TcpSocket,
        period: Span::from_secs(10),
        timeout: Span::from_secs(1),
        success_threshold: 1,
        replicas: Replicas::All,
    })
}

/// Every status that pods of a task can be asked for.
fn statuses() -> impl Iterator<Item = (&'static str, Condition)> {
    let statuses = [
        TaskStatus::Pending,
        TaskStatus::Running,
        TaskStatus::Succeeded,
        TaskStatus::Failed,
        TaskStatus::Started,
        TaskStatus::Ready,
        TaskStatus::Finished,
    ];
    statuses.into_iter().map(|status| {
        let condition = TaskCondition {
            task: "main".into(),
            status,
            at_least: None,
        };
        ("Task", Condition::Task(condition))
    })
}

/// Every way in which a target can have ended, with and without having run.
fn ends() -> Vec<(String, bool, NodeRecord)> {
    let mut ends = Vec::new();
    for phase in NodePhase::ALL.into_iter().filter(|phase| phase.is_end()) {
        let skips: Vec<Option<Reason>> = Reason::ALL.iter().copied().map(Some).collect();
        let reasons = if phase == NodePhase::Skipped {
            skips
        } else {
            vec![None]
        };
        for reason in reasons {
            for ran in [false, true] {
                for excused in [false, true] {
                    let mut record = NodeRecord::default();
                    record.state = NodeState::recorded(phase);
                    record.reason = reason;
                    record.finish_time = Some(Time(9));
                    record.started_since = ran.then_some(Time(5));
                    record.ran_since = ran.then_some(Time(5));
                    let name = format!("{phase} {reason:?} ran={ran} excused={excused}");
                    ends.push((name, excused, record));
                }
            }
        }
    }
    ends
}

fn verdict(condition: &Condition, excused: bool, record: &NodeRecord) -> Judgement {
    let entry = Entry {
        allow_failure: excused,
        ..Entry::job("target")
    };
    let target = Judged {
        node: NodeId(0),
        entry: &entry,
        record,
    };
    judge(condition, target, &FactCache::default(), Time(10))
}

#[test]
fn no_end_leaves_a_condition_pending() {
    for (end, excused, record) in ends() {
        for (name, condition) in conditions().into_iter().chain(statuses()) {
            assert_ne!(
                verdict(&condition, excused, &record),
                Judgement::Pending,
                "{name} on {end}"
            );
        }
    }
}

#[test]
fn nothing_but_an_end_rules_a_condition_out() {
    for phase in NodePhase::ALL.into_iter().filter(|phase| !phase.is_end()) {
        for reason in Reason::ALL.iter().copied().map(Some).chain([None]) {
            let mut record = NodeRecord::default();
            record.state = NodeState::recorded(phase);
            record.reason = reason;
            for (name, condition) in conditions().into_iter().chain(statuses()) {
                let judgement = verdict(&condition, false, &record);
                assert_eq!(judgement, Judgement::Pending, "{name} on {phase} {reason:?}");
            }
        }
    }
}

#[test]
fn the_table_of_conditions_and_ends_is_this() {
    let mut table = String::new();
    for (end, excused, record) in ends() {
        if record.phase() == NodePhase::Skipped && !shown(record.reason) {
            continue;
        }
        writeln!(table, "{end}").ok();
        for (name, condition) in conditions() {
            let word = match verdict(&condition, excused, &record) {
                Judgement::Holds(_) => "holds".to_owned(),
                Judgement::Pending => "not yet".to_owned(),
                Judgement::Never { reason, .. } => format!("never: {reason}"),
            };
            writeln!(table, "  {name:<10}{word}").ok();
        }
    }
    insta::assert_snapshot!(table);
}

fn shown(reason: Option<Reason>) -> bool {
    let one_a_gravity = [
        Reason::ConditionFalse,
        Reason::ConditionNeverMet,
        Reason::UpstreamCancelled,
        Reason::UpstreamFailed,
        Reason::FlowFailing,
    ];
    reason.is_some_and(|reason| one_a_gravity.contains(&reason))
}
