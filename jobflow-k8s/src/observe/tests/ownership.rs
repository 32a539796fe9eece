//! Whose a Job is.

use jobflow_core::graph::Entry;
use jobflow_core::key::{JobKey, NodeId};
use jobflow_core::snapshot::Wishes;
use jobflow_core::{FlowGraph, Policy};
use serde_json::{Value, json};

use crate::observe::{Owner, Ownership, SlimJob, ownership};
use crate::parse::Flow;
use crate::types;

const FLOW: &str = "the-flow-uid";

fn flow() -> Flow {
    let names = ["a", "a-b", "b"];
    Flow {
        graph: FlowGraph::from_names(names.iter().map(|name| Entry::job(*name)).collect()).unwrap(),
        policy: Policy::default(),
        wishes: Wishes::default(),
        entries: names
            .iter()
            .map(|name| types::Entry {
                name: (*name).to_owned(),
                ..types::Entry::default()
            })
            .collect(),
        warnings: Vec::new(),
    }
}

fn owner(uid: &str) -> Value {
    json!({"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "f", "uid": uid, "controller": true})
}

fn whose(metadata: Value, alive: &[&str]) -> Ownership {
    let job: SlimJob = serde_json::from_value(json!({"metadata": metadata})).unwrap();
    let flow = flow();
    ownership(
        &job,
        Owner {
            name: "f",
            uid: FLOW,
            flow: &flow,
        },
        |uid| alive.contains(&uid),
    )
}

fn marked(name: &str, mark: &str) -> Ownership {
    let metadata = json!({"name": name, "ownerReferences": [owner(FLOW)], "annotations": {"flow.volcano.sh/node": mark}});
    whose(metadata, &[])
}

fn key(node: u32, attempt: u32) -> Ownership {
    Ownership::Ours(JobKey {
        node: NodeId(node),
        index: 0,
        attempt,
    })
}

#[test]
fn owner_and_annotation_make_it_ours() {
    assert_eq!(marked("f-a", "a/0/1"), key(0, 1));
    assert_eq!(marked("f-a-b-r3", "a-b/0/3"), key(1, 3));
}

#[test]
fn a_mark_that_names_no_job_of_the_flow_is_none() {
    for (name, mark) in [
        ("f-gone", "gone/0/1"),
        ("f-a", "a/0/0"),
        ("f-a", "a/0/01"),
        ("f-a", "a/0/+1"),
        ("f-a", "a/0/ 1"),
        ("f-a", "a/0/1/1"),
        ("f-a", "a/0"),
        ("f-a", ""),
        ("f-a", "a/1/1"),
        ("f-a", "a/0/99999999999"),
        ("f-a", "b/0/1"),
        ("f-other", "a/0/1"),
    ] {
        assert_eq!(marked(name, mark), Ownership::OursUnmarked, "{name} {mark}");
    }
}

#[test]
fn without_a_mark_only_the_whole_name_of_a_first_attempt_counts() {
    let unmarked = |name: &str| whose(json!({"name": name, "ownerReferences": [owner(FLOW)]}), &[]);
    assert_eq!(unmarked("f-a"), key(0, 1));
    assert_eq!(unmarked("f-a-b"), key(1, 1));
    for name in ["f-a-r2", "f-a-0", "f-", "f", "a", "ff-a", "f-a-b-c"] {
        assert_eq!(unmarked(name), Ownership::OursUnmarked, "{name}");
    }
}

#[test]
fn a_label_or_a_name_makes_nothing_ours() {
    let metadata = json!({
        "name": "f-a",
        "labels": {"flow.volcano.sh/entry": "a", "volcano.sh/createdByJobFlow": "default.f"},
        "annotations": {"flow.volcano.sh/node": "a/0/1"},
    });
    assert_eq!(whose(metadata, &[]), Ownership::Foreign { leaving: false });
}

#[test]
fn an_owner_that_is_not_the_controller_is_none() {
    let mut second = owner(FLOW);
    second["controller"] = json!(false);
    assert_eq!(
        whose(json!({"name": "f-a", "ownerReferences": [second]}), &[]),
        Ownership::Foreign { leaving: false }
    );
}

#[test]
fn what_is_not_ours_leaves_if_it_is_deleted_or_its_flow_is_gone() {
    let of = |uid| json!({"name": "f-a", "ownerReferences": [owner(uid)]});
    assert_eq!(whose(of("before"), &[]), Ownership::Foreign { leaving: true });
    assert_eq!(
        whose(of("another"), &["another"]),
        Ownership::Foreign { leaving: false }
    );
    let deleted = json!({"name": "f-a", "deletionTimestamp": "2026-11-29T23:00:00Z"});
    assert_eq!(whose(deleted, &[]), Ownership::Foreign { leaving: true });
    let mut of_cron = owner("cron");
    of_cron["kind"] = json!("CronJob");
    assert_eq!(
        whose(json!({"name": "f-a", "ownerReferences": [of_cron]}), &[]),
        Ownership::Foreign { leaving: false }
    );
}

#[test]
fn a_flow_without_a_uid_owns_nothing() {
    let flow = flow();
    let job: SlimJob =
        serde_json::from_value(json!({"metadata": {"name": "f-a", "ownerReferences": [owner("")]}})).unwrap();
    let found = ownership(
        &job,
        Owner {
            name: "f",
            uid: "",
            flow: &flow,
        },
        |_| true,
    );
    assert_eq!(found, Ownership::Foreign { leaving: false });
}
