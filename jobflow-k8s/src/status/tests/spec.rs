//! Conditions, edits of the spec, refusals, and servers that drop fields.

use std::collections::BTreeMap;

use jobflow_core::graph::Entry;
use jobflow_core::key::{NodeId, Uid};
use jobflow_core::record::{Cause, FlowRecord};
use jobflow_core::{FlowPhase, NodePhase, Reason, Time};

use super::{flow_of, flow_with, node, object, record, status, written};
use crate::fault::{Code, Fault, FieldPath};
use crate::parse::Flow;
use crate::status::{carries, read, refused};
use crate::types::{JobFlow, JobFlowStatus};

/// The conditions that hold, with their reasons.
fn holding(status: &JobFlowStatus) -> Vec<String> {
    let conditions = status.flow_conditions.iter().flatten();
    let holding = conditions.filter(|condition| condition.status == "True");
    holding
        .map(|condition| format!("{}/{}", condition.type_, condition.reason))
        .collect()
}

fn running() -> jobflow_core::record::NodeRecord {
    let mut running = node(NodePhase::Running, None);
    running.uid = Some(Uid::from("u"));
    running.entry_hash = 7;
    running
}

#[test]
fn conditions_tell_where_a_flow_stands() {
    let parsed = flow_of(&["a", "b"]);
    let mut kept = record([running(), node(NodePhase::Waiting, None)]);
    kept.phase = FlowPhase::Running;
    assert_eq!(
        holding(&status(&parsed, &kept)),
        ["Accepted/Valid", "Progressing/Running"]
    );

    *kept.nodes.change(NodeId(1)) = node(NodePhase::Failed, Some(Reason::JobFailed));
    assert_eq!(
        holding(&status(&parsed, &kept)),
        ["Accepted/Valid", "Progressing/Running", "Failing/JobFailed"]
    );

    *kept.nodes.change(NodeId(0)) = node(NodePhase::Succeeded, None);
    kept.phase = FlowPhase::Failed;
    kept.cause = Some(Cause {
        node: NodeId(1),
        reason: Reason::JobFailed,
    });
    assert_eq!(
        holding(&status(&parsed, &kept)),
        ["Accepted/Valid", "Failing/JobFailed", "Failed/JobFailed"]
    );

    let mut well = record([node(NodePhase::Succeeded, None), node(NodePhase::Succeeded, None)]);
    well.phase = FlowPhase::Succeed;
    assert_eq!(
        holding(&status(&parsed, &well)),
        ["Accepted/Valid", "Complete/Succeeded"]
    );
}

#[test]
fn an_excused_failure_and_one_of_finally_fail_nothing() {
    let excused = Entry {
        allow_failure: true,
        ..Entry::job("a")
    };
    let tidy = Entry {
        finally: true,
        ..Entry::job("tidy")
    };
    let parsed = flow_with(vec![excused, tidy]);
    let failed = || node(NodePhase::Failed, Some(Reason::JobFailed));
    assert_eq!(
        holding(&status(&parsed, &record([failed(), failed()]))),
        ["Accepted/Valid", "Progressing/Pending"]
    );
}

#[test]
fn a_suspended_flow_says_what_is_still_alive() {
    let mut parsed = flow_of(&["a"]);
    parsed.wishes.suspend = true;
    let suspended = status(&parsed, &record([running()]));
    let conditions = suspended.flow_conditions.unwrap();
    let told = conditions
        .iter()
        .find(|condition| condition.type_ == "Suspended")
        .unwrap();
    assert_eq!(told.message, "nothing new is started; 1 jobs are alive");
    let idle = status(
        &parsed,
        &record([node(NodePhase::Blocked, Some(Reason::Suspended))]),
    );
    assert_eq!(holding(&idle), ["Accepted/Valid", "Suspended/Requested"]);
}

#[test]
fn an_entry_that_was_edited_after_its_start_is_named() {
    let parsed = flow_of(&["a", "b"]);
    let mut edited = running();
    edited.entry_hash = 8;
    let status = status(&parsed, &record([edited, running()]));
    let conditions = status.flow_conditions.unwrap();
    let told = conditions
        .iter()
        .find(|condition| condition.type_ == "EditPending")
        .unwrap();
    assert_eq!(
        (told.status.as_str(), told.message.as_str()),
        ("True", "started before they were edited: a")
    );
}

