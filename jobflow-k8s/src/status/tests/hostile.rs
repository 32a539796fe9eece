//! Statuses that nobody here wrote: a fault with its path, never a panic.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{flow_of, object};
use crate::status::read;
use crate::types::JobFlowStatus;

fn faults(status: Value) -> Vec<String> {
    let parsed = flow_of(&["a", "b"]);
    let mut flow = object(&parsed);
    flow.status = Some(serde_json::from_value(status).unwrap());
    let faults = read(&flow, &parsed).err().unwrap_or_default();
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn each_broken_value_is_named_with_its_path() {
    let table = [
        (
            json!({"nodes": [{"name": "a", "phase": "Failed", "reason": "Bored"}]}),
            "status.nodes[0].reason: `Bored` is no reason",
        ),
        (
            json!({"nodes": [{"name": "a"}, {"name": "a"}]}),
            "status.nodes[1].name: `a` stands twice",
        ),
        (
            json!({"nodes": [{"name": "a", "phase": "Running", "attempt": -1}]}),
            "status.nodes[0].attempt: -1 is no number",
        ),
        (
            json!({"nodes": [{"name": "a", "phase": "Running", "attempt": 0}]}),
            "status.nodes[0].attempt: a node that is Running",
        ),
        (
            json!({"nodes": [{"name": "a", "phase": "Running", "attempt": 4_294_967_296_i64}]}),
            "status.nodes[0].attempt: ",
        ),
        (
            json!({"nodes": [{"name": "a", "entryHash": "xyz"}]}),
            "status.nodes[0].entryHash: `xyz` is no digest",
        ),
        (
            json!({"nodes": [{"name": "a", "exitCode": 4_294_967_296_i64}]}),
            "status.nodes[0].exitCode: ",
        ),
        (
            json!({"nodes": [{"name": "a", "stop": {"cause": "Cancel"}}]}),
            "status.nodes[0].stop.since: a stop has a time",
        ),
        (
            json!({"nodes": [{"name": "a", "stop": {"cause": "Boredom", "since": "2026-01-01T00:00:00Z"}}]}),
            "status.nodes[0].stop.cause: ",
        ),
        (
            json!({"nodes": [{"name": "a", "clocks": {"attempt": {"heldSeconds": -1}}}]}),
            "status.nodes[0].clocks.attempt: ",
        ),
        (
            json!({"nodes": [{"name": "a", "held": [{"target": "b"}]}]}),
            "status.nodes[0].held[0].since: ",
        ),
        (
            json!({"nodes": [{"name": "a", "decided": {"case": -2}}]}),
            "status.nodes[0].decided.case: ",
        ),
        (
            json!({"nodes": [{"name": "a", "tasks": {"main": {"failed": -3}}}]}),
            "status.nodes[0].tasks.main.failed: ",
        ),
        (
            json!({"nodes": [{"name": "a", "phase": "Skipped", "cause": {"node": "b", "reason": "Bored"}}]}),
            "status.nodes[0].cause.reason: ",
        ),
        (
            json!({"stop": {"cause": "AttemptTimeout", "since": "2026-01-01T00:00:00Z"}}),
            "status.stop.cause: ",
        ),
        (
            json!({"cause": {"node": "b"}}),
            "status.cause.reason: a cause has a reason",
        ),
    ];
    for (status, expected) in table {
        let found = faults(status.clone());
        assert!(
            found.len() == 1 && found[0].contains(expected),
            "{status}: {found:?}"
        );
    }
}

#[test]
fn all_faults_are_told_at_once() {
    let node = json!({"name": "a", "phase": "Running", "reason": "x", "attempt": -1, "entryHash": "", "exitCode": i64::MIN});
    assert_eq!(faults(json!({"nodes": [node]})).len(), 4);
}

#[test]
fn words_of_others_reach_a_message_cut_and_without_control_characters() {
    let word = format!("{}\u{1b}[31m", "x".repeat(500));
    let found = faults(json!({"nodes": [{"name": "a", "reason": word}]}));
    assert!(found[0].len() < 200 && !found[0].contains('\u{1b}'), "{found:?}");
}

#[test]
fn what_points_to_an_entry_that_is_gone_goes_with_it() {
    let status = json!({
        "cause": {"node": "gone", "reason": "JobFailed"},
        "nodes": [
            {"name": "gone", "phase": "Failed", "reason": "JobFailed"},
            {"name": "a", "phase": "Skipped", "reason": "UpstreamFailed", "cause": {"node": "gone"}},
            {"name": "b", "held": [{"target": "gone", "since": "2026-01-01T00:00:00Z"}]},
        ],
    });
    assert_eq!(faults(status), Vec::<String>::new());
}

/// Any value for a field: numbers at the ends, words, times, and things of the wrong shape.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zA-Z/.:-]{0,20}".prop_map(Value::from),
        Just(json!("2026-11-29T23:00:00.5Z")),
        Just(json!("-009999-01-01T00:00:00Z")),
        Just(json!("Running")),
        Just(json!("Failed")),
        Just(json!("Cancel")),
        Just(json!("a")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let fields = prop::sample::select(vec![
            "name",
            "phase",
            "reason",
            "cause",
            "node",
            "attempt",
            "uid",
            "entryHash",
            "stop",
            "since",
            "held",
            "target",
            "clocks",
            "start",
            "heldSeconds",
            "tasks",
            "main",
            "failed",
            "decided",
            "case",
            "attempts",
            "finishTime",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((fields, inner), 0..5).prop_map(|fields| Value::Object(
                fields
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn no_status_panics(nodes in prop::collection::vec(value(), 0..4), rest in value()) {
        let parsed = flow_of(&["a", "b"]);
        let mut flow = object(&parsed);
        let mut status = json!({"nodes": nodes});
        if let (Some(all), Value::Object(rest)) = (status.as_object_mut(), rest) {
            all.extend(rest);
        }
        if let Ok(status) = serde_json::from_value::<JobFlowStatus>(status) {
            flow.status = Some(status);
            let _ = read(&flow, &parsed);
        }
    }

    #[test]
    fn no_node_of_the_right_shape_panics(
        attempt in any::<i64>(), least in any::<i64>(), code in any::<i64>(), rule in any::<i64>(), held in any::<i64>(),
        count in any::<i64>(), case in any::<i64>(),
    ) {
        let node = json!({
            "name": "a", "phase": "Failed", "attempt": attempt, "minAvailable": least, "exitCode": code,
            "held": [{"target": "b", "rule": rule, "attempt": rule, "since": "9999-12-30T22:00:00Z"}],
            "clocks": {"node": {"start": "0001-01-01T00:00:00Z", "heldSeconds": held}},
            "tasks": {"main": {"replicas": count}}, "retries": {"program": count}, "decided": {"case": case},
            "attempts": [{"attempt": attempt, "reason": "JobFailed", "exitCode": code, "finishTime": "2026-01-01T00:00:00Z"}],
        });
        let _ = faults(json!({"nodes": [node]}));
    }
}
