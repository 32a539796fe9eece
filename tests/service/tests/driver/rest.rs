//! A flow that has ended is forgotten until something happens to it.

use std::time::Duration;

use jobflow_core::testing::End;
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Key, Part, Service, Verb};
use serde_json::json;
use tokio::time::sleep;

use crate::cases::{CHAIN, assert_sound, created, flow, life, the_flow};
use crate::stage::{Stage, phase};

/// A cluster on which a flow has ended, and is forgotten.
async fn stage() -> Stage {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    stage.service.create(flow(CHAIN)).unwrap();
    stage.start("driver");
    stage.ended("flow").await;
    until_rests(&stage, 1).await;
    stage
}

async fn until_rests(stage: &Stage, times: usize) {
    let done = |_: &Service| stage.ear.rests().len() == times;
    assert!(
        stage.until(done, Duration::from_secs(120)).await,
        "{:?}",
        stage.ear.rests()
    );
}

fn requests(service: &Service) -> usize {
    let log = service.log();
    log.iter().filter(|entry| entry.verb != Verb::Watch).count()
}

#[tokio::test(start_paused = true)]
async fn an_ended_flow_is_dropped_and_costs_nothing_more() {
    let stage = stage().await;
    let before = requests(&stage.service);
    sleep(Duration::from_secs(7_200)).await;
    assert_eq!(requests(&stage.service), before);
    assert_eq!(stage.ear.rests(), ["flow"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_process_drops_what_has_ended_without_asking_for_anything() {
    let mut stage = stage().await;
    stage.kill("driver").await;
    let before = requests(&stage.service);
    stage.start("driver");
    until_rests(&stage, 2).await;
    let lists = ["jobflows", "jobs", "jobtemplates", "pods", "queues"].len();
    assert_eq!(requests(&stage.service), before + lists);
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_an_ended_flow_is_seen() {
    let stage = stage().await;
    let key = Key::of("jobflows", "flow");
    let edit = json!({ "spec": { "parallelism": 3 } });
    stage.service.merge(&key, Part::Main, edit).unwrap();
    let seen = |service: &Service| {
        let flow = the_flow(service);
        flow["status"]["observedGeneration"] == flow["metadata"]["generation"]
    };
    assert!(stage.until(seen, Duration::from_secs(60)).await);
    until_rests(&stage, 2).await;
    let ttl = json!({ "spec": { "ttlSecondsAfterFinished": 0 } });
    stage.service.merge(&key, Part::Main, ttl).unwrap();
    let gone = |service: &Service| service.get(&key).is_none();
    assert!(stage.until(gone, Duration::from_secs(60)).await);
}

#[tokio::test(start_paused = true)]
async fn a_job_of_an_ended_flow_that_runs_again_is_shown_and_changes_nothing() {
    let stage = stage().await;
    stage.stop_volcano();
    let key = Key::of("jobs", "flow-a");
    let runs = json!({ "status": { "state": { "phase": "Running" } } });
    stage.service.merge(&key, Part::Status, runs).unwrap();
    let shown = |service: &Service| the_flow(service)["status"].to_string().contains("\"Running\"");
    assert!(stage.until(shown, Duration::from_secs(60)).await);
    let completed = json!({ "status": { "state": { "phase": "Completed" } } });
    stage.service.merge(&key, Part::Status, completed).unwrap();
    until_rests(&stage, 2).await;
    let ended = the_flow(&stage.service);
    assert_eq!((phase(&ended), created(&stage.service)), ("Succeed", 2));
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn what_is_told_of_a_job_a_moment_after_its_end_is_shown() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    stage.service.create(flow(CHAIN)).unwrap();
    stage.start("driver");
    stage.ended("flow").await;
    stage.stop_volcano();
    sleep(Duration::from_secs(30)).await;
    let late = json!({ "status": { "runningDuration": "7s" } });
    stage
        .service
        .merge(&Key::of("jobs", "flow-a"), Part::Status, late)
        .unwrap();
    let shown =
        |service: &Service| the_flow(service)["status"]["conditions"]["flow-a"]["runningDuration"] == "7s";
    assert!(stage.until(shown, Duration::from_secs(20)).await);
    until_rests(&stage, 1).await;
}
