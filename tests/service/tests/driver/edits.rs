//! Edits of a flow that was started.

use std::time::Duration;

use jobflow_core::testing::End;
use jobflow_k8s::client::Finding;
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Key, Part, Service};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cases::{CHAIN, assert_sound, created, flow, life, the_flow, until_node};
use crate::stage::{Stage, node, phase};

fn edit(service: &Service, spec: &Value) {
    let key = Key::of("jobflows", "flow");
    service.merge(&key, Part::Main, json!({ "spec": spec })).unwrap();
}

/// The spec of the chain, with a second entry that waits for one that isn't there.
fn at_fault() -> Value {
    let mut spec = flow(CHAIN)["spec"].clone();
    spec["flows"][1]["dependsOn"]["targets"] = json!(["nobody"]);
    spec
}

/// Why the flow isn't accepted.
fn refusal(flow: &Value) -> String {
    let conditions = flow["status"]["flowConditions"].as_array();
    let accepted = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == "Accepted");
    match accepted {
        Some(accepted) if accepted["status"] == "False" => accepted["message"].as_str().unwrap().to_owned(),
        _ => String::new(),
    }
}

async fn until_refused(stage: &Stage, refused: bool) {
    let done = |service: &Service| refusal(&the_flow(service)).contains("nobody") == refused;
    let patience = Duration::from_secs(60);
    assert!(
        stage.until(done, patience).await,
        "{:#}",
        the_flow(&stage.service)["status"]
    );
}

#[tokio::test(start_paused = true)]
async fn what_runs_is_followed_by_a_new_process_although_the_spec_is_at_fault() {
    for edited_while_nobody_looked in [false, true] {
        let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 20));
        stage.service.create(flow(CHAIN)).unwrap();
        stage.start("driver");
        until_node(&stage, "a", "Running").await;
        if edited_while_nobody_looked {
            stage.kill("driver").await;
            edit(&stage.service, &at_fault());
        } else {
            edit(&stage.service, &at_fault());
            until_refused(&stage, true).await;
            stage.kill("driver").await;
        }
        stage.start("driver");
        until_node(&stage, "a", "Succeeded").await;
        until_refused(&stage, true).await;
        sleep(Duration::from_secs(600)).await;
        let flow_now = the_flow(&stage.service);
        assert_eq!(
            (phase(&flow_now), node(&flow_now, "b").as_str()),
            ("Running", ""),
            "{flow_now:#}"
        );
        assert_eq!(created(&stage.service), 1);
        let told = stage.ear.found();
        assert!(
            told.iter()
                .any(|(_, found)| matches!(found, Finding::InvalidSpec(_))),
            "{told:?}"
        );

        edit(&stage.service, &flow(CHAIN)["spec"]);
        assert_eq!(phase(&stage.ended("flow").await), "Succeed");
        until_refused(&stage, false).await;
        assert_eq!(created(&stage.service), 2);
        assert_sound(&stage);
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_fails_under_a_spec_at_fault_is_made_again_once_that_is_mended() {
    let mut stage = Stage::new(|attempt: &Attempt| {
        let end = if (attempt.entry.as_str(), attempt.attempt) == ("a", 1) {
            End::Fails(3)
        } else {
            End::Succeeds
        };
        life(end, 20)
    });
    let with_retry = |mut spec: Value| {
        spec["flows"][0]["retry"] =
            json!({ "limit": 1, "backoff": { "initialSeconds": 1, "jitterPercent": 0 } });
        spec
    };
    let mut object = flow(CHAIN);
    object["spec"] = with_retry(object["spec"].clone());
    stage.service.create(object.clone()).unwrap();
    stage.start("driver");
    until_node(&stage, "a", "Running").await;
    edit(&stage.service, &with_retry(at_fault()));
    stage.kill("driver").await;
    stage.start("driver");
    until_node(&stage, "a", "BackingOff/JobFailed").await;
    sleep(Duration::from_secs(600)).await;
    assert_eq!(created(&stage.service), 1);
    edit(&stage.service, &object["spec"]);
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_eq!(created(&stage.service), 3);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn the_status_tells_which_generation_was_looked_at_even_if_nothing_follows_from_it() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Never, 5));
    stage.service.create(flow(CHAIN)).unwrap();
    stage.start("driver");
    until_node(&stage, "a", "Running").await;
    edit(&stage.service, &json!({ "parallelism": 7 }));
    let seen = |service: &Service| {
        let flow = the_flow(service);
        flow["status"]["observedGeneration"] == flow["metadata"]["generation"]
    };
    assert!(stage.until(seen, Duration::from_secs(10)).await);
}
