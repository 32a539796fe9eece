//! A flow is deleted a while after its end.

use std::time::Duration;

use jobflow_core::testing::End;
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Fault, Key, Part, Refusal, Rule, Service, Verb, kind, object};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cases::{CHAIN, flow, life, the_flow};
use crate::stage::{Stage, phase};

const TTL: Duration = Duration::from_secs(60);

/// The chain on a cluster, to be deleted a minute after its end.
fn stage(end: End) -> Stage {
    let stage = Stage::new(move |_: &Attempt| life(end, 5));
    let mut object = flow(CHAIN);
    object["spec"]["ttlSecondsAfterFinished"] = json!(TTL.as_secs());
    stage.service.create(object).unwrap();
    stage
}

fn is_gone(service: &Service) -> bool {
    service.get(&Key::of("jobflows", "flow")).is_none() && service.all("jobs").is_empty()
}

/// How long the flow and its Jobs are there from now on.
async fn stays(stage: &Stage) -> Duration {
    let began = stage.service.clock().elapsed();
    assert!(
        stage.until(is_gone, Duration::from_secs(3_600)).await,
        "{:#}\n{}",
        the_flow(&stage.service),
        stage.last_requests()
    );
    stage.service.clock().elapsed() - began
}

fn edit(service: &Service, ttl: &Value) {
    let key = Key::of("jobflows", "flow");
    let spec = json!({ "spec": { "ttlSecondsAfterFinished": ttl } });
    service.merge(&key, Part::Main, spec).unwrap();
}

fn deletes(service: &Service) -> usize {
    let log = service.log();
    log.iter()
        .filter(|entry| entry.is(Verb::Delete, "jobflows"))
        .count()
}

#[tokio::test(start_paused = true)]
async fn a_flow_goes_with_its_jobs_when_its_time_after_the_end_is_up() {
    for (end, outcome) in [(End::Succeeds, "Succeed"), (End::Fails(1), "Failed")] {
        let mut stage = stage(end);
        stage.start("driver");
        let ended = stage.ended("flow").await;
        assert_eq!(phase(&ended), outcome);
        let stayed = stays(&stage).await;
        assert!(
            (TTL..TTL + Duration::from_secs(5)).contains(&stayed),
            "{stayed:?}"
        );
        let log = stage.service.log();
        let delete = log
            .iter()
            .find(|entry| entry.is(Verb::Delete, "jobflows"))
            .unwrap();
        let conditions = &delete.body["preconditions"];
        assert_eq!(conditions["uid"], object::uid(&ended));
        assert!(conditions["resourceVersion"].is_string(), "{conditions}");
        assert_eq!(deletes(&stage.service), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_goes_on_while_no_controller_runs() {
    let mut stage = stage(End::Succeeds);
    stage.start("driver");
    stage.ended("flow").await;
    stage.kill("driver").await;
    sleep(TTL / 2).await;
    stage.start("driver");
    let stayed = stays(&stage).await;
    assert!((TTL / 3..TTL).contains(&stayed), "{stayed:?}");

    let mut stage = self::stage(End::Succeeds);
    stage.start("driver");
    stage.ended("flow").await;
    stage.kill("driver").await;
    sleep(TTL * 10).await;
    assert!(!is_gone(&stage.service));
    stage.start("driver");
    assert!(stays(&stage).await < Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_the_time_counts_until_the_flow_is_deleted() {
    let mut stage = stage(End::Succeeds);
    stage.start("driver");
    stage.ended("flow").await;
    sleep(TTL / 2).await;
    edit(&stage.service, &json!(600));
    let stayed = stays(&stage).await;
    assert!(stayed > Duration::from_secs(500), "{stayed:?}");
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_no_watch_has_shown_yet_keeps_the_flow() {
    let mut stage = stage(End::Succeeds);
    stage.start("driver");
    stage.ended("flow").await;
    stage.service.lag("jobflows", TTL * 10);
    sleep(TTL / 2).await;
    edit(&stage.service, &Value::Null);
    sleep(TTL * 5).await;
    assert!(!is_gone(&stage.service));
    assert!(
        deletes(&stage.service) <= 1,
        "a delete of what has changed is refused, and not repeated"
    );
    edit(&stage.service, &json!(0));
    stage.service.catch_up("jobflows");
    assert!(stays(&stage).await < Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_delete_whose_answer_is_lost_is_looked_into() {
    let stale = Refusal::stale(kind("jobflows"), "flow");
    for fault in [
        Fault::LostRequest,
        Fault::LostReply,
        Fault::DoneInSilence,
        Fault::Refused(stale),
    ] {
        let mut stage = stage(End::Succeeds);
        stage
            .service
            .strike(Rule::on(Verb::Delete, "jobflows", fault).times(1));
        stage.start("driver");
        stage.ended("flow").await;
        assert!(stays(&stage).await < TTL * 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_deletes_nothing() {
    let mut stage = stage(End::Succeeds);
    stage.start("driver");
    stage.ended("flow").await;
    stage.kill("driver").await;
    stage.settings.dry_run = true;
    stage.start("watcher");
    sleep(TTL * 10).await;
    assert!(!is_gone(&stage.service));
    assert_eq!(deletes(&stage.service), 0);
}
