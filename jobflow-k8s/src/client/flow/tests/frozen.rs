//! Templates that are frozen, and templates that change between an intent and its Job.

use jobflow_core::NodePhase;
use serde_json::{Value, json};

use super::scene::{Scene, body, names, refused};
use crate::client::flow::Input;
use crate::client::observer::Finding;
use crate::client::request::Response;

const LIST: &str = "ListFrozen flow.volcano.sh/frozen,volcano.sh/createdByJobFlow=default.f";

fn chain(binding: &str) -> Value {
    json!({
        "templateBinding": binding,
        "flows": [{"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}}],
    })
}

fn read(spec: Value) -> Scene {
    let mut scene = Scene::new(spec);
    scene.step();
    scene.answer_flow();
    scene
}

/// Both templates are frozen, and the intent of `a` is written.
fn frozen() -> Scene {
    let mut scene = read(chain("Snapshot"));
    assert_eq!(names(&scene.step()), [LIST]);
    scene.answer_frozen_list(&[]);
    assert_eq!(names(&scene.step()), ["FreezeTemplate a", "FreezeTemplate b"]);
    scene.answer_frozen();
    scene.answer_frozen();
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene
}

#[test]
fn all_templates_are_frozen_before_the_first_job_is_intended() {
    let mut scene = frozen();
    scene.answer_write();
    let template = &scene.stored()["nodes"][0]["template"];
    assert_eq!(
        *template,
        json!({"uid": "template-a", "generation": 1}),
        "the record tells the template, not its copy"
    );
    scene.step();
    scene.answer_mark();
    let requests = scene.step();
    assert_eq!(names(&requests), ["CreateJob f-a"]);
    let annotations = &body(&requests[0].1)["metadata"]["annotations"];
    assert_eq!(annotations["volcano.sh/createdByJobTemplate"], "default.a");
    assert_eq!(annotations["flow.volcano.sh/template"], "template-a/1");
}

#[test]
fn without_a_snapshot_nothing_is_frozen() {
    for binding in [json!(null), json!("Live")] {
        let mut spec = chain("Live");
        spec["templateBinding"] = binding;
        assert_eq!(names(&read(spec).step()), ["WriteStatus"]);
    }
}

#[test]
fn edits_and_deletion_of_a_frozen_template_are_nothing_to_the_flow() {
    let mut scene = frozen();
    scene.answer_write();
    scene.edit_template("a", 2, "other");
    scene.receive(Input::Template("a".to_owned()));
    scene.remove_template("b");
    assert_eq!(names(&scene.step()), ["MarkBirth"]);
    scene.answer_mark();
    let requests = scene.step();
    assert_eq!(names(&requests), ["CreateJob f-a"]);
    assert_eq!(body(&requests[0].1)["spec"].get("queue"), None);
    scene.answer_job("f-a", "1", "Running");
    scene.step();
    scene.succeeds("f-a", "1");
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(names(&scene.step()), ["CreateJob f-b"]);
}

/// Lost between the create of a frozen template and its answer: the next process finds it, whatever the template is by
/// then.
#[test]
fn a_process_that_is_lost_after_a_freeze_leaves_it_to_the_next() {
    let mut scene = read(chain("Snapshot"));
    scene.step();
    scene.answer_frozen_list(&[]);
    scene.step();
    let frozen = scene.freeze();
    let mut scene = scene.restarted();
    scene.edit_template("a", 2, "other");
    scene.step();
    scene.answer_flow();
    assert_eq!(names(&scene.step()), [LIST]);
    scene.answer_frozen_list(&[frozen]);
    assert_eq!(names(&scene.step()), ["FreezeTemplate b", "WriteStatus"]);
    scene.next("WriteStatus");
    scene.answer_write();
    let template = &scene.stored()["nodes"][0]["template"];
    assert_eq!(*template, json!({"uid": "template-a", "generation": 1}));
}

#[test]
fn of_two_copies_the_older_counts_in_every_order() {
    let mut scene = read(chain("Snapshot"));
    scene.step();
    scene.answer_frozen_list(&[]);
    scene.step();
    let mut older = serde_json::to_value(&*scene.freeze()).unwrap();
    older["metadata"]["creationTimestamp"] = "2023-11-14T22:13:19Z".into();
    let older = serde_json::from_value(older).unwrap();
    let mut other = read(chain("Snapshot"));
    other.edit_template("a", 2, "other");
    other.step();
    other.answer_frozen_list(&[]);
    other.step();
    let younger = other.freeze();
    for copies in [[&older, &younger], [&younger, &older]] {
        let mut scene = read(chain("Snapshot"));
        scene.edit_template("a", 3, "third");
        scene.step();
        scene.answer_frozen_list(&copies.map(Clone::clone));
        scene.step();
        scene.next("WriteStatus");
        scene.answer_write();
        let template = &scene.stored()["nodes"][0]["template"];
        assert_eq!(template["generation"], 1);
    }
}

#[test]
fn a_copy_that_was_changed_fails_the_entry_that_needs_it() {
    let mut scene = read(chain("Snapshot"));
    scene.step();
    scene.answer_frozen_list(&[]);
    scene.step();
    let frozen = scene.freeze();
    let mut changed = serde_json::to_value(&*frozen).unwrap();
    changed["spec"]["queue"] = "mine".into();
    changed["metadata"]["resourceVersion"] = "900".into();
    scene.answer_frozen();
    scene.answer_frozen();
    scene.receive(Input::Frozen(serde_json::from_value(changed).unwrap()));
    scene.step();
    let (phase, reason) = scene.node("a");
    assert_eq!(
        (phase, reason.as_deref()),
        (NodePhase::Waiting, None),
        "not written yet"
    );
    scene.answer_write();
    let node = scene.stored()["nodes"][0].clone();
    assert_eq!(
        (&node["phase"], &node["reason"]),
        (&json!("Failed"), &json!("RenderFailed"))
    );
    assert!(
        node["message"]
            .as_str()
            .unwrap()
            .contains("its hash doesn't agree any more"),
        "{node:#}"
    );
}

#[test]
fn any_answer_to_a_freeze_but_the_template_is_looked_at_before_it_is_judged() {
    for answer in [
        refused(409, "already exists"),
        refused(500, "failed calling webhook"),
        refused(422, "denied"),
        Response::Unanswered("timed out".to_owned()),
    ] {
        let words = format!("{answer:?}");
        let mut scene = read(json!({"templateBinding": "Snapshot", "flows": [{"name": "a"}]}));
        scene.step();
        scene.answer_frozen_list(&[]);
        assert_eq!(names(&scene.step()), ["FreezeTemplate a"]);
        let frozen = scene.freeze();
        scene.answer(answer);
        assert_eq!(names(&scene.step()), Vec::<String>::new(), "{words}");
        scene.later(1_000);
        assert_eq!(names(&scene.step()), [LIST, "WriteStatus"], "{words}");
        scene.answer_frozen_list(&[frozen]);
        scene.answer_write();
        assert_eq!(names(&scene.step()), ["WriteStatus"], "it is there: {words}");
    }
}

#[test]
fn a_template_that_may_not_be_frozen_fails_its_entry_and_one_that_may_later_is_waited_for() {
    let ask = |answer: Response| {
        let mut scene = read(json!({"templateBinding": "Snapshot", "flows": [{"name": "a"}]}));
        scene.step();
        scene.answer_frozen_list(&[]);
        scene.step();
        scene.answer(answer);
        scene.step();
        scene.later(1_000);
        scene.step();
        scene.answer_frozen_list(&[]);
        scene.answer_write();
        scene
    };
    let mut denied = ask(refused(422, "denied"));
    assert_eq!(names(&denied.step()), ["WriteStatus"]);
    denied.answer_write();
    let node = denied.stored()["nodes"][0].clone();
    assert_eq!(node["reason"], "RenderFailed");
    let said = "the template `a` can't be frozen: ";
    assert!(node["message"].as_str().unwrap().contains(said), "{node:#}");
    let mut waits = ask(refused(403, "not now"));
    assert!(
        matches!(&waits.told()[..], [Finding::NotFrozen(why)] if why.contains(said)),
        "{:?}",
        waits.told()
    );
    assert_eq!(names(&waits.step()), ["FreezeTemplate a"]);
    waits.answer_frozen();
    assert_eq!(names(&waits.step()), ["WriteStatus"]);
}

#[test]
fn a_template_that_comes_later_is_frozen_then() {
    let mut scene = Scene::without_templates(chain("Snapshot"));
    assert_eq!(names(&scene.step()), [""; 0]);
    let (phase, reason) = scene.node("a");
    assert_eq!(
        (phase, reason.as_deref()),
        (NodePhase::Blocked, Some("TemplateNotFound"))
    );
    scene.add_template("a");
    assert_eq!(names(&scene.step()), ["ReadFlow"]);
    scene.answer_flow();
    assert!(names(&scene.step()).contains(&LIST.to_owned()));
}

#[test]
fn a_copy_that_is_deleted_is_looked_for_and_frozen_again() {
    let mut scene = frozen();
    scene.answer_write();
    let name = {
        let copies = crate::frozen::freeze(
            &serde_json::from_value(json!({
                "metadata": {"name": "f", "namespace": "default", "uid": "uid-f"}, "spec": {},
            }))
            .unwrap(),
            &serde_json::from_value(json!({
                "metadata": {"name": "b", "namespace": "default"}, "spec": super::scene::job_spec(),
            }))
            .unwrap(),
        );
        copies.unwrap().metadata.name.unwrap()
    };
    scene.receive(Input::FrozenGone(name));
    assert!(names(&scene.step()).contains(&LIST.to_owned()));
    scene.next("ListFrozen");
    scene.answer_frozen_list(&[]);
    scene.next("MarkBirth");
    scene.answer_mark();
    assert!(names(&scene.step()).contains(&"FreezeTemplate b".to_owned()));
}

/// A template that changes after the intent was written is another intent: that is written before the Job is made.
#[test]
fn a_template_that_changes_between_intent_and_create_is_a_new_intent() {
    let mut scene = read(chain("Live"));
    scene.step();
    scene.answer_write();
    assert_eq!(names(&scene.step()), ["MarkBirth"]);
    scene.edit_template("a", 2, "other");
    scene.receive(Input::Template("a".to_owned()));
    scene.answer_mark();
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    let node = scene.stored()["nodes"][0].clone();
    assert_eq!(
        (&node["attempt"], &node["template"]["generation"]),
        (&Value::Null, &json!(2)),
        "of the same attempt, which is the first"
    );
    let requests = scene.step();
    assert_eq!(names(&requests), ["CreateJob f-a"]);
    let sent = body(&requests[0].1);
    assert_eq!(
        (
            &sent["spec"]["queue"],
            &sent["metadata"]["annotations"]["flow.volcano.sh/template"]
        ),
        (&json!("other"), &json!("template-a/2"))
    );
}

#[test]
fn a_template_that_changes_unheard_of_is_a_new_intent_too() {
    let mut scene = read(chain("Live"));
    scene.step();
    scene.answer_write();
    scene.step();
    let mut scene = {
        scene.answer_mark();
        scene.restarted()
    };
    scene.step();
    scene.answer_flow();
    assert_eq!(names(&scene.step()), ["ReadJob f-a"]);
    scene.edit_template("a", 2, "other");
    scene.answer_absent("f-a");
    assert_eq!(names(&scene.step()), ["WriteStatus"]);
    scene.answer_write();
    assert_eq!(scene.stored()["nodes"][0]["template"]["generation"], 2);
    assert_eq!(names(&scene.step()), ["CreateJob f-a"]);
}

#[test]
fn a_template_that_goes_between_intent_and_create_is_waited_for_by_name() {
    let mut scene = read(chain("Live"));
    scene.step();
    scene.answer_write();
    scene.step();
    scene.remove_template("a");
    scene.answer_mark();
    scene.step();
    let (phase, reason) = scene.node("a");
    assert_eq!(
        (phase, reason.as_deref()),
        (NodePhase::Submitting, Some("TemplateNotFound"))
    );
    scene.add_template("a");
    assert_eq!(names(&scene.step()), ["CreateJob f-a"]);
}