/// The record that is read back after the flow became `now`.
fn read_as(before: &Flow, kept: &FlowRecord, now: &Flow, generation: i64) -> FlowRecord {
    let mut flow = object(before);
    flow.status = Some(status(before, kept));
    flow.metadata.generation = Some(generation);
    read(&flow, now).unwrap()
}

#[test]
fn entries_are_found_by_name_when_others_came_went_and_moved() {
    let before = flow_of(&["a", "b", "c"]);
    let mut skipped = node(NodePhase::Skipped, Some(Reason::UpstreamFailed));
    skipped.cause = Some(Cause {
        node: NodeId(0),
        reason: Reason::JobFailed,
    });
    let kept = record([
        node(NodePhase::Failed, Some(Reason::JobFailed)),
        running(),
        skipped,
    ]);
    let now = flow_of(&["new", "c", "a"]);
    let read = read_as(&before, &kept, &now, 4);
    let phases: Vec<NodePhase> = read.nodes.iter().map(|(_, node)| node.phase()).collect();
    assert_eq!(
        phases,
        [NodePhase::Waiting, NodePhase::Skipped, NodePhase::Failed]
    );
    assert_eq!(
        read.nodes[NodeId(1)].cause,
        Some(Cause {
            node: NodeId(2),
            reason: Reason::JobFailed
        })
    );
}

#[test]
fn an_ended_entry_is_as_it_was_while_the_generation_is_the_same() {
    let before = flow_of(&["a"]);
    let mut ended = node(NodePhase::Succeeded, None);
    ended.entry_hash = 7;
    let kept = record([ended]);
    assert_eq!(read_as(&before, &kept, &before, 3).nodes[NodeId(0)].entry_hash, 7);
    assert_eq!(read_as(&before, &kept, &before, 4).nodes[NodeId(0)].entry_hash, 0);
}

#[test]
fn what_an_entry_that_is_gone_had_is_kept_for_when_it_comes_back() {
    let before = flow_of(&["a", "b"]);
    let mut ended = node(NodePhase::Failed, Some(Reason::JobFailed));
    ended.attempt = 3;
    let mut flow = object(&before);
    flow.status = Some(status(&before, &record([node(NodePhase::Waiting, None), ended])));
    let without = flow_of(&["a"]);
    let next = written(
        &flow,
        &without,
        &record([node(NodePhase::Waiting, None)]),
        &BTreeMap::new(),
    )
    .unwrap()
    .status;
    assert_eq!(next.summary.as_ref().and_then(|summary| summary.total), Some(1));
    let flow = JobFlow {
        status: Some(next),
        ..flow
    };
    assert_eq!(read(&flow, &before).unwrap().nodes[NodeId(1)].attempt, 3);
}

#[test]
fn of_many_entries_that_are_gone_the_newest_ends_are_kept() {
    let names: Vec<String> = (0..150).map(|at| format!("old-{at}")).collect();
    let before = flow_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    // The ends come in another order than the entries stand.
    let end = |at: i64| Time(1_000 * ((at * 7) % 150));
    let ended = (0..150).map(|at| {
        let mut ended = node(NodePhase::Succeeded, None);
        ended.finish_time = Some(end(at));
        ended
    });
    let kept = FlowRecord {
        nodes: ended.collect(),
        ..FlowRecord::default()
    };
    let mut flow = object(&before);
    flow.status = Some(status(&before, &kept));
    let next = written(&flow, &flow_of(&["a"]), &record([running()]), &BTreeMap::new())
        .unwrap()
        .status;
    let stays: Vec<String> = next.nodes.unwrap().into_iter().map(|node| node.name).collect();
    let newest = (0..150)
        .filter(|at| end(*at) >= Time(50_000))
        .map(|at| format!("old-{at}"));
    let expected: Vec<String> = std::iter::once("a".to_owned()).chain(newest).collect();
    assert_eq!(expected.len(), 101);
    assert_eq!(stays, expected);
}

fn fault() -> Fault {
    Fault::error(
        Code::Cycle,
        FieldPath::root().field("spec").field("flows"),
        "a waits for itself",
    )
}

