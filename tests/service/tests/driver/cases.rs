//! What may befall a flow, one thing at a time.

use std::time::Duration;

use jobflow_core::Span;
use jobflow_core::testing::{End, Life};
use jobflow_k8s::client::Finding;
use jobflow_test_security::{malformed, stored};
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Fault, Key, Part, Refusal, Rule, Served, Service, Verb, kind, object};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::history::violations;
use crate::stage::{Stage, node, phase};

pub(crate) fn spec() -> Value {
    json!({
        "minAvailable": 1,
        "tasks": [{ "name": "main", "replicas": 1, "template": { "spec": {
            "restartPolicy": "Never", "containers": [{ "name": "main", "image": "busybox" }],
        } } }],
    })
}

pub(crate) fn template(name: &str) -> Value {
    json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": { "name": name }, "spec": spec(),
    })
}

/// A flow whose entries have their own jobs.
pub(crate) fn flow(entries: &[(&str, &[&str])]) -> Value {
    let entry = |(name, targets): &(&str, &[&str])| {
        let mut entry = json!({ "name": name, "jobSpec": spec() });
        if !targets.is_empty() {
            entry["dependsOn"] = json!({ "targets": targets });
        }
        entry
    };
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "flow" },
        "spec": { "flows": entries },
    })
}

pub(crate) fn life(end: End, runs: u64) -> Life {
    Life {
        queued: Span(200),
        runs: Span::from_secs(runs),
        end,
    }
}

/// A cluster on which every pod succeeds after five seconds, with a driver and a flow.
pub(crate) fn stage(flow: Value) -> Stage {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    stage.service.create(flow).unwrap();
    stage.start("driver");
    stage
}

pub(crate) fn the_flow(service: &Service) -> Value {
    service.get(&Key::of("jobflows", "flow")).unwrap_or_default()
}

pub(crate) async fn until_node(stage: &Stage, name: &str, wanted: &str) {
    let there = |service: &Service| node(&the_flow(service), name) == wanted;
    let done = stage.until(there, Duration::from_secs(900)).await;
    let flow = the_flow(&stage.service);
    assert!(
        done,
        "{name} is {}, not {wanted}: {:#} {:?}",
        node(&flow, name),
        flow["status"],
        stage.ear.found()
    );
}

pub(crate) fn assert_sound(stage: &Stage) {
    assert_eq!(violations(&stage.service), [] as [&str; 0]);
}

pub(crate) fn created(service: &Service) -> usize {
    service.count(Verb::Create, "jobs")
}

pub(crate) const CHAIN: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"])];

#[tokio::test(start_paused = true)]
async fn two_controllers_without_a_lease_make_each_job_once() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    stage
        .service
        .create(flow(&[
            ("a", &[]),
            ("b", &["a"]),
            ("c", &["a"]),
            ("d", &["b", "c"]),
        ]))
        .unwrap();
    stage.start("one");
    stage.start_on("two", 1);
    stage.service.lag("jobs", Duration::from_secs(2));
    let ended = stage.ended("flow").await;
    assert_eq!(phase(&ended), "Succeed");
    assert_eq!(created(&stage.service), 4);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn an_entry_waits_for_its_template_and_others_go_on() {
    let mut two = flow(&[("b", &[])]);
    two["spec"]["flows"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "name": "a", "template": "late" }));
    let stage = stage(two);
    until_node(&stage, "b", "Succeeded").await;
    until_node(&stage, "a", "Blocked/TemplateNotFound").await;
    stage.service.create(template("late")).unwrap();
    until_node(&stage, "a", "Running").await;
    stage
        .service
        .delete(&Key::of("jobtemplates", "late"), "Background")
        .unwrap();
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_new_attempt_reads_its_template_anew() {
    let mut stage = Stage::new(|attempt: &Attempt| {
        let end = if attempt.attempt == 1 {
            End::Fails(1)
        } else {
            End::Succeeds
        };
        life(end, 5)
    });
    stage.service.create(template("t")).unwrap();
    let retried = json!({ "name": "a", "template": "t", "retry": { "limit": 1 } });
    let mut object = flow(&[]);
    object["spec"]["flows"] = json!([retried]);
    stage.service.create(object).unwrap();
    stage.start("driver");
    until_node(&stage, "a", "Running").await;
    let patch = json!({ "spec": { "minAvailable": 1, "queue": "default", "maxRetry": 7 } });
    stage
        .service
        .merge(&Key::of("jobtemplates", "t"), Part::Main, patch)
        .unwrap();
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    let spec_of = |name: &str| stage.service.get(&Key::of("jobs", name)).unwrap()["spec"]["maxRetry"].clone();
    assert_eq!((spec_of("flow-a"), spec_of("flow-a-r2")), (Value::Null, json!(7)));
    assert_sound(&stage);
}

