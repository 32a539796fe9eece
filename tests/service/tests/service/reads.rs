//! GET and LIST.

use std::time::Duration;

use jobflow_test_service::{Key, Part, Service, kind};
use kube::api::{GetParams, ListParams, VersionMatch};
use serde_json::json;

use crate::fixtures::{create, flow, flows, job, jobs, refusal, refused, version};

#[tokio::test(start_paused = true)]
async fn a_list_comes_in_pages_of_one_version() {
    let service = Service::new();
    let jobs = jobs(&service);
    for name in ["a", "b", "c"] {
        create(&jobs, &job(name)).await;
    }
    let first = jobs.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(first.items.len(), 2);
    assert_eq!(first.metadata.remaining_item_count, Some(1));
    create(&jobs, &job("bb")).await;
    let token = first.metadata.continue_.clone().unwrap();
    let second = jobs
        .list(&ListParams::default().limit(2).continue_token(&token))
        .await
        .unwrap();
    let names: Vec<_> = second
        .items
        .iter()
        .map(|job| job.metadata.name.as_deref().unwrap())
        .collect();
    assert_eq!(names, ["c"]);
    assert_eq!(second.metadata.resource_version, first.metadata.resource_version);
    service.compact();
    let late = jobs
        .list(&ListParams::default().limit(2).continue_token(&token))
        .await;
    assert_eq!(refused(late), refusal(410, "Expired"));
}

#[tokio::test(start_paused = true)]
async fn a_list_is_of_what_its_selectors_mean() {
    let service = Service::new();
    let jobs = jobs(&service);
    create(&jobs, &job("a")).await;
    create(&jobs, &job("b")).await;
    let labelled = jobs
        .list(&ListParams::default().labels("app in (b)"))
        .await
        .unwrap();
    assert_eq!(labelled.items[0].metadata.name.as_deref(), Some("b"));
    let named = jobs
        .list(&ListParams::default().fields("metadata.name=a"))
        .await
        .unwrap();
    assert_eq!(named.items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cache_may_be_late_and_the_store_never_is() {
    let service = Service::new();
    let flows = flows(&service);
    let made = create(&flows, &flow("f")).await;
    service.lag("jobflows", Duration::from_secs(5));
    service
        .merge(
            &Key::of("jobflows", "f"),
            Part::Main,
            json!({ "spec": { "suspend": true } }),
        )
        .unwrap();
    let cached = flows.get_with("f", &GetParams::any()).await.unwrap();
    assert_eq!(version(&cached), version(&made));
    assert_eq!(
        flows
            .list(&ListParams::default().match_any())
            .await
            .unwrap()
            .items[0]
            .data["spec"]
            .get("suspend"),
        None
    );
    let latest = flows.get("f").await.unwrap();
    assert_eq!(latest.data["spec"]["suspend"], true);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let cached = flows.get_with("f", &GetParams::any()).await.unwrap();
    assert_eq!(version(&cached), version(&latest));
}

#[tokio::test(start_paused = true)]
async fn a_list_can_be_of_one_version_while_that_is_kept() {
    let service = Service::new();
    let jobs = jobs(&service);
    let first = create(&jobs, &job("a")).await;
    create(&jobs, &job("b")).await;
    let exact = ListParams::default()
        .at(&version(&first))
        .matching(VersionMatch::Exact);
    assert_eq!(jobs.list(&exact).await.unwrap().items.len(), 1);
    service.compact();
    assert_eq!(refused(jobs.list(&exact).await), refusal(410, "Expired"));
    let future = ListParams::default()
        .at("1000")
        .matching(VersionMatch::NotOlderThan);
    assert_eq!(refused(jobs.list(&future).await), refusal(504, "Timeout"));
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_can_be_asked_for() {
    let service = Service::new();
    let jobs = jobs(&service);
    create(&jobs, &job("a")).await;
    let one = jobs.get_metadata("a").await.unwrap();
    assert_eq!(one.metadata.name.as_deref(), Some("a"));
    let many = jobs.list_metadata(&ListParams::default()).await.unwrap();
    assert_eq!(many.items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_kind_whose_definition_is_gone_is_no_path() {
    let service = Service::new();
    let client = service.client("test");
    let listed = client
        .list_api_group_resources("batch.volcano.sh/v1alpha1")
        .await
        .unwrap();
    assert!(
        listed
            .resources
            .iter()
            .any(|resource| resource.name == "jobs/status")
    );
    service.act(|state| state.gone.push(kind("jobs")));
    let gone = jobs(&service).get("a").await.unwrap_err();
    assert!(gone.to_string().contains("404 page not found"), "{gone}");
    assert!(
        client
            .list_api_group_resources("batch.volcano.sh/v1alpha1")
            .await
            .is_err()
    );
}