#[test]
fn an_invalid_flow_of_which_nothing_was_started_has_failed() {
    let flow = object(&flow_of(&["a"]));
    let status = refused(&flow, &[fault()], Time(0));
    assert_eq!(holding(&status), ["Failed/InvalidSpec"]);
    assert_eq!(serde_json::to_value(&status.state).unwrap()["phase"], "Failed");
    let accepted = &status.flow_conditions.as_ref().unwrap()[0];
    assert!(
        accepted.message.contains("a waits for itself") && accepted.status == "False",
        "{accepted:?}"
    );
    assert_eq!(status.observed_generation, Some(3));
}

#[test]
fn an_invalid_edit_leaves_what_was_started_alone() {
    let parsed = flow_of(&["a"]);
    let mut kept = record([running()]);
    kept.phase = FlowPhase::Running;
    let mut flow = object(&parsed);
    let before = status(&parsed, &kept);
    flow.status = Some(before.clone());
    let after = refused(&flow, &[fault()], Time(0));
    assert_eq!((&after.nodes, &after.state), (&before.nodes, &before.state));
    assert_eq!(holding(&after), ["Progressing/Running"]);
}

#[test]
fn a_flow_with_jobs_of_volcano_is_not_ended_by_a_fault() {
    let mut flow = object(&flow_of(&["a"]));
    flow.status = Some(
        serde_json::from_value(serde_json::json!({
            "runningJobs": ["flow-a"], "state": {"phase": "Running"},
            "jobStatusList": [{"name": "flow-a", "state": "Running"}],
        }))
        .unwrap(),
    );
    let status = refused(&flow, &[fault()], Time(0));
    assert_eq!(serde_json::to_value(&status.state).unwrap()["phase"], "Running");
}

#[test]
fn many_faults_are_told_within_bounds() {
    let faults: Vec<Fault> = (0..500).map(|_| fault()).collect();
    let status = refused(&object(&flow_of(&["a"])), &faults, Time(0));
    let message = &status.flow_conditions.unwrap()[0].message;
    assert!(
        message.ends_with("and 495 more") && message.len() < 4_001,
        "{message}"
    );
}

#[test]
fn an_answer_that_lost_our_fields_is_noticed() {
    let parsed = flow_of(&["a", "b"]);
    let sent = status(&parsed, &record([running(), node(NodePhase::Waiting, None)]));
    assert!(carries(&sent, &sent.clone()));
    // What Volcano's own definition of JobFlow knows of a status; its server prunes the rest.
    let known = [
        "pendingJobs",
        "runningJobs",
        "failedJobs",
        "completedJobs",
        "terminatedJobs",
        "unKnowJobs",
        "jobStatusList",
        "conditions",
        "state",
    ];
    let mut answered = serde_json::to_value(&sent).unwrap();
    answered
        .as_object_mut()
        .unwrap()
        .retain(|field, _| known.contains(&field.as_str()));
    assert!(!carries(&sent, &serde_json::from_value(answered).unwrap()));
}

#[test]
fn each_field_that_decides_is_missed_when_an_older_definition_drops_it() {
    let parsed = flow_of(&["a", "b"]);
    let mut full = running();
    full.ran_since = Some(Time(1_000));
    full.min_available = 3;
    let mut kept = record([full, node(NodePhase::Waiting, None)]);
    kept.finally_since = Some(Time(5));
    kept.start_time = Some(Time(5));
    let sent = status(&parsed, &kept);
    let text = serde_json::to_value(&sent).unwrap();
    for field in ["nodes", "observedGeneration", "finallySince", "startTime"] {
        let mut answered = text.clone();
        answered.as_object_mut().unwrap().shift_remove(field).unwrap();
        assert!(
            !carries(&sent, &serde_json::from_value(answered).unwrap()),
            "{field}"
        );
    }
    for field in ["phase", "uid", "entryHash", "ranSince", "minAvailable"] {
        let mut answered = text.clone();
        answered["nodes"][0]
            .as_object_mut()
            .unwrap()
            .shift_remove(field)
            .unwrap();
        assert!(
            !carries(&sent, &serde_json::from_value(answered).unwrap()),
            "{field}"
        );
    }
    let mut answered = text;
    answered.as_object_mut().unwrap().shift_remove("progress");
    assert!(carries(&sent, &serde_json::from_value(answered).unwrap()));
}
