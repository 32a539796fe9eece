//! The stand-in for Volcano moves Jobs through the phases that recordings of the real one show.

#![expect(
    clippy::unwrap_used,
    reason = "tests say so when something is not as it must be"
)]

use std::sync::Arc;
use std::time::Duration;

use jobflow_core::Span;
use jobflow_core::testing::{End, Life};
use jobflow_test_service::volcano::Volcano;
use jobflow_test_service::{Key, Service, kind};
use serde_json::{Value, json};
use tokio::time::sleep;

fn job(policies: Value, queue: &str) -> Value {
    json!({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": { "name": "j" },
        "spec": {
            "minAvailable": 1, "queue": queue, "policies": policies, "maxRetry": 1,
            "tasks": [{ "name": "main", "replicas": 1, "template": { "spec": {
                "restartPolicy": "Never", "containers": [{ "name": "main", "image": "busybox" }],
            } } }],
        },
    })
}

/// The phases that a Job goes through while something befalls it after half a second.
async fn phases(end: End, job: Value, befalls: impl Fn(&Service)) -> String {
    let service = Service::new();
    let life = Life {
        queued: Span(100),
        runs: Span::from_secs(1),
        end,
    };
    let volcano = tokio::spawn(Volcano::new(&service, Arc::new(move |_| life)).run());
    service.create(job).unwrap();
    sleep(Duration::from_millis(500)).await;
    befalls(&service);
    sleep(Duration::from_secs(600)).await;
    volcano.abort();
    let changes = service.act(|state| state.store.changes_after(kind("jobs"), 0).to_vec());
    let mut seen: Vec<String> = Vec::new();
    for change in changes {
        let phase = change.object["status"]["state"]["phase"]
            .as_str()
            .unwrap_or("-")
            .to_owned();
        if seen.last() != Some(&phase) {
            seen.push(phase);
        }
    }
    seen.join(" ")
}

fn command(service: &Service) {
    let target =
        json!({ "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "j", "uid": "any" });
    let command = json!({
        "apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": { "generateName": "j-" },
        "action": "TerminateJob", "target": target,
    });
    service.create(command).unwrap();
}

#[tokio::test(start_paused = true)]
async fn jobs_have_the_phases_of_the_recordings() {
    let none = || job(json!([]), "default");
    assert_eq!(
        phases(End::Succeeds, none(), |_| ()).await,
        "- Pending Running Completed"
    );
    assert_eq!(
        phases(End::Fails(3), none(), |_| ()).await,
        "- Pending Running Failed"
    );
    let aborts = job(json!([{ "exitCode": 97, "action": "AbortJob" }]), "default");
    assert_eq!(
        phases(End::AbortsItself, aborts, |_| ()).await,
        "- Pending Running Aborting Aborted"
    );
    let ended = phases(End::Never, none(), command).await;
    assert_eq!(ended, "- Pending Running Terminating Terminated");
    let restarts = job(
        json!([{ "event": "PodEvicted", "action": "RestartJob" }]),
        "default",
    );
    let pod = |service: &Service| drop(service.delete(&Key::of("pods", "j-main-0"), "Background"));
    assert_eq!(
        phases(End::Never, restarts, pod).await,
        "- Pending Running Restarting Failed"
    );
}

#[tokio::test(start_paused = true)]
async fn a_job_without_its_queue_has_no_phase_until_volcano_gives_up() {
    let lost = phases(End::Succeeds, job(json!([]), "nowhere"), |service| {
        assert_eq!(service.all("jobs")[0].get("status"), None);
    });
    assert_eq!(lost.await, "- Terminating Terminated");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_job_takes_its_pods_along() {
    let gone = |service: &Service| {
        assert_eq!(service.all("pods").len(), 1);
        service.delete(&Key::of("jobs", "j"), "Foreground").unwrap();
        service.collect_garbage();
        assert_eq!(service.all("jobs").len(), 1, "it waits for its pods");
    };
    assert_eq!(
        phases(End::Never, job(json!([]), "default"), gone).await,
        "- Pending Running"
    );
}
