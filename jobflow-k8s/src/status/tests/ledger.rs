//! Lost ledgers, flows of Volcano's controller, and entries that were removed while they ran.

use std::collections::BTreeSet;

use jobflow_core::graph::Entry;
use jobflow_core::key::{NodeId, Uid};
use jobflow_core::snapshot::Ledger;
use jobflow_core::{NodePhase, Reason};
use serde_json::{Value, json};

use super::{flow_of, flow_with, node, object, record, status};
use crate::parse::Flow;
use crate::status::{BIRTH_MARK, is_taken_over, ledger, read, salvage, with_removed};
use crate::types::JobFlow;

fn with_status(parsed: &Flow, status: Value) -> JobFlow {
    let mut flow = object(parsed);
    flow.status = Some(serde_json::from_value(status).unwrap());
    flow
}

fn marked(mut flow: JobFlow, mark: Option<&str>) -> JobFlow {
    flow.metadata.annotations = mark.map(|mark| [(BIRTH_MARK.to_owned(), mark.to_owned())].into());
    flow
}

#[test]
fn a_mark_without_nodes_is_a_lost_ledger_and_a_copied_mark_is_none() {
    let parsed = flow_of(&["a"]);
    let uid = object(&parsed).metadata.uid.unwrap();
    let table = [
        (json!({}), None, Ledger::Unborn),
        (json!({"nodes": []}), None, Ledger::Unborn),
        (json!({"nodes": []}), Some(uid.as_str()), Ledger::Kept),
        (
            json!({"state": {"phase": "Running"}}),
            Some(uid.as_str()),
            Ledger::Lost,
        ),
        (json!({}), Some("of-another"), Ledger::Unborn),
    ];
    for (status, mark, expected) in table {
        let flow = marked(with_status(&parsed, status.clone()), mark);
        assert_eq!(ledger(&flow), expected, "{status} {mark:?}");
    }
}

#[test]
fn only_a_status_that_volcano_wrote_is_taken_over() {
    let parsed = flow_of(&["a"]);
    let uid = object(&parsed).metadata.uid.unwrap();
    let theirs = json!({"state": {"phase": "Running"}, "runningJobs": ["flow-a"]});
    assert!(is_taken_over(&with_status(&parsed, theirs.clone())));
    assert!(!is_taken_over(&marked(with_status(&parsed, theirs), Some(&uid))));
    for ours in [
        json!({}),
        json!({"state": {"phase": "Failed"}, "observedGeneration": 1}),
        json!({"state": {"phase": "Failed"}, "flowConditions": []}),
        json!({"state": {"phase": "Pending"}, "nodes": []}),
    ] {
        assert!(!is_taken_over(&with_status(&parsed, ours.clone())), "{ours}");
    }
}

fn phases(record: &jobflow_core::FlowRecord) -> Vec<(NodePhase, Option<Reason>, u32)> {
    record
        .nodes
        .iter()
        .map(|(_, node)| (node.phase(), node.reason, node.attempt))
        .collect()
}

/// A chain of four.
fn chain() -> Flow {
    let after = |name: &str, target: &str| Entry::job(name).after([target.into()]);
    flow_with(vec![
        Entry::job("a"),
        after("b", "a"),
        after("c", "b"),
        after("d", "c"),
    ])
}

