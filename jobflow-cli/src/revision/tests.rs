//! What differs, and the table of what becomes of it.

use serde_json::json;

use super::*;

fn flow(spec: &Value) -> JobFlow {
    serde_json::from_value(json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "f"}, "spec": spec,
    }))
    .unwrap()
}

fn revision(old: &Value, new: &Value) -> Revision {
    let templates = BTreeMap::new();
    let (old, new) = (flow(old), flow(new));
    let side = |flow| Side {
        flow,
        templates: &templates,
    };
    Revision::of(side(&old), side(&new), &Progress::default())
}

#[test]
fn equal_flows_do_not_differ_whatever_the_order_of_their_entries() {
    let (a, b) = (
        json!({"name": "a"}),
        json!({"name": "b", "dependsOn": {"targets": ["a"]}}),
    );
    assert!(revision(&json!({"flows": [a, b]}), &json!({"flows": [b, a]})).is_empty());
}

#[test]
fn entries_are_added_removed_and_changed() {
    let old = json!({"flows": [{"name": "a"}, {"name": "b"}, {"name": "c", "retry": {"limit": 1}}]});
    let new = json!({"parallelism": 2, "flows": [{"name": "c", "retry": {"limit": 2}}, {"name": "d"}], "finally": [{"name": "a"}]});
    let revision = revision(&old, &new);
    let shown: Vec<_> = revision
        .entries
        .iter()
        .map(|change| (change.name.as_str(), change.kind()))
        .collect();
    assert_eq!(
        shown,
        [
            ("c", Kind::Changed),
            ("d", Kind::Added),
            ("a", Kind::Changed),
            ("b", Kind::Removed)
        ]
    );
    let paths = |change: &Change| fields(change.old.as_ref(), change.new.as_ref());
    assert_eq!(paths(&revision.entries[0]), ["retry.limit"]);
    assert_eq!(paths(&revision.entries[2]), ["finally"]);
    assert_eq!(paths(&revision.settings.unwrap()), ["parallelism"]);
}

#[test]
fn a_list_of_another_length_differs_as_a_whole() {
    let (old, new) = (json!({"a": [1, 2], "b": [1]}), json!({"a": [1, 3], "b": [1, 2]}));
    assert_eq!(fields(Some(&old), Some(&new)), ["a[1]", "b"]);
}

#[test]
fn what_becomes_of_a_change_is_this() {
    let mut table = String::new();
    for phase in NodePhase::ALL {
        for kind in [Kind::Changed, Kind::Removed] {
            let progress = Progress {
                phase: Some(jobflow_core::FlowPhase::Running),
                entries: BTreeMap::from([("a".to_owned(), Standing { phase, attempt: 1 })]),
            };
            let fate = progress.fate("a", kind);
            let pending = if fate.is_pending(kind) { "!" } else { " " };
            table += &format!(
                "{:<10} {:<7} {pending} {}\n",
                phase.as_str(),
                format!("{kind:?}"),
                fate.words(kind)
            );
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn nothing_joins_a_flow_that_has_ended() {
    let progress = |phase| Progress {
        phase: Some(phase),
        entries: BTreeMap::new(),
    };
    assert_eq!(
        progress(jobflow_core::FlowPhase::Failed).fate("a", Kind::Added),
        Fate::TooLate
    );
    assert_eq!(
        progress(jobflow_core::FlowPhase::Running).fate("a", Kind::Added),
        Fate::Joins
    );
}
