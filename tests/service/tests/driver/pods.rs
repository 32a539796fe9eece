//! Why a Job has failed is told by its pods, and those may be seen later than the Job, or not at all.

use std::time::Duration;

use jobflow_core::testing::End;
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Fault, Key, Refusal, Rule, Service, Verb, object};
use serde_json::{Value, json};

use crate::cases::{assert_sound, created, flow, life, until_node};
use crate::stage::{Stage, node, phase};

/// A cluster with a flow of one entry, which is tried again only after exit code 3: the first attempt exits with 3, the
/// second with 4.
fn stage() -> Stage {
    let stage = Stage::new(|attempt: &Attempt| life(End::Fails(if attempt.attempt == 1 { 3 } else { 4 }), 5));
    let mut object = flow(&[("a", &[])]);
    object["spec"]["flows"][0]["retry"] = json!({ "limit": 2, "on": [{ "exitCodes": [3] }] });
    stage.service.create(object).unwrap();
    stage
}

/// The exit codes of the attempts before, and of the last one.
fn exit_codes(flow: &Value) -> (Value, Value) {
    let node = &flow["status"]["nodes"][0];
    (node["attempts"][0]["exitCode"].clone(), node["exitCode"].clone())
}

#[tokio::test(start_paused = true)]
async fn an_exit_code_is_known_however_late_a_watch_shows_the_pods() {
    let mut stage = stage();
    stage.service.lag("pods", Duration::from_secs(3_600));
    stage.start("driver");
    let ended = stage.ended("flow").await;
    assert_eq!(node(&ended, "a"), "Failed/JobFailed");
    assert_eq!(exit_codes(&ended), (json!(3), json!(4)));
    assert_eq!(created(&stage.service), 2);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn an_end_is_not_judged_while_nobody_can_tell_what_its_pods_say() {
    let mut stage = stage();
    stage.service.lag("pods", Duration::from_secs(3_600));
    let busy = Fault::Refused(Refusal::unavailable());
    stage
        .service
        .strike(Rule::on(Verb::List, "pods", busy).after(1).times(4));
    stage.start("driver");
    let ended = stage.ended("flow").await;
    assert_eq!(exit_codes(&ended), (json!(3), json!(4)));
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn pods_that_are_gone_tell_nothing_and_hold_nothing_up() {
    let mut stage = stage();
    stage.start("driver");
    until_node(&stage, "a", "Running").await;
    stage.kill("driver").await;
    let failed = |service: &Service| job(service)["status"]["state"]["phase"] == "Failed";
    assert!(stage.until(failed, Duration::from_secs(60)).await);
    for pod in stage.service.all("pods") {
        stage
            .service
            .delete(&Key::of("pods", object::name(&pod)), "Background")
            .unwrap();
    }
    let gone = |service: &Service| service.all("pods").is_empty();
    assert!(stage.until(gone, Duration::from_secs(60)).await);
    stage.start("driver");
    let ended = stage.ended("flow").await;
    assert_eq!(node(&ended, "a"), "Failed/JobFailed");
    assert_eq!(exit_codes(&ended), (Value::Null, Value::Null));
    assert_eq!(created(&stage.service), 1, "nothing says that it was exit code 3");
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn what_a_pod_told_stays_true_when_the_pod_and_the_job_go() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Fails(3), 5));
    stage.service.create(flow(&[("a", &[])])).unwrap();
    // The end can't be written before everything is gone.
    stage.start("driver");
    until_node(&stage, "a", "Running").await;
    let busy = Fault::Refused(Refusal::unavailable());
    stage
        .service
        .strike(Rule::on(Verb::Replace, "jobflows", busy).times(6));
    let failed = |service: &Service| job(service)["status"]["state"]["phase"] == "Failed";
    assert!(stage.until(failed, Duration::from_secs(60)).await);
    tokio::time::sleep(Duration::from_secs(2)).await;
    stage
        .service
        .delete(&Key::of("jobs", "flow-a"), "Foreground")
        .unwrap();
    let ended = stage.ended("flow").await;
    assert!(stage.service.get(&Key::of("jobs", "flow-a")).is_none());
    assert_eq!(node(&ended, "a"), "Failed/JobFailed");
    assert_eq!(ended["status"]["nodes"][0]["exitCode"], 3);
}

#[tokio::test(start_paused = true)]
async fn where_pods_may_not_be_listed_ends_are_judged_without_them() {
    let mut stage = stage();
    for verb in [Verb::List, Verb::Watch] {
        stage
            .service
            .strike(Rule::on(verb, "pods", Fault::Recorded("rbac")));
    }
    stage.start("driver");
    let ended = stage.ended("flow").await;
    assert_eq!(
        (node(&ended, "a").as_str(), phase(&ended)),
        ("Failed/JobFailed", "Failed")
    );
    assert_eq!(exit_codes(&ended), (Value::Null, Value::Null));
    assert_sound(&stage);
}

fn job(service: &Service) -> Value {
    service.get(&Key::of("jobs", "flow-a")).unwrap_or_default()
}
