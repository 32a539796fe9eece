//! Watches one definition; where that isn't permitted, reads what the server publishes about it once a minute.

use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};

use super::{Reports, openapi};
use crate::findings::Check;
use crate::findings::definitions::{Needed, check};

/// How long it takes until a check that failed is made again.
const AGAIN: Duration = Duration::from_secs(10);
/// How often the server is asked where a watch isn't permitted.
const PERIOD: Duration = Duration::from_secs(60);

/// For ever.
pub(super) async fn watch(client: &Client, needed: &Needed, reports: &Reports) {
    loop {
        let error = watched(client, needed, reports).await;
        if is_forbidden(&error) {
            published(client, needed, reports).await;
            continue;
        }
        reports.report(
            &needed.name,
            Check::NotChecked,
            vec![format!("{}: {error}", needed.name)],
        );
        tokio::time::sleep(AGAIN).await;
    }
}

/// Until the watch fails.
async fn watched(client: &Client, needed: &Needed, reports: &Reports) -> watcher::Error {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let config = watcher::Config::default().fields(&format!("metadata.name={}", needed.name));
    let mut events = pin!(watcher(definitions, config));
    let mut listed = None;
    loop {
        match events.next().await {
            Some(Ok(Event::Init)) => listed = None,
            Some(Ok(Event::InitApply(definition))) => listed = Some(definition),
            Some(Ok(Event::InitDone)) => told(needed, listed.take().as_ref(), reports),
            Some(Ok(Event::Apply(definition))) => told(needed, Some(&definition), reports),
            Some(Ok(Event::Delete(_))) => told(needed, None, reports),
            Some(Err(error)) => return error,
            None => return watcher::Error::NoResourceVersion,
        }
    }
}

/// For a while: rights may be granted meanwhile.
async fn published(client: &Client, needed: &Needed, reports: &Reports) {
    for _ in 0..10 {
        match openapi::definition(client, needed).await {
            Ok(definition) => told(needed, definition.as_ref(), reports),
            Err(error) => {
                let line = format!("{}: {error}", needed.name);
                reports.report(&needed.name, Check::NotChecked, vec![line]);
            }
        }
        tokio::time::sleep(PERIOD).await;
    }
}

fn told(needed: &Needed, definition: Option<&CustomResourceDefinition>, reports: &Reports) {
    match check(needed, definition) {
        Some((check, line)) => reports.report(&needed.name, check, vec![line]),
        None => reports.report(&needed.name, Check::SchemaLacksFields, Vec::new()),
    }
}

fn is_forbidden(error: &watcher::Error) -> bool {
    let cause = match error {
        watcher::Error::InitialListFailed(cause)
        | watcher::Error::WatchStartFailed(cause)
        | watcher::Error::WatchFailed(cause) => cause,
        watcher::Error::WatchError(status) => return status.is_forbidden(),
        watcher::Error::NoResourceVersion => return false,
    };
    matches!(cause, kube::Error::Api(status) if status.is_forbidden())
}