/// A chain whose second entry has a template, and freezes it.
fn snapshot() -> Value {
    let mut object = flow(&[("a", &[])]);
    object["spec"]["templateBinding"] = "Snapshot".into();
    let entry = json!({ "name": "b", "template": "t", "dependsOn": { "targets": ["a"] } });
    object["spec"]["flows"].as_array_mut().unwrap().push(entry);
    object
}

fn frozen(service: &Service) -> Vec<Value> {
    let mut all = service.all("jobtemplates");
    all.retain(|template| template["metadata"]["labels"]["flow.volcano.sh/frozen"].is_string());
    all
}

#[tokio::test(start_paused = true)]
async fn a_frozen_template_outlives_edits_deletion_and_the_driver_and_goes_with_its_flow() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    let template = stage.service.create(template("t")).unwrap();
    stage.service.create(snapshot()).unwrap();
    stage.start("driver");
    until_node(&stage, "a", "Running").await;
    let copies = frozen(&stage.service);
    assert_eq!(copies.len(), 1, "{copies:#?}");
    let edit = json!({ "spec": { "maxRetry": 7 } });
    let key = Key::of("jobtemplates", "t");
    stage.service.merge(&key, Part::Main, edit).unwrap();
    sleep(Duration::from_secs(1)).await;
    stage.service.delete(&key, "Background").unwrap();
    stage.kill("driver").await;
    stage.start("driver");
    let ended = stage.ended("flow").await;
    assert_eq!(phase(&ended), "Succeed");
    let job = stage.service.get(&Key::of("jobs", "flow-b")).unwrap();
    assert_eq!(job["spec"].get("maxRetry"), None);
    let uid = object::uid(&template);
    assert_eq!(
        job["metadata"]["annotations"]["flow.volcano.sh/template"],
        format!("{uid}/1")
    );
    stage
        .service
        .delete(&Key::of("jobflows", "flow"), "Background")
        .unwrap();
    stage.service.collect_garbage();
    assert_eq!(frozen(&stage.service), [] as [Value; 0]);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn errors_while_templates_are_frozen_are_outlived_and_each_is_frozen_once() {
    let faults = [
        Fault::Refused(Refusal::too_many(3)),
        Fault::Refused(Refusal::internal("boom")),
        Fault::DoneAndRefused(Refusal::internal("boom")),
        Fault::LostRequest,
        Fault::LostReply,
        Fault::Silence,
        Fault::DoneInSilence,
        Fault::Late(Duration::from_secs(20)),
    ];
    for fault in faults {
        for verb in [Verb::Create, Verb::List] {
            let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
            stage.service.create(template("t")).unwrap();
            stage.service.create(snapshot()).unwrap();
            stage
                .service
                .strike(Rule::on(verb, "jobtemplates", fault.clone()).times(2));
            stage.start("driver");
            let ended = stage.ended("flow").await;
            assert_eq!(phase(&ended), "Succeed", "{fault:?} on {verb:?}");
            assert_eq!(frozen(&stage.service).len(), 1, "{fault:?} on {verb:?}");
            assert_sound(&stage);
        }
    }
}

