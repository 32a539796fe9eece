//! Where probes of a Job's pods go, and where they never go.

use std::net::IpAddr;

use jobflow_core::probe::ProbeAnswer;
use serde_json::{Value, json};

use crate::observe::{SlimJob, SlimPod, addresses};

fn job() -> SlimJob {
    serde_json::from_value(json!({
        "metadata": {"name": "f-a", "uid": "job-uid"},
        "spec": {"tasks": [{"name": "web", "replicas": 12}, {"name": "db", "replicas": 1}]},
    }))
    .unwrap()
}

/// A running pod of the Job with this address, and this in place of what it would be.
fn pod(name: &str, address: &str, other: Value) -> SlimPod {
    let owner = json!({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "f-a", "uid": "job-uid", "controller": true});
    let mut pod = json!({
        "metadata": {"name": name, "ownerReferences": [owner]},
        "spec": {},
        "status": {"phase": "Running", "podIP": address, "hostIP": "10.0.0.9"},
    });
    for (field, value) in other.as_object().into_iter().flatten() {
        let (part, name) = field.split_once('.').unwrap();
        pod[part][name] = value.clone();
    }
    serde_json::from_value(pod).unwrap()
}

fn ip(text: &str) -> Result<IpAddr, ProbeAnswer> {
    Ok(text.parse().unwrap())
}

#[test]
fn running_pods_of_the_task_are_asked_in_the_order_of_their_indices() {
    let pods = [
        pod("f-a-web-10", "10.1.0.3", json!({})),
        pod("f-a-db-0", "10.1.0.4", json!({})),
        pod("f-a-web-2", "fd00::2", json!({})),
        pod("f-a-web-3", "10.1.0.5", json!({"status.phase": "Pending"})),
        pod("f-a-web-4", "10.1.0.6", json!({"status.phase": "Succeeded"})),
        pod(
            "f-a-web-5",
            "10.1.0.7",
            json!({"metadata.deletionTimestamp": "2026-11-29T23:00:00Z"}),
        ),
    ];
    assert_eq!(addresses(&job(), &pods, "web"), [ip("fd00::2"), ip("10.1.0.3")]);
    assert_eq!(addresses(&job(), &pods, "").len(), 3);
    assert_eq!(addresses(&job(), &pods, "other"), []);
}

#[test]
fn a_pod_that_only_looks_like_one_of_the_jobs_is_not_asked() {
    let of = |owner: Value| {
        pod(
            "f-a-web-0",
            "10.1.0.3",
            json!({"metadata.ownerReferences": [owner]}),
        )
    };
    let pods = [
        of(json!({"apiVersion": "v1", "kind": "Job", "name": "f-a", "uid": "other-uid", "controller": true})),
        of(json!({"apiVersion": "v1", "kind": "Job", "name": "f-a", "uid": "job-uid", "controller": false})),
        pod("f-a-web-x", "10.1.0.4", json!({})),
        pod("f-a-web-01", "10.1.0.5", json!({})),
        pod("web-0", "10.1.0.6", json!({})),
    ];
    assert_eq!(addresses(&job(), &pods, ""), []);
}

#[test]
fn a_pod_on_its_nodes_network_is_never_asked() {
    let refused = [Err(ProbeAnswer::NotPermitted)];
    let declared = pod("f-a-web-0", "10.1.0.3", json!({"spec.hostNetwork": true}));
    assert_eq!(addresses(&job(), &[declared], "web"), refused);
    let same = pod("f-a-web-0", "10.0.0.9", json!({}));
    assert_eq!(addresses(&job(), &[same], "web"), refused);
    let mapped = pod("f-a-web-0", "::ffff:10.0.0.9", json!({}));
    assert_eq!(addresses(&job(), &[mapped], "web"), refused);
}

#[test]
fn an_address_that_is_none_is_not_asked() {
    for text in ["", "example.com", "10.1.0.3:80", "10.1.0.3@169.254.169.254"] {
        let pod = pod("f-a-web-0", text, json!({}));
        assert_eq!(
            addresses(&job(), &[pod], "web"),
            [Err(ProbeAnswer::NoPod)],
            "{text}"
        );
    }
}
