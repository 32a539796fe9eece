//! POST, PUT, PATCH and DELETE.

use jobflow_test_service::{Key, Part, Served, Service, kind};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::json;

use crate::fixtures::{create, flow, flows, job, jobs, object, refusal, refused, version};

#[tokio::test(start_paused = true)]
async fn a_new_object_has_what_the_server_gives_it_and_no_status() {
    let service = Service::new();
    let mut posted = flow("f");
    posted.data["status"] = json!({ "state": { "phase": "Running" } });
    let made = create(&flows(&service), &posted).await;
    assert!(made.metadata.uid.is_some() && made.metadata.creation_timestamp.is_some());
    assert_eq!(made.metadata.generation, Some(1));
    assert_eq!(made.data.get("status"), None);
    let again = flows(&service).create(&PostParams::default(), &flow("f")).await;
    assert_eq!(refused(again), refusal(409, "AlreadyExists"));
}

#[tokio::test(start_paused = true)]
async fn a_generated_name_is_the_prefix_and_five_letters() {
    let service = Service::new();
    let mut unnamed = job("");
    unnamed.metadata.name = None;
    unnamed.metadata.generate_name = Some("j-".to_owned());
    let names = [
        create(&jobs(&service), &unnamed).await,
        create(&jobs(&service), &unnamed).await,
    ];
    let [one, other] = names.map(|made| made.metadata.name.unwrap());
    assert!(
        one.starts_with("j-") && one.len() == 7 && one != other,
        "{one} {other}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_write_from_an_old_version_is_a_conflict_and_one_from_none_is_invalid() {
    let service = Service::new();
    let flows = flows(&service);
    let first = create(&flows, &flow("f")).await;
    let mut next = first.clone();
    next.data["spec"]["parallelism"] = json!(2);
    let second = flows.replace("f", &PostParams::default(), &next).await.unwrap();
    assert_eq!(second.metadata.generation, Some(2));
    assert_eq!(
        refused(flows.replace("f", &PostParams::default(), &next).await),
        refusal(409, "Conflict")
    );
    next.metadata.resource_version = None;
    assert_eq!(
        refused(flows.replace("f", &PostParams::default(), &next).await),
        refusal(422, "Invalid")
    );
}

#[tokio::test(start_paused = true)]
async fn the_status_and_the_rest_are_written_apart() {
    let service = Service::new();
    let flows = flows(&service);
    let mut object = create(&flows, &flow("f")).await;
    object.data["status"] = json!({ "state": { "phase": "Running" } });
    object.data["spec"]["parallelism"] = json!(3);
    let written = flows
        .replace_status("f", &PostParams::default(), &object)
        .await
        .unwrap();
    assert_eq!(written.data["status"]["state"]["phase"], "Running");
    assert_eq!(written.data["spec"].get("parallelism"), None);
    assert_eq!(written.metadata.generation, Some(1));
    object.metadata.resource_version = Some(version(&written));
    object.data["status"] = json!({ "state": { "phase": "Failed" } });
    let replaced = flows.replace("f", &PostParams::default(), &object).await.unwrap();
    assert_eq!(replaced.data["status"]["state"]["phase"], "Running");
    assert_eq!(
        (
            replaced.data["spec"]["parallelism"].as_u64(),
            replaced.metadata.generation
        ),
        (Some(3), Some(2))
    );
}

#[tokio::test(start_paused = true)]
async fn a_write_that_changes_nothing_makes_no_version() {
    let service = Service::new();
    let flows = flows(&service);
    let made = create(&flows, &flow("f")).await;
    let same = flows.replace("f", &PostParams::default(), &made).await.unwrap();
    assert_eq!(version(&same), version(&made));
    let patch = Patch::Merge(json!({ "metadata": { "annotations": null } }));
    let same = flows.patch("f", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(version(&same), version(&made));
}

#[tokio::test(start_paused = true)]
async fn a_put_for_an_object_that_is_gone_finds_nothing_and_for_another_one_is_a_conflict() {
    let service = Service::new();
    let flows = flows(&service);
    let mut made = create(&flows, &flow("f")).await;
    flows.delete("f", &DeleteParams::default()).await.unwrap();
    let gone = flows.replace_status("f", &PostParams::default(), &made).await;
    assert_eq!(refused(gone), refusal(404, "NotFound"));
    let again = create(&flows, &flow("f")).await;
    made.metadata.resource_version = again.metadata.resource_version;
    let other = flows.replace_status("f", &PostParams::default(), &made).await;
    assert_eq!(refused(other), refusal(409, "Conflict"));
}

#[tokio::test(start_paused = true)]
async fn patches_merge_or_follow_their_operations() {
    let service = Service::new();
    let flows = flows(&service);
    create(&flows, &flow("f")).await;
    let merge = Patch::Merge(json!({ "metadata": { "annotations": { "x": "1" } } }));
    let merged = flows.patch("f", &PatchParams::default(), &merge).await.unwrap();
    assert_eq!(merged.metadata.annotations.unwrap()["x"], "1");
    let key = Key::of("jobflows", "f");
    let stale = json!({ "metadata": { "resourceVersion": "1" }, "spec": { "suspend": true } });
    assert_eq!(service.merge(&key, Part::Main, stale).unwrap_err().code, 409);
    let apply: Patch<serde_json::Value> = Patch::Apply(json!({}));
    let applied = flows.patch("f", &PatchParams::apply("x"), &apply).await;
    assert_eq!(refused(applied), refusal(415, "UnsupportedMediaType"));
}

#[tokio::test(start_paused = true)]
async fn a_delete_holds_to_its_preconditions() {
    let service = Service::new();
    let jobs = jobs(&service);
    let made = create(&jobs, &job("j")).await;
    let with = |uid: Option<&str>, version: Option<&str>| DeleteParams {
        preconditions: Some(Preconditions {
            uid: uid.map(str::to_owned),
            resource_version: version.map(str::to_owned),
        }),
        ..DeleteParams::default()
    };
    assert_eq!(
        refused(jobs.delete("j", &with(Some("other"), None)).await),
        refusal(409, "Conflict")
    );
    assert_eq!(
        refused(jobs.delete("j", &with(None, Some("1"))).await),
        refusal(409, "Conflict")
    );
    let uid = made.metadata.uid.as_deref();
    jobs.delete("j", &with(uid, None)).await.unwrap();
    assert_eq!(
        refused(jobs.delete("j", &with(uid, None)).await),
        refusal(404, "NotFound")
    );
}

#[tokio::test(start_paused = true)]
async fn a_foreground_delete_waits_for_what_is_owned() {
    let service = Service::new();
    let jobs = jobs(&service);
    let made = create(&jobs, &job("j")).await;
    let owned = |blocks: bool| {
        json!([{ "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "j", "uid": made.metadata.uid,
                 "controller": true, "blockOwnerDeletion": blocks }])
    };
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "j-main-0", "ownerReferences": owned(true) },
                      "spec": { "nodeName": "n" } });
    service.create(pod).unwrap();
    jobs.delete("j", &DeleteParams::foreground()).await.unwrap();
    service.collect_garbage();
    let leaving = jobs.get("j").await.unwrap();
    assert!(leaving.metadata.deletion_timestamp.is_some());
    assert_eq!(leaving.metadata.finalizers.unwrap(), ["foregroundDeletion"]);
    let pod = Key::of("pods", "j-main-0");
    assert!(service.get(&pod).unwrap()["metadata"]["deletionTimestamp"].is_string());
    service.act(|state| state.end_pod(&pod));
    service.collect_garbage();
    assert_eq!(refused(jobs.get("j").await), refusal(404, "NotFound"));
}