/// The intent is stored and the create held up while the template changes: the Job is made from what the record tells.
#[tokio::test(start_paused = true)]
async fn a_template_that_changes_between_intent_and_create_is_written_down_before_the_job_is_made() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    stage.service.create(template("a")).unwrap();
    let mut object = flow(&[]);
    object["spec"]["flows"] = json!([{ "name": "a" }]);
    stage.service.create(object).unwrap();
    let held_up = Fault::Refused(Refusal::unavailable());
    stage
        .service
        .strike(Rule::on(Verb::Create, "jobs", held_up).times(2));
    stage.start("driver");
    until_node(&stage, "a", "Submitting/ServerUnavailable").await;
    let edit = json!({ "spec": { "maxRetry": 7 } });
    stage
        .service
        .merge(&Key::of("jobtemplates", "a"), Part::Main, edit)
        .unwrap();
    until_node(&stage, "a", "Running").await;
    let job = stage.service.get(&Key::of("jobs", "flow-a")).unwrap();
    assert_eq!(job["spec"]["maxRetry"], 7);
    let written = the_flow(&stage.service)["status"]["nodes"][0]["template"].clone();
    let told = format!("{}/{}", written["uid"].as_str().unwrap(), written["generation"]);
    assert_eq!(job["metadata"]["annotations"]["flow.volcano.sh/template"], told);
    assert!(told.ends_with("/2"), "{told}");
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_deleted_while_it_runs_fails_its_node() {
    let stage = stage(flow(CHAIN));
    until_node(&stage, "a", "Running").await;
    stage
        .service
        .delete(&Key::of("jobs", "flow-a"), "Background")
        .unwrap();
    let ended = stage.ended("flow").await;
    assert_eq!(
        (node(&ended, "a").as_str(), phase(&ended)),
        ("Failed/JobDeleted", "Failed")
    );
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_deleted_after_its_end_leaves_the_end_as_it_was() {
    let stage = stage(flow(CHAIN));
    until_node(&stage, "a", "Succeeded").await;
    stage
        .service
        .delete(&Key::of("jobs", "flow-a"), "Foreground")
        .unwrap();
    let ended = stage.ended("flow").await;
    assert_eq!(
        (node(&ended, "a").as_str(), phase(&ended)),
        ("Succeeded", "Succeed")
    );
    assert_eq!(created(&stage.service), 2);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_job_without_its_labels_is_still_the_flows() {
    let mut stage = stage(flow(CHAIN));
    until_node(&stage, "a", "Running").await;
    let bare = json!({ "metadata": { "labels": null } });
    stage
        .service
        .merge(&Key::of("jobs", "flow-a"), Part::Main, bare)
        .unwrap();
    stage.kill("driver").await;
    stage.start("driver");
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_eq!(created(&stage.service), 2);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_applied_again_at_once_waits_for_the_old_ones_jobs_to_go() {
    let stage = stage(flow(CHAIN));
    until_node(&stage, "a", "Running").await;
    let held = json!({ "metadata": { "finalizers": ["tests/hold"] } });
    stage
        .service
        .merge(&Key::of("jobs", "flow-a"), Part::Main, held)
        .unwrap();
    stage
        .service
        .delete(&Key::of("jobflows", "flow"), "Background")
        .unwrap();
    stage.service.create(flow(CHAIN)).unwrap();
    until_node(&stage, "a", "Blocked/NameTaken").await;
    let free = json!({ "metadata": { "finalizers": null } });
    stage
        .service
        .merge(&Key::of("jobs", "flow-a"), Part::Main, free)
        .unwrap();
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_eq!(created(&stage.service), 3);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_job_of_somebody_else_is_never_taken_nor_touched() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Never, 0));
    let foreign = json!({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": { "name": "flow-a" }, "spec": spec(),
    });
    let foreign = stage.service.create(foreign).unwrap();
    stage.service.create(flow(CHAIN)).unwrap();
    stage.start("driver");
    let ended = stage.ended("flow").await;
    assert_eq!(node(&ended, "a"), "Failed/NameConflict");
    sleep(Duration::from_secs(600)).await;
    let now = stage.service.get(&Key::of("jobs", "flow-a")).unwrap();
    assert_eq!(
        (object::uid(&now), &now["metadata"]["labels"]),
        (object::uid(&foreign), &Value::Null)
    );
    assert!(!object::is_leaving(&now));
    assert_sound(&stage);
}

/// An owner is in the namespace of what it owns; whoever reads the UID of a flow can name it in another.
#[tokio::test(start_paused = true)]
async fn a_job_of_another_namespace_that_names_the_flow_as_its_owner_is_none_of_its_jobs() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Never, 0));
    let flow = stage.service.create(flow(CHAIN)).unwrap();
    let mut forged = json!({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
        "metadata": {
            "name": "flow-a", "namespace": "elsewhere",
            "annotations": { "flow.volcano.sh/node": "a/0/1" },
            "ownerReferences": [{
                "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "flow",
                "uid": object::uid(&flow), "controller": true,
            }],
        },
        "spec": spec(),
    });
    forged["status"] = json!({ "state": { "phase": "Completed" } });
    stage.service.put(forged);
    stage.start("driver");
    until_node(&stage, "a", "Running").await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(node(&the_flow(&stage.service), "a"), "Running");
    assert_eq!(created(&stage.service), 1);
}

