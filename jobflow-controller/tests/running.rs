//! The program on a real API server, with the rights of its service account and no others.
//!
//! The tests take turns: there is one Lease, and what they change is the cluster's.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[path = "running/program.rs"]
mod program;
#[path = "deploy/rendering.rs"]
#[expect(dead_code, reason = "these tests look at no single object of the chart")]
mod rendering;
#[path = "running/world.rs"]
mod world;

use std::time::Duration;

use jobflow_test_cluster::User;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::ListParams;
use serde_json::json;

use program::{Program, eventually};
use world::World;

const LEASE: &str = "jobflow-controller";

#[tokio::test(flavor = "multi_thread")]
async fn with_the_rights_of_its_service_account_it_runs_the_flows_of_two_tenants() {
    let world = World::new().await;
    let program = Program::start(world.kubeconfig(User::Controller), &[]);
    let (a, b) = (
        world.tenant(User::TenantA).await,
        world.tenant(User::TenantB).await,
    );
    a.diamond("good").await;
    b.diamond("good").await;
    b.flow(
        "circle",
        json!({"flows": [
            {"name": "a", "dependsOn": {"targets": ["b"]}},
            {"name": "b", "dependsOn": {"targets": ["a"]}},
        ]}),
    )
    .await;
    assert_eq!(a.end_of("good").await, "Succeed");
    assert_eq!(b.end_of("good").await, "Succeed");
    assert_eq!(b.end_of("circle").await, "Failed");
    eventually("it is ready", || program.page("/readyz").0 == 200).await;
    for flows in ["{phase=\"Succeed\"} 2\n", "{phase=\"Failed\"} 1\n"] {
        let counted = format!("jobflow_flows{flows}");
        eventually(&counted, || program.page("/metrics").1.contains(&counted)).await;
    }
    let metrics = program.page("/metrics").1;
    assert!(
        metrics.contains("jobflow_api_requests_total{verb=\"create\",resource=\"jobs\",code=\"201\"} 8\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("jobflow_flow_ends_total{phase=\"Succeed\"} 2\n"),
        "{metrics}"
    );
    assert!(!metrics.contains("code=\"403\""), "{metrics}");
    let events: Api<Event> = Api::namespaced(world.admin.clone(), &a.namespace);
    let mut reasons = Vec::new();
    for _ in 0..50 {
        let found = events.list(&ListParams::default()).await.unwrap().items;
        reasons = found.into_iter().filter_map(|event| event.reason).collect();
        if reasons.iter().any(|reason| reason == "FlowSucceeded") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for reason in ["Submitting", "Running", "Succeeded", "FlowSucceeded"] {
        assert!(
            reasons.iter().any(|found| found == reason),
            "{reason}: {reasons:?}"
        );
    }
    assert_eq!(program.terminated(), Some(0));
    assert_eq!(world.holder(LEASE).await.as_deref(), Some(""));
}

/// The flow is suspended until its template has been edited and deleted: it had been seen before.
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_template_outlives_edits_and_deletion_and_goes_with_its_flow() {
    let world = World::new().await;
    let tenant = world.tenant(User::TenantA).await;
    let program = Program::start(world.kubeconfig(User::Controller), &[]);
    tenant.template("t").await;
    let flow =
        json!({"templateBinding": "Snapshot", "suspend": true, "flows": [{"name": "a", "template": "t"}]});
    tenant.flow("kept", flow).await;
    tenant.until_frozen(1).await;
    tenant
        .patch("JobTemplate", "t", json!({"spec": {"maxRetry": 7}}))
        .await;
    tenant.delete("JobTemplate", "t").await;
    tenant
        .patch("JobFlow", "kept", json!({"spec": {"suspend": null}}))
        .await;
    assert_eq!(tenant.end_of("kept").await, "Succeed");
    let job = tenant.job("kept-a").await;
    assert_eq!(job.data["spec"].get("maxRetry"), None);
    let made_from = &job.metadata.annotations.unwrap()["flow.volcano.sh/template"];
    assert!(made_from.ends_with("/1"), "{made_from}");
    let metrics = program.page("/metrics").1;
    assert!(!metrics.contains("code=\"403\""), "{metrics}");
    tenant.delete("JobFlow", "kept").await;
    tenant.until_frozen(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_counts_and_does_nothing_again() {
    let world = World::new().await;
    let tenant = world.tenant(User::TenantA).await;
    let program = Program::start(world.kubeconfig(User::Controller), &[]);
    tenant.diamond("good").await;
    assert_eq!(tenant.end_of("good").await, "Succeed");
    assert_eq!(program.terminated(), Some(0));
    let program = Program::start(world.kubeconfig(User::Controller), &[]);
    eventually("it is ready", || program.page("/readyz").0 == 200).await;
    eventually("it knows the flow", || {
        program
            .page("/metrics")
            .1
            .contains("jobflow_flows{phase=\"Succeed\"} 1\n")
    })
    .await;
    let metrics = program.page("/metrics").1;
    assert!(!metrics.contains("jobflow_node_transitions_total{"), "{metrics}");
    assert!(!metrics.contains("jobflow_flow_ends_total{"), "{metrics}");
    assert!(
        !metrics.contains("verb=\"create\",resource=\"jobs\""),
        "{metrics}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_one_leads_and_the_other_goes_on_when_it_is_killed() {
    let world = World::new().await;
    let tenant = world.tenant(User::TenantA).await;
    let first = Program::start(world.kubeconfig(User::Controller), &[]);
    eventually("the first leads", || first.leads()).await;
    let second = Program::start(world.kubeconfig(User::Controller), &[]);
    eventually("the second waits, ready", || second.page("/readyz").0 == 200).await;
    assert!(first.leads() && !second.leads());
    let holder = world.holder(LEASE).await.unwrap();
    drop(first);
    eventually("the second leads", || second.leads()).await;
    assert_ne!(world.holder(LEASE).await.unwrap(), holder);
    tenant.diamond("good").await;
    assert_eq!(tenant.end_of("good").await, "Succeed");
    assert_eq!(second.terminated(), Some(0));
    let leases: Api<Lease> = Api::namespaced(world.admin.clone(), "jobflow-system");
    let spec = leases.get(LEASE).await.unwrap().spec.unwrap();
    assert_eq!(spec.holder_identity.as_deref(), Some(""));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_asleep_has_lost_its_lease_when_it_wakes() {
    let world = World::new().await;
    let tenant = world.tenant(User::TenantA).await;
    let first = Program::start(world.kubeconfig(User::Controller), &[]);
    eventually("the first leads", || first.leads()).await;
    let second = Program::start(world.kubeconfig(User::Controller), &[]);
    first.signal("-STOP");
    eventually("the second leads", || second.leads()).await;
    tenant.diamond("good").await;
    first.signal("-CONT");
    assert_eq!(tenant.end_of("good").await, "Succeed");
    eventually("the first knows", || !first.logged("lost the lease").is_empty()).await;
    assert!(!first.leads() && second.leads());
    let metrics = first.page("/metrics").1;
    assert!(!metrics.contains("verb=\"create\""), "{metrics}");
    assert_eq!(tenant.jobs().await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_controller_at_work_is_told_and_keeps_nobody_from_being_ready() {
    let world = World::new().await;
    let tenant = world.tenant(User::TenantA).await;
    let program = Program::start(world.kubeconfig(User::Controller), &[]);
    tenant.diamond("good").await;
    assert_eq!(tenant.end_of("good").await, "Succeed");
    tenant
        .write_status_as("vc-controller-manager", &world.admin, "good")
        .await;
    eventually("it says so", || {
        program
            .page("/readyz")
            .1
            .contains("warning: AnotherController: vc-controller-manager")
    })
    .await;
    assert_eq!(program.page("/readyz").0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_roles_alone_it_runs_the_flows_of_their_namespaces() {
    let world = World::new().await;
    let (a, b) = (
        world.tenant(User::TenantA).await,
        world.tenant(User::TenantB).await,
    );
    let namespaces = format!("namespaces=[\"{}\"]", a.namespace);
    world.install(&[&namespaces]).await;
    let program = Program::start(
        world.kubeconfig(User::Controller),
        &[&format!("--namespace={}", a.namespace)],
    );
    a.diamond("good").await;
    b.diamond("other").await;
    assert_eq!(a.end_of("good").await, "Succeed");
    eventually("the definitions are seen in what is published", || {
        let (code, text) = program.page("/readyz");
        code == 200 && text == "ok\n"
    })
    .await;
    assert_eq!(b.phase("other").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_that_are_missing_are_named() {
    let world = World::new().await;
    let program = Program::start(world.kubeconfig(User::Viewer), &["--leader-elect=off"]);
    let said = || program.page("/readyz").1;
    eventually("it says so", || said().contains("NotPermitted")).await;
    let said = said();
    for right in [
        "create jobs.batch.volcano.sh",
        "update jobflows/status.flow.volcano.sh",
        "create commands.bus.volcano.sh",
    ] {
        assert!(
            said.contains(&format!("NotPermitted: may not {right} in all namespaces")),
            "{said}"
        );
    }
    assert!(!said.contains("may not list jobflows"), "{said}");
    assert_eq!(program.page("/livez").0, 200);
    assert!(
        program
            .page("/metrics")
            .1
            .contains("jobflow_findings{finding=\"NotPermitted\",scope=\"cluster\"} ")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_drops_fields_is_told_while_it_is_there() {
    let world = World::new().await;
    let program = Program::start(world.kubeconfig(User::Controller), &[]);
    eventually("it is ready", || program.page("/readyz").0 == 200).await;
    world.cluster.put_back_volcanos_definitions().await.unwrap();
    eventually("it says so", || {
        program
            .page("/readyz")
            .1
            .contains("SchemaLacksFields: jobflows.flow.volcano.sh drops")
    })
    .await;
    world.cluster.put_back_our_definitions().await.unwrap();
    eventually("it is ready again", || program.page("/readyz").0 == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_writes_nothing() {
    let world = World::new().await;
    let tenant = world.tenant(User::TenantA).await;
    let program = Program::start(world.kubeconfig(User::Viewer), &["--dry-run"]);
    tenant.diamond("good").await;
    eventually("it tells what it would do", || {
        program.logged("dry run").contains("Create")
    })
    .await;
    assert_eq!(tenant.phase("good").await, None);
    assert_eq!(program.terminated(), Some(0));
}