#[tokio::test(start_paused = true)]
async fn what_is_owned_by_nobody_any_more_is_collected() {
    let service = Service::new();
    let made = create(&flows(&service), &flow("f")).await;
    let mut owned = job("f-a");
    owned.metadata.owner_references = Some(vec![
        serde_json::from_value(json!({
            "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "f", "uid": made.metadata.uid,
        }))
        .unwrap(),
    ]);
    create(&jobs(&service), &owned).await;
    service.collect_garbage();
    assert_eq!(service.all("jobs").len(), 1);
    service.delete(&Key::of("jobflows", "f"), "Background").unwrap();
    service.collect_garbage();
    assert_eq!(service.all("jobs").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_schema_drops_what_it_does_not_know_and_refuses_wrong_types() {
    let service = Service::new();
    let mut odd = flow("f");
    odd.data["spec"]["nonsense"] = json!(1);
    assert_eq!(
        create(&flows(&service), &odd).await.data["spec"].get("nonsense"),
        None
    );
    let mut wrong = flow("g");
    wrong.data["spec"]["parallelism"] = json!("two");
    let answer = flows(&service).create(&PostParams::default(), &wrong).await;
    assert_eq!(refused(answer), refusal(422, "Invalid"));
}

#[tokio::test(start_paused = true)]
async fn volcanos_definition_drops_our_fields_and_says_that_all_is_well() {
    let service = Service::new();
    service.serve(Served::Volcanos);
    let flows = flows(&service);
    let mut object = create(&flows, &flow("f")).await;
    assert_eq!(object.data["spec"], json!({ "flows": [{ "name": "a" }] }));
    object.data["status"] = json!({ "state": { "phase": "Running" }, "nodes": [{ "name": "a" }] });
    let written = flows
        .replace_status("f", &PostParams::default(), &object)
        .await
        .unwrap();
    assert_eq!(written.data["status"], json!({ "state": { "phase": "Running" } }));
}

#[tokio::test(start_paused = true)]
async fn namespaces_and_quotas_are_looked_at_before_the_name() {
    let service = Service::new();
    let jobs = jobs(&service);
    create(&jobs, &job("j")).await;
    service.act(|state| state.quotas.insert(("default".to_owned(), kind("jobs")), 1));
    let quota = jobs.create(&PostParams::default(), &job("j")).await;
    assert_eq!(refused(quota), refusal(403, "Forbidden"));
    let namespace = Key::of("namespaces", "default");
    service
        .merge(
            &namespace,
            Part::Status,
            json!({ "status": { "phase": "Terminating" } }),
        )
        .unwrap();
    let answer = jobs.create(&PostParams::default(), &job("k")).await.unwrap_err();
    assert!(
        answer.to_string().contains("because it is being terminated"),
        "{answer}"
    );
    let elsewhere = object(json!({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
        "metadata": { "name": "j", "namespace": "nowhere" },
    }));
    let answer = service.create(serde_json::to_value(elsewhere).unwrap());
    assert_eq!(answer.unwrap_err().code, 404);
}
