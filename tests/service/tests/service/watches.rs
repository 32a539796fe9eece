//! WATCH, through `kube::Api` and through kube's watcher.

use std::time::Duration;

use futures::StreamExt;
use jobflow_test_service::{Cut, Key, Part, Service};
use kube::api::{Api, DynamicObject, WatchEvent, WatchParams};
use kube::runtime::watcher::{Config, Event, watcher};
use serde_json::json;

use crate::fixtures::{api, create, job, jobs, resource, version};

/// The events of a watch until nothing comes for a while.
async fn events(api: &Api<DynamicObject>, params: &WatchParams, from: &str) -> Vec<String> {
    let mut stream = api.watch(params, from).await.unwrap().boxed();
    let mut seen = Vec::new();
    while let Ok(Some(event)) = tokio::time::timeout(Duration::from_secs(2), stream.next()).await {
        seen.push(event.map_or_else(|error| error.to_string(), |event| word(&event)));
    }
    seen
}

fn word(event: &WatchEvent<DynamicObject>) -> String {
    let name = |object: &DynamicObject| object.metadata.name.clone().unwrap();
    match event {
        WatchEvent::Added(object) => format!("+{}", name(object)),
        WatchEvent::Modified(object) => format!("~{}", name(object)),
        WatchEvent::Deleted(object) => format!("-{}", name(object)),
        WatchEvent::Bookmark(bookmark) => format!("bookmark {}", bookmark.metadata.annotations.len()),
        WatchEvent::Error(status) => status.code.to_string(),
    }
}

fn relabel(service: &Service, name: &str, label: &str) {
    let labels = json!({ "metadata": { "labels": { "app": label } } });
    service.merge(&Key::of("jobs", name), Part::Main, labels).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_watch_tells_what_came_after_its_version() {
    let service = Service::new();
    let jobs = jobs(&service);
    let first = create(&jobs, &job("a")).await;
    create(&jobs, &job("b")).await;
    relabel(&service, "a", "x");
    service.delete(&Key::of("jobs", "b"), "Background").unwrap();
    let from = version(&first);
    assert_eq!(
        events(&jobs, &WatchParams::default(), &from).await,
        ["+b", "~a", "-b"]
    );
    assert_eq!(events(&jobs, &WatchParams::default(), "0").await, ["+a"]);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_no_longer_selected_is_deleted_for_the_watch() {
    let service = Service::new();
    let jobs = jobs(&service);
    let first = create(&jobs, &job("a")).await;
    relabel(&service, "a", "x");
    relabel(&service, "a", "a");
    let selected = WatchParams::default().labels("app=a");
    assert_eq!(events(&jobs, &selected, &version(&first)).await, ["-a", "+a"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_forgotten_version_is_told_so() {
    let service = Service::new();
    let jobs = jobs(&service);
    let first = create(&jobs, &job("a")).await;
    create(&jobs, &job("b")).await;
    service.compact();
    assert_eq!(
        events(&jobs, &WatchParams::default(), &version(&first)).await,
        ["410"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_streamed_list_ends_with_a_bookmark() {
    let service = Service::new();
    let jobs = jobs(&service);
    create(&jobs, &job("a")).await;
    let streamed = WatchParams::default().initial_events();
    assert_eq!(events(&jobs, &streamed, "0").await, ["+a", "bookmark 1"]);
}

#[tokio::test(start_paused = true)]
async fn an_idle_watch_has_a_bookmark_a_minute_and_an_end() {
    let service = Service::new();
    let jobs = jobs(&service);
    let params = WatchParams::default().timeout(150);
    let stream = jobs.watch(&params, "0").await.unwrap().boxed();
    let seen: Vec<_> = stream.map(|event| word(&event.unwrap())).collect().await;
    assert_eq!(seen, ["bookmark 0", "bookmark 0"]);
    assert!((Duration::from_secs(150)..Duration::from_secs(151)).contains(&service.clock().elapsed()));
}

#[tokio::test(start_paused = true)]
async fn a_late_watch_tells_everything_later_and_in_order() {
    let service = Service::new();
    let jobs = jobs(&service);
    service.lag("jobs", Duration::from_secs(30));
    create(&jobs, &job("a")).await;
    create(&jobs, &job("b")).await;
    assert_eq!(events(&jobs, &WatchParams::default(), "0").await, [] as [&str; 0]);
    service.catch_up("jobs");
    assert_eq!(events(&jobs, &WatchParams::default(), "0").await, ["+a", "+b"]);
}

#[tokio::test(start_paused = true)]
async fn watches_of_two_servers_are_late_apart() {
    let service = Service::new();
    let other = api(service.client_of("other", 1), "jobs");
    service.lag("jobs", Duration::from_secs(30));
    create(&other, &job("a")).await;
    assert_eq!(events(&other, &WatchParams::default(), "0").await, ["+a"]);
    assert_eq!(
        events(&jobs(&service), &WatchParams::default(), "0").await,
        [] as [&str; 0]
    );
}

/// What kube's watcher sees of jobs, with whatever the server does in between.
async fn watched(config: Config, befalls: impl Fn(&Service)) -> Vec<String> {
    let service = Service::new();
    create(&jobs(&service), &job("a")).await;
    let all =
        Api::<DynamicObject>::all_with(service.client("w"), &resource(jobflow_test_service::kind("jobs")));
    let mut stream = watcher(all, config).boxed();
    let mut seen = Vec::new();
    for round in 0..2 {
        while let Ok(Some(event)) = tokio::time::timeout(Duration::from_secs(3), stream.next()).await {
            let name = |object: DynamicObject| object.metadata.name.unwrap();
            seen.extend(match event {
                Ok(Event::Init) => Some("init".to_owned()),
                Ok(Event::InitApply(object)) => Some(format!("+{}", name(object))),
                Ok(Event::InitDone) => Some("done".to_owned()),
                Ok(Event::Apply(object)) => Some(format!("~{}", name(object))),
                Ok(Event::Delete(object)) => Some(format!("-{}", name(object))),
                Err(_) => Some("error".to_owned()),
            });
        }
        if round == 0 {
            befalls(&service);
            create(&jobs(&service), &job("b")).await;
        }
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn a_watcher_goes_on_after_its_watch_is_cut() {
    for config in [Config::default(), Config::default().streaming_lists()] {
        let seen = watched(config.clone(), |service| service.cut("jobs", Cut::Closed)).await;
        assert_eq!(seen, ["init", "+a", "done", "~b"]);
        let seen = watched(config.clone(), |service| service.cut("jobs", Cut::Broken)).await;
        assert_eq!(seen, ["init", "+a", "done", "error", "~b"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_watcher_lists_again_when_its_version_is_forgotten() {
    let befalls = |service: &Service| {
        service.cut("jobs", Cut::Closed);
        relabel(service, "a", "x");
        service.compact();
    };
    let seen = watched(Config::default(), befalls).await;
    assert_eq!(seen, ["init", "+a", "done", "error", "init", "+a", "+b", "done"]);
}
