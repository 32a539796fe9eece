//! Edits of a flow while it runs, and after: what follows them, what doesn't, and what the conditions tell.

use std::time::Duration;

use jobflow_core::testing::End;
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Key, Part, Service};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cases::{assert_sound, created, flow, life, spec, the_flow, until_node};
use crate::stage::{Stage, node, phase};

const CHAIN: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"])];

/// Jobs of `a` fail the first time; each Job takes five seconds.
fn stage(flow: Value, fails_first: bool) -> Stage {
    let mut stage = Stage::new(move |attempt: &Attempt| {
        let fails = fails_first && attempt.entry == "a" && attempt.attempt == 1;
        life(if fails { End::Fails(3) } else { End::Succeeds }, 5)
    });
    stage.service.create(flow).unwrap();
    stage.start("driver");
    stage
}

/// Changes the entries of the flow.
fn edit(service: &Service, change: impl FnOnce(&mut Vec<Value>)) {
    let mut flows = the_flow(service)["spec"]["flows"].as_array().unwrap().clone();
    change(&mut flows);
    let edited = json!({ "spec": { "flows": flows } });
    service
        .merge(&Key::of("jobflows", "flow"), Part::Main, edited)
        .unwrap();
}

/// Another job than before.
fn another() -> Value {
    let mut spec = spec();
    spec["maxRetry"] = 7.into();
    spec
}

fn retries_of(service: &Service, job: &str) -> Value {
    service.get(&Key::of("jobs", job)).unwrap()["spec"]["maxRetry"].clone()
}

/// A condition's status, reason and message, and the generation that it speaks of.
fn told(flow: &Value, of: &str) -> (String, String, String, Value) {
    let all = flow["status"]["flowConditions"].as_array().unwrap();
    let found = all.iter().find(|condition| condition["type"] == of);
    let found = found.cloned().unwrap_or_default();
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    (
        text("status"),
        text("reason"),
        text("message"),
        found["observedGeneration"].clone(),
    )
}

async fn until_observed(stage: &Stage, generation: i64) -> Value {
    let seen = |service: &Service| the_flow(service)["status"]["observedGeneration"] == generation;
    let done = stage.until(seen, Duration::from_secs(30)).await;
    assert!(done, "{:#}", the_flow(&stage.service)["status"]);
    the_flow(&stage.service)
}

