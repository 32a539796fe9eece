//! A server that asks to be left alone, and servers that begin a watch in other ways.

use std::time::Duration;

use jobflow_core::testing::End;
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Fault, Refusal, Rule, Service, Verb};
use serde_json::json;

use crate::cases::{CHAIN, assert_sound, created, flow, life};
use crate::stage::{Stage, phase};

/// When the driver's requests arrived that aren't watches, from then on.
fn requests(service: &Service, from: Duration) -> Vec<Duration> {
    let log = service.log();
    let sent = log
        .iter()
        .filter(|entry| entry.verb != Verb::Watch && entry.at >= from);
    sent.map(|entry| entry.at).collect()
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_before_the_time_that_the_server_asked_for() {
    for (verb, plural) in [
        (Verb::Create, "jobs"),
        (Verb::Replace, "jobflows"),
        (Verb::Get, "jobflows"),
    ] {
        let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
        let busy = Fault::Refused(Refusal::too_many(40));
        stage.service.strike(Rule::on(verb, plural, busy).times(1));
        for name in ["flow", "other"] {
            let mut object = flow(CHAIN);
            object["metadata"]["name"] = name.into();
            stage.service.create(object).unwrap();
        }
        stage.start("driver");
        assert_eq!(phase(&stage.ended("flow").await), "Succeed", "{verb:?} {plural}");
        assert_eq!(phase(&stage.ended("other").await), "Succeed", "{verb:?} {plural}");
        let log = stage.service.log();
        let refused = log.iter().find(|entry| entry.code == Some(429)).unwrap().at;
        // What was on its way with it has arrived at the same moment.
        let later = requests(&stage.service, refused + Duration::from_millis(1));
        let pause = later[0] - refused;
        assert!(
            (Duration::from_secs(40)..Duration::from_secs(42)).contains(&pause),
            "{verb:?} {plural}: {pause:?}"
        );
        assert_eq!(created(&stage.service), 4);
        assert_sound(&stage);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_streaming_lists_is_asked_for_plain_ones() {
    let invalid = Refusal::of(
        400,
        "BadRequest",
        "resourceVersionMatch is forbidden for watch",
        json!({}),
    );
    let gone = Refusal::of(410, "Expired", "too old resource version", json!({}));
    for refusal in [Some(invalid), Some(gone), None] {
        let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
        stage.settings.streaming_lists = true;
        match &refusal {
            Some(refusal) => {
                for plural in ["jobflows", "jobs", "jobtemplates", "pods", "queues"] {
                    let refused = Fault::Refused(refusal.clone());
                    stage
                        .service
                        .strike(Rule::on(Verb::Watch, plural, refused).times(1));
                }
            }
            None => stage.service.act(|state| state.streams_lists = false),
        }
        stage.service.create(flow(CHAIN)).unwrap();
        stage.start("driver");
        assert_eq!(phase(&stage.ended("flow").await), "Succeed", "{refusal:?}");
        for plural in ["jobflows", "jobs", "jobtemplates"] {
            let listed = stage.service.count(Verb::List, plural);
            assert_eq!(listed, 1, "{plural} {refusal:?}");
        }
        assert_sound(&stage);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_with_streaming_lists_is_asked_for_no_other() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    stage.settings.streaming_lists = true;
    stage.service.create(flow(CHAIN)).unwrap();
    stage.start("driver");
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_eq!(stage.service.count(Verb::List, "jobs"), 0);
    assert_sound(&stage);
}