#[tokio::test(start_paused = true)]
async fn a_job_over_quota_waits_until_there_is_room() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    stage
        .service
        .act(|state| state.quotas.insert(("default".to_owned(), kind("jobs")), 1));
    stage.service.create(flow(&[("a", &[]), ("b", &[])])).unwrap();
    stage.start("driver");
    until_node(&stage, "a", "Succeeded").await;
    until_node(&stage, "b", "Submitting/QuotaExceeded").await;
    stage.service.act(|state| state.quotas.clear());
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn nothing_more_is_made_in_a_namespace_that_is_being_deleted() {
    let stage = stage(flow(&[("a", &[]), ("b", &["a"]), ("c", &["a"])]));
    until_node(&stage, "a", "Running").await;
    let namespace = Key::of("namespaces", "default");
    stage
        .service
        .merge(
            &namespace,
            Part::Status,
            json!({ "status": { "phase": "Terminating" } }),
        )
        .unwrap();
    sleep(Duration::from_secs(3_600)).await;
    let log = stage.service.log();
    let tries = log.iter().filter(|entry| entry.is(Verb::Create, "jobs")).count();
    assert!((2..=5).contains(&tries), "{tries}");
    assert_eq!(created(&stage.service), 1);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_is_down_holds_a_flow_up_and_no_more() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    stage
        .service
        .strike(Rule::on(Verb::Create, "jobs", Fault::Recorded("webhook_down")).times(6));
    stage.service.create(flow(CHAIN)).unwrap();
    stage.start("driver");
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_eq!(created(&stage.service), 2);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_create_that_is_denied_fails_its_node_with_the_servers_words() {
    for (word, said) in [
        ("admission_policy", "names must not be evil"),
        ("volcano_validator_duplicate_task", "duplicated task name main"),
        ("too_large", "Request entity too large"),
    ] {
        let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
        stage
            .service
            .strike(Rule::on(Verb::Create, "jobs", Fault::Recorded(word)));
        stage.service.create(flow(CHAIN)).unwrap();
        stage.start("driver");
        let ended = stage.ended("flow").await;
        assert_eq!(node(&ended, "a"), "Failed/CreateRefused", "{word}");
        assert!(
            ended["status"]["nodes"].to_string().contains(said),
            "{word}: {:#}",
            ended["status"]["nodes"]
        );
        assert_eq!(node(&ended, "b"), "Skipped/UpstreamFailed");
        assert_sound(&stage);
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_queue_and_missing_rights_are_waited_for() {
    for (word, reason) in [
        ("volcano_queue_missing", "QueueUnavailable"),
        ("volcano_queue_closed", "QueueUnavailable"),
        ("rbac", "NotPermitted"),
    ] {
        let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
        stage
            .service
            .strike(Rule::on(Verb::Create, "jobs", Fault::Recorded(word)));
        stage.service.create(flow(CHAIN)).unwrap();
        stage.start("driver");
        until_node(&stage, "a", &format!("Submitting/{reason}")).await;
        stage.service.act(|state| state.faults.clear());
        assert_eq!(phase(&stage.ended("flow").await), "Succeed", "{word}");
        assert_sound(&stage);
    }
}

#[tokio::test(start_paused = true)]
async fn under_volcanos_definition_nothing_is_made_and_no_phase_is_written() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    stage.service.serve(Served::Volcanos);
    stage.service.create(template("a")).unwrap();
    let object = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "flow" },
        "spec": { "flows": [{ "name": "a" }] },
    });
    stage.service.create(object).unwrap();
    stage.start("driver");
    sleep(Duration::from_secs(600)).await;
    assert_eq!(created(&stage.service), 0);
    assert_eq!(phase(&the_flow(&stage.service)), "");
    assert!(
        stage
            .ear
            .found()
            .iter()
            .any(|(_, found)| *found == Finding::SchemaLacksFields)
    );
    stage.service.serve(Served::Ours);
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn when_volcanos_definition_is_put_back_nothing_more_is_made() {
    let stage = stage(flow(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]));
    until_node(&stage, "a", "Running").await;
    stage.service.serve(Served::Volcanos);
    sleep(Duration::from_secs(600)).await;
    assert_eq!(created(&stage.service), 1);
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_wiped_status_is_rebuilt_from_jobs_and_nothing_is_made_twice() {
    let stage = stage(flow(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]));
    until_node(&stage, "b", "Running").await;
    let key = Key::of("jobflows", "flow");
    let mut wiped = the_flow(&stage.service);
    wiped["status"] = json!({});
    stage.service.replace(&key, Part::Status, wiped).unwrap();
    until_node(&stage, "b", "Succeeded").await;
    until_node(&stage, "c", "Blocked/LedgerLost").await;
    sleep(Duration::from_secs(600)).await;
    assert_eq!(node(&the_flow(&stage.service), "a"), "Succeeded");
    assert_eq!(created(&stage.service), 2);
    assert_sound(&stage);
}

