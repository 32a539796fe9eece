//! What flows may cost the server: creates, writes of status, conflicts.

#![expect(
    clippy::unwrap_used,
    reason = "tests say so when something is not as it must be"
)]

use std::sync::Arc;
use std::time::Duration;

use jobflow_core::testing::{End, Life};
use jobflow_core::{Span, Time};
use jobflow_k8s::client::{Driver, Settings};
use jobflow_test_service::volcano::{Attempt, Volcano};
use jobflow_test_service::{Key, Service, Verb};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// What a flow cost until its end.
#[derive(Debug)]
struct Cost {
    phase: String,
    creates: usize,
    writes: usize,
    conflicts: usize,
    took: Duration,
}

/// Runs a flow of these entries, all of one template, to its end.
async fn run(entries: Vec<Value>, runs: impl Fn(&Attempt) -> u64 + Send + Sync + 'static) -> Cost {
    let service = Service::new();
    let lives = move |attempt: &Attempt| Life {
        queued: Span(10),
        runs: Span(runs(attempt)),
        end: End::Succeeds,
    };
    let mut tasks = JoinSet::new();
    tasks.spawn(Volcano::new(&service, Arc::new(lives)).run());
    let clock = service.clock();
    let driver = Driver::new(service.client("driver"), Settings::default());
    let driver = driver.with_clock(Arc::new(move || Time(clock.milliseconds())));
    let containers = json!([{"name": "main", "image": "busybox:1.36"}]);
    let template = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": {"name": "t"},
        "spec": {"minAvailable": 1, "tasks": [{
            "name": "main", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": containers}},
        }]},
    });
    service.create(template).unwrap();
    let flow = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "f"}, "spec": {"flows": entries},
    });
    service.create(flow).unwrap();
    let began = tokio::time::Instant::now();
    tasks.spawn(driver.run());
    let mut news = service.news();
    let status = loop {
        let status = service.get(&Key::of("jobflows", "f")).unwrap()["status"].clone();
        if status["completionTime"].is_string() {
            break status;
        }
        tokio::time::timeout(Duration::from_secs(600), news.changed())
            .await
            .unwrap();
    };
    let log = service.log();
    let writes = log.iter().filter(|entry| entry.is(Verb::Replace, "jobflows"));
    Cost {
        phase: status["state"]["phase"].as_str().unwrap_or_default().to_owned(),
        creates: service.count(Verb::Create, "jobs"),
        writes: service.count(Verb::Replace, "jobflows"),
        conflicts: writes.filter(|entry| entry.code == Some(409)).count(),
        took: began.elapsed(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_chain_costs_one_create_and_one_write_a_job_and_pays_no_timer() {
    const LEVELS: usize = 60;
    let entry = |level: usize| match level {
        0 => json!({"name": "n0", "template": "t"}),
        _ => {
            json!({"name": format!("n{level}"), "template": "t", "dependsOn": {"targets": [format!("n{}", level - 1)]}})
        }
    };
    let cost = run((0..LEVELS).map(entry).collect(), |_| 30).await;
    assert_eq!(
        (cost.phase.as_str(), cost.creates, cost.conflicts),
        ("Succeed", LEVELS, 0),
        "{cost:?}"
    );
    // One a level, the end, and what is written alone while nothing urgent is.
    assert!(cost.writes <= LEVELS + 5, "{cost:?}");
    // Each level is 120 ms of its Job's life (three statuses, 40 ms apart), and a few ways of a millisecond.
    assert!(cost.took < Duration::from_millis(140) * 60, "{cost:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wide_flow_costs_less_than_a_tenth_of_a_write_a_job() {
    const WIDTH: usize = 600;
    let entries = (0..WIDTH).map(|at| json!({"name": format!("n{at}"), "template": "t"}));
    let spread = |attempt: &Attempt| 1_000 + attempt.entry[1..].parse::<u64>().unwrap_or(0) * 5;
    let cost = run(entries.collect(), spread).await;
    assert_eq!(
        (cost.phase.as_str(), cost.creates, cost.conflicts),
        ("Succeed", WIDTH, 0),
        "{cost:?}"
    );
    assert!(cost.writes * 10 < WIDTH, "{cost:?}");
}