fn started_before(names: &str, generation: i64) -> (String, String, String, Value) {
    let words = |text: &str| text.to_owned();
    (
        words("True"),
        words("StartedBefore"),
        format!("started before they were edited: {names}"),
        generation.into(),
    )
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_what_runs_is_told_and_counts_for_the_next_attempt() {
    let mut object = flow(CHAIN);
    object["spec"]["flows"][0]["retry"] = json!({ "limit": 1, "backoff": { "initialSeconds": 1 } });
    let stage = stage(object, true);
    until_node(&stage, "a", "Running").await;
    edit(&stage.service, |flows| flows[0]["jobSpec"] = another());
    let seen = until_observed(&stage, 2).await;
    assert_eq!(told(&seen, "EditPending"), started_before("a", 2));
    assert_eq!(told(&seen, "Accepted").0, "True");
    let ended = stage.ended("flow").await;
    assert_eq!(phase(&ended), "Succeed");
    assert_eq!(
        told(&ended, "EditPending").0,
        "False",
        "the second attempt is as it is now"
    );
    assert_eq!(
        (
            retries_of(&stage.service, "flow-a"),
            retries_of(&stage.service, "flow-a-r2")
        ),
        (Value::Null, json!(7))
    );
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_is_taken_back_is_pending_no_more() {
    let stage = stage(flow(CHAIN), false);
    until_node(&stage, "a", "Running").await;
    edit(&stage.service, |flows| flows[0]["jobSpec"] = another());
    assert_eq!(told(&until_observed(&stage, 2).await, "EditPending").0, "True");
    edit(&stage.service, |flows| flows[0]["jobSpec"] = spec());
    let seen = until_observed(&stage, 3).await;
    let (status, reason, ..) = told(&seen, "EditPending");
    assert_eq!((status.as_str(), reason.as_str()), ("False", "NoEdit"));
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_what_has_ended_changes_nothing_and_is_told() {
    let stage = stage(flow(CHAIN), false);
    until_node(&stage, "b", "Running").await;
    edit(&stage.service, |flows| {
        flows[0]["jobSpec"] = another();
        flows.insert(0, json!({ "name": "first", "jobSpec": spec() }));
    });
    let seen = until_observed(&stage, 2).await;
    assert_eq!(
        told(&seen, "EditPending"),
        started_before("a", 2),
        "though entries moved"
    );
    let ended = stage.ended("flow").await;
    assert_eq!((phase(&ended), created(&stage.service)), ("Succeed", 3));
    assert_eq!(told(&ended, "EditPending"), started_before("a", 2));
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_started_follows_an_edit() {
    let stage = stage(flow(CHAIN), false);
    until_node(&stage, "a", "Running").await;
    edit(&stage.service, |flows| flows[1]["jobSpec"] = another());
    let ended = stage.ended("flow").await;
    assert_eq!(phase(&ended), "Succeed");
    assert_eq!(retries_of(&stage.service, "flow-b"), 7);
    assert_ne!(told(&ended, "EditPending").0, "True");
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn what_is_removed_runs_to_its_end_and_what_was_not_started_is_never_made() {
    let stage = stage(flow(&[("a", &[]), ("b", &["a"]), ("c", &[])]), false);
    until_node(&stage, "a", "Running").await;
    edit(&stage.service, |flows| drop(flows.drain(..2)));
    let seen = until_observed(&stage, 2).await;
    assert_eq!(node(&seen, "a"), "Running", "its Job is left alone");
    let ended = stage.ended("flow").await;
    assert_eq!((phase(&ended), created(&stage.service)), ("Succeed", 2));
    let job = stage.service.get(&Key::of("jobs", "flow-a")).unwrap();
    assert_eq!(job["status"]["state"]["phase"], "Completed");
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn what_is_added_joins_a_flow_that_has_not_ended() {
    let stage = stage(flow(CHAIN), false);
    until_node(&stage, "b", "Running").await;
    edit(&stage.service, |flows| {
        flows.push(json!({ "name": "c", "jobSpec": spec(), "dependsOn": { "targets": ["a", "b"] } }));
    });
    let ended = stage.ended("flow").await;
    assert_eq!((phase(&ended), created(&stage.service)), ("Succeed", 3));
    assert_eq!(node(&ended, "c"), "Succeeded");
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn what_is_added_to_an_ended_flow_does_not_join_it() {
    let mut stage = stage(flow(CHAIN), false);
    let ended = stage.ended("flow").await;
    edit(&stage.service, |flows| {
        flows.insert(0, json!({ "name": "late", "jobSpec": spec() }));
        flows[1]["dependsOn"] = json!({ "targets": ["late"] });
    });
    let seen = until_observed(&stage, 2).await;
    assert_eq!(
        told(&seen, "EditPending").2,
        "started before they were edited: a; added after the flow had ended: late"
    );
    stage.kill("driver").await;
    let cancel = json!({ "spec": { "cancel": {} } });
    stage
        .service
        .merge(&Key::of("jobflows", "flow"), Part::Main, cancel)
        .unwrap();
    stage.start("driver");
    let seen = until_observed(&stage, 3).await;
    sleep(Duration::from_secs(600)).await;
    for field in ["state", "completionTime", "progress", "summary", "stop"] {
        assert_eq!(seen["status"][field], ended["status"][field], "{field}");
    }
    assert_eq!((phase(&seen), created(&stage.service)), ("Succeed", 2));
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn under_an_invalid_edit_nothing_starts_what_runs_is_followed_and_a_valid_one_goes_on() {
    for restarts in [false, true] {
        let mut stage = stage(flow(CHAIN), false);
        until_node(&stage, "a", "Running").await;
        edit(&stage.service, |flows| {
            flows[1]["dependsOn"] = json!({ "targets": ["c"] });
        });
        let seen = until_observed(&stage, 2).await;
        let (status, reason, message, generation) = told(&seen, "Accepted");
        assert_eq!((status.as_str(), reason.as_str()), ("False", "InvalidSpec"));
        assert!(message.contains("the flow has no entry `c`"), "{message}");
        assert_eq!(generation, 2);
        if restarts {
            stage.kill("driver").await;
            stage.start("driver");
        }
        until_node(&stage, "a", "Succeeded").await;
        sleep(Duration::from_secs(600)).await;
        let now = the_flow(&stage.service);
        assert_eq!(
            (phase(&now), created(&stage.service)),
            ("Running", 1),
            "restarts: {restarts}"
        );
        assert_eq!(told(&now, "Accepted").0, "False");
        edit(&stage.service, |flows| {
            flows[1]["dependsOn"] = json!({ "targets": ["a"] });
        });
        let ended = stage.ended("flow").await;
        assert_eq!(
            (phase(&ended), created(&stage.service)),
            ("Succeed", 2),
            "restarts: {restarts}"
        );
        assert_eq!(told(&ended, "Accepted").0, "True");
        assert_sound(&stage);
    }
}

/// Of an attempt that fails under an invalid edit the retry waits for a valid one; the failure ends nothing else.
#[tokio::test(start_paused = true)]
async fn under_an_invalid_edit_a_failed_attempt_waits_for_a_valid_one() {
    let mut object = flow(CHAIN);
    object["spec"]["flows"][0]["retry"] = json!({ "limit": 1, "backoff": { "initialSeconds": 1 } });
    let mut stage = stage(object, true);
    until_node(&stage, "a", "Running").await;
    edit(&stage.service, |flows| flows.push(json!({ "name": "b" })));
    until_observed(&stage, 2).await;
    stage.kill("driver").await;
    stage.start("driver");
    until_node(&stage, "a", "BackingOff/JobFailed").await;
    sleep(Duration::from_secs(600)).await;
    let now = the_flow(&stage.service);
    assert_eq!(
        (node(&now, "a").as_str(), created(&stage.service)),
        ("BackingOff/JobFailed", 1)
    );
    edit(&stage.service, |flows| drop(flows.pop()));
    let ended = stage.ended("flow").await;
    assert_eq!((phase(&ended), created(&stage.service)), ("Succeed", 3));
    assert_sound(&stage);
}