fn poison() -> Vec<Value> {
    [stored("default"), malformed("default")].concat()
}

#[tokio::test(start_paused = true)]
async fn poison_that_is_there_at_the_start_stops_nobody_else() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    poison().into_iter().for_each(|object| stage.service.put(object));
    stage.service.create(flow(CHAIN)).unwrap();
    stage.start("driver");
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    poison().into_iter().take(5).for_each(|mut object| {
        let name = format!("{}-late", object::name(&object));
        object["metadata"]["name"] = name.into();
        stage.service.put(object);
    });
    let mut second = flow(CHAIN);
    second["metadata"]["name"] = "second".into();
    stage.service.create(second).unwrap();
    assert_eq!(phase(&stage.ended("second").await), "Succeed");
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_server_are_outlived_each_alone() {
    let faults = [
        Fault::Refused(Refusal::too_many(3)),
        Fault::Refused(Refusal::internal("boom")),
        Fault::Refused(Refusal::unavailable()),
        Fault::Refused(Refusal::timeout()),
        Fault::DoneAndRefused(Refusal::timeout()),
        Fault::DoneAndRefused(Refusal::internal("boom")),
        Fault::LostRequest,
        Fault::LostReply,
        Fault::Silence,
        Fault::DoneInSilence,
        Fault::Late(Duration::from_secs(20)),
    ];
    let calls = [
        (Verb::Replace, "jobflows"),
        (Verb::Patch, "jobflows"),
        (Verb::Get, "jobflows"),
        (Verb::Create, "jobs"),
        (Verb::List, "jobs"),
        (Verb::Watch, "jobs"),
        (Verb::List, "jobflows"),
        (Verb::Watch, "jobflows"),
    ];
    for fault in faults {
        for (verb, plural) in calls {
            let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
            stage
                .service
                .strike(Rule::on(verb, plural, fault.clone()).times(2));
            stage.service.create(flow(CHAIN)).unwrap();
            stage.start("driver");
            let ended = stage.ended("flow").await;
            assert_eq!(phase(&ended), "Succeed", "{fault:?} on {verb:?} {plural}");
            assert_eq!(created(&stage.service), 2, "{fault:?} on {verb:?} {plural}");
            assert_sound(&stage);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_conflict_makes_the_driver_read_and_plan_again() {
    let mut stage = Stage::new(|_: &Attempt| life(End::Succeeds, 5));
    let stale = Refusal::stale(kind("jobflows"), "flow");
    stage
        .service
        .strike(Rule::on(Verb::Replace, "jobflows", Fault::Refused(stale)).times(3));
    stage.service.create(flow(CHAIN)).unwrap();
    stage.start("driver");
    let ended = stage.ended("flow").await;
    assert_eq!((phase(&ended), created(&stage.service)), ("Succeed", 2));
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_version_makes_watches_begin_anew() {
    let stage = stage(flow(CHAIN));
    until_node(&stage, "a", "Running").await;
    for plural in ["jobs", "jobflows", "jobtemplates"] {
        stage.service.lag(plural, Duration::from_secs(1_000));
    }
    sleep(Duration::from_secs(30)).await;
    stage.service.compact();
    for plural in ["jobs", "jobflows", "jobtemplates"] {
        stage.service.cut(plural, jobflow_test_service::Cut::Closed);
        stage.service.catch_up(plural);
    }
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_sound(&stage);
}
