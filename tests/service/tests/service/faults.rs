//! What befalls requests, and the log of them.

use std::time::Duration;

use jobflow_test_service::{Fault, Refusal, Rule, Service, Verb};
use kube::Error;
use kube::api::PostParams;

use crate::fixtures::{create, job, jobs, refusal, refused};

/// What a create meets: whether an answer came within ten seconds, and whether the job is there then and later.
async fn created(fault: Fault) -> (Option<bool>, bool, bool) {
    let service = Service::new();
    service.strike(Rule::on(Verb::Create, "jobs", fault).times(1));
    let jobs = jobs(&service);
    let (params, job) = (PostParams::default(), job("j"));
    let answer = tokio::time::timeout(Duration::from_secs(10), jobs.create(&params, &job));
    let answer = answer.await.ok().map(|answer| answer.is_ok());
    let then = service.all("jobs").len() == 1;
    tokio::time::sleep(Duration::from_secs(60)).await;
    (answer, then, service.all("jobs").len() == 1)
}

#[tokio::test(start_paused = true)]
async fn each_fault_does_what_it_says() {
    let busy = || Refusal::too_many(3);
    let cases = [
        (Fault::Refused(busy()), (Some(false), false, false)),
        (Fault::Recorded("webhook_down"), (Some(false), false, false)),
        (Fault::DoneAndRefused(busy()), (Some(false), true, true)),
        (Fault::LostRequest, (Some(false), false, false)),
        (Fault::LostReply, (Some(false), true, true)),
        (Fault::Late(Duration::from_secs(20)), (Some(false), false, true)),
        (Fault::Slow(Duration::from_secs(5)), (Some(true), true, true)),
        (Fault::Silence, (None, false, false)),
        (Fault::DoneInSilence, (None, true, true)),
    ];
    for (fault, expected) in cases {
        assert_eq!(created(fault.clone()).await, expected, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_strikes_those_that_it_is_about_and_only_so_often() {
    let service = Service::new();
    let rule = Rule::on(Verb::Create, "jobs", Fault::Recorded("quota_exceeded"));
    service.strike(rule.named("b").by("test").after(1).times(1));
    let jobs = jobs(&service);
    create(&jobs, &job("a")).await;
    create(&jobs, &job("b")).await;
    let struck = jobs.create(&PostParams::default(), &job("b")).await;
    assert_eq!(refused(struck), refusal(403, "Forbidden"));
    let taken = jobs.create(&PostParams::default(), &job("b")).await;
    assert_eq!(refused(taken), refusal(409, "AlreadyExists"));
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_no_answer_of_the_server() {
    let service = Service::new();
    service.strike(Rule::all(Fault::LostRequest));
    assert!(matches!(jobs(&service).get("a").await, Err(Error::Service(_))));
}

#[tokio::test(start_paused = true)]
async fn the_log_tells_what_was_asked_and_what_came_of_it() {
    let service = Service::new();
    service.strike(Rule::on(Verb::Create, "jobs", Fault::LostReply).times(1));
    let jobs = jobs(&service);
    assert!(jobs.create(&PostParams::default(), &job("a")).await.is_err());
    assert!(jobs.create(&PostParams::default(), &job("a")).await.is_err());
    jobs.get("a").await.unwrap();
    let log = service.log();
    let told: Vec<_> = log
        .iter()
        .map(|entry| (entry.verb, entry.code, entry.carried_out))
        .collect();
    assert_eq!(
        told,
        [
            (Verb::Create, None, true),
            (Verb::Create, Some(409), false),
            (Verb::Get, Some(200), true)
        ]
    );
    assert_eq!(service.count(Verb::Create, "jobs"), 1);
    assert_eq!((log[0].who.as_str(), log[0].name.as_str()), ("test", "a"));
    assert!(log.is_sorted_by_key(|entry| entry.at));
}