#[test]
fn a_lost_ledger_has_what_volcanos_lists_say_has_ended() {
    let parsed = chain();
    let uid = object(&parsed).metadata.uid.unwrap();
    let lists = json!({"jobStatusList": [
        {"name": "flow-a", "state": "Completed", "endTimestamp": "2026-11-29T23:00:00Z"},
        {"name": "flow-b", "state": "Failed"},
        {"name": "flow-c", "state": "Running"},
        {"name": "flow-dd", "state": "Completed"},
    ]});
    let flow = marked(with_status(&parsed, lists), Some(&uid));
    let record = salvage(&flow, &parsed, &BTreeSet::new());
    assert_eq!(
        phases(&record),
        [
            (NodePhase::Succeeded, None, 1),
            (NodePhase::Failed, Some(Reason::JobFailed), 1),
            (NodePhase::Waiting, None, 0),
            (NodePhase::Waiting, None, 0),
        ]
    );
    assert_eq!(
        record.nodes[NodeId(0)].finish_time,
        Some(jobflow_core::Time(1_795_993_200_000))
    );
    let seen = salvage(&flow, &parsed, &BTreeSet::from([NodeId(0)]));
    assert_eq!(
        seen.nodes[NodeId(0)].attempt,
        0,
        "its Job tells more than the line"
    );
}

#[test]
fn a_later_attempt_is_known_by_its_whole_name() {
    let mut entry = Entry::job("a");
    entry.retry.limit = 2;
    let parsed = flow_with(vec![entry]);
    let lists = json!({"jobStatusList": [{"name": "flow-a", "state": "Failed"}, {"name": "flow-a-r3", "state": "Completed"}]});
    let record = salvage(&with_status(&parsed, lists), &parsed, &BTreeSet::new());
    assert_eq!(phases(&record), [(NodePhase::Succeeded, None, 3)]);
}

#[test]
fn of_a_flow_that_is_taken_over_what_was_passed_has_succeeded() {
    let parsed = chain();
    let flow = with_status(&parsed, json!({"state": {"phase": "Running"}}));
    let record = salvage(&flow, &parsed, &BTreeSet::from([NodeId(2)]));
    assert_eq!(
        phases(&record),
        [
            (NodePhase::Succeeded, None, 1),
            (NodePhase::Succeeded, None, 1),
            (NodePhase::Waiting, None, 0),
            (NodePhase::Waiting, None, 0),
        ]
    );
}

#[test]
fn a_flow_that_had_ended_under_volcano_has_ended() {
    let parsed = chain();
    let well = with_status(&parsed, json!({"state": {"phase": "Succeed"}}));
    let record = salvage(&well, &parsed, &BTreeSet::new());
    assert!(
        phases(&record)
            .iter()
            .all(|(phase, _, _)| *phase == NodePhase::Succeeded)
    );
    let lists = json!({"state": {"phase": "Failed"}, "jobStatusList": [
        {"name": "flow-a", "state": "Completed"}, {"name": "flow-b", "state": "Failed"}]});
    let record = salvage(&with_status(&parsed, lists), &parsed, &BTreeSet::new());
    assert_eq!(
        phases(&record),
        [
            (NodePhase::Succeeded, None, 1),
            (NodePhase::Failed, Some(Reason::JobFailed), 1),
            (NodePhase::Skipped, Some(Reason::UpstreamFailed), 0),
            (NodePhase::Skipped, Some(Reason::UpstreamFailed), 0),
        ]
    );
}

#[test]
fn an_entry_that_is_removed_while_it_runs_is_followed_to_its_end() {
    let before = flow_of(&["a", "b", "c"]);
    let mut running = node(NodePhase::Running, None);
    running.uid = Some(Uid::from("u"));
    let kept = record([
        running,
        node(NodePhase::Succeeded, None),
        node(NodePhase::Waiting, None),
    ]);
    let mut flow = object(&before);
    let stored = status(&before, &kept);
    flow.status = Some(stored.clone());
    let now = with_removed(flow_of(&["new"]), &stored);
    let names: Vec<&str> = now.graph.entries().iter().map(|entry| &*entry.name).collect();
    assert_eq!(names, ["new", "a"]);
    assert!(now.graph.entry(NodeId(1)).allow_failure);
    assert_eq!(now.entries.len(), 2);
    let read = read(&flow, &now).unwrap();
    assert_eq!(read.nodes[NodeId(1)].uid, Some(Uid::from("u")));
    assert_eq!(with_removed(before.clone(), &stored), before);
}
