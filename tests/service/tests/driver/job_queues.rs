//! A Job whose queue is missing or closed waits in vain, and its node says so.

use std::time::Duration;

use jobflow_core::testing::End;
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Fault, Key, Part, Rule, Service, Verb};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cases::{assert_sound, created, flow, life, the_flow, until_node};
use crate::stage::{Stage, node, phase};

/// A cluster, and a flow whose only Job waits in the queue `gpu`.
fn stage() -> Stage {
    let stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    let mut object = flow(&[("a", &[])]);
    object["spec"]["flows"][0]["jobSpec"]["queue"] = json!("gpu");
    stage.service.create(object).unwrap();
    stage
}

fn create_queue(service: &Service, state: &str) {
    let queue = json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": { "name": "gpu" },
        "spec": { "weight": 1 },
    });
    service.create(queue).unwrap();
    set_state(service, state);
}

fn set_state(service: &Service, state: &str) {
    let status = json!({ "status": { "state": state } });
    service.merge(&key(), Part::Status, status).unwrap();
}

fn key() -> Key {
    Key {
        namespace: String::new(),
        ..Key::of("queues", "gpu")
    }
}

fn a(service: &Service) -> String {
    node(&the_flow(service), "a")
}

#[tokio::test(start_paused = true)]
async fn a_node_says_that_its_queue_is_missing_until_it_comes() {
    let mut stage = stage();
    stage.start("driver");
    until_node(&stage, "a", "Queued").await;
    sleep(Duration::from_secs(7)).await;
    assert_eq!(a(&stage.service), "Queued", "queues are not suspected at once");
    until_node(&stage, "a", "Queued/QueueUnavailable").await;
    create_queue(&stage.service, "Open");
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_eq!(created(&stage.service), 1);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_closed_and_opened_again_is_told_of_each_time() {
    let mut stage = stage();
    create_queue(&stage.service, "Closed");
    // Nobody is there to run the Job.
    stage.stop_volcano();
    stage.start("driver");
    until_node(&stage, "a", "Queued/QueueUnavailable").await;
    set_state(&stage.service, "Open");
    until_node(&stage, "a", "Queued").await;
    set_state(&stage.service, "Closing");
    until_node(&stage, "a", "Queued/QueueUnavailable").await;
    stage.kill("driver").await;
    set_state(&stage.service, "Open");
    stage.start("driver");
    until_node(&stage, "a", "Queued").await;
    stage.service.delete(&key(), "Background").unwrap();
    until_node(&stage, "a", "Queued/QueueUnavailable").await;
}

#[tokio::test(start_paused = true)]
async fn where_queues_may_not_be_listed_nobody_says_anything_of_them() {
    for fault in [
        Fault::Recorded("rbac"),
        Fault::Answered(404, Value::String("404 page not found".to_owned())),
    ] {
        let mut stage = stage();
        for verb in [Verb::List, Verb::Watch] {
            stage.service.strike(Rule::on(verb, "queues", fault.clone()));
        }
        stage.stop_volcano();
        stage.start("driver");
        until_node(&stage, "a", "Queued").await;
        sleep(Duration::from_secs(60)).await;
        assert_eq!(a(&stage.service), "Queued");
        stage.service.act(|state| state.faults.clear());
        until_node(&stage, "a", "Queued/QueueUnavailable").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_create_that_was_refused_for_want_of_a_queue_is_tried_again_when_it_comes() {
    let mut stage = stage();
    stage.service.strike(Rule::on(
        Verb::Create,
        "jobs",
        Fault::Recorded("volcano_queue_missing"),
    ));
    stage.start("driver");
    until_node(&stage, "a", "Submitting/QueueUnavailable").await;
    let tries = |service: &Service| {
        let log = service.log();
        log.iter().filter(|entry| entry.is(Verb::Create, "jobs")).count()
    };
    let eighth = |service: &Service| tries(service) == 8;
    assert!(
        stage.until(eighth, Duration::from_secs(3_600)).await,
        "the next try is minutes away"
    );
    stage.service.act(|state| state.faults.clear());
    create_queue(&stage.service, "Open");
    let made = |service: &Service| created(service) == 1;
    assert!(stage.until(made, Duration::from_secs(5)).await);
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_sound(&stage);
}
