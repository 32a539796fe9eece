//! One watch: a list, then what changes, for ever. Tells what it shows and when it last heard anything.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use http_body_util::BodyExt;
use kube::client::Body;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::call::chain;
use super::guard::{Guarded, Poison};
use super::observer::Observer;

/// The first wait after a failure, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// How long a streaming list may say nothing before a plain one is asked for: a server that doesn't know of them shows
/// what there is, and never says that this was all.
const STREAM_PATIENCE: Duration = Duration::from_secs(30);

/// What a watch shows.
#[derive(Debug)]
pub(super) enum Shown<K> {
    /// An object is there, like this.
    There(K),
    /// An object is there, and can't be read.
    Unreadable(Box<Poison>),
    /// An object is gone; this was its last state.
    Gone(K),
    /// The same of one that can't be read.
    UnreadableGone(Box<Poison>),
    /// These UIDs, and no others, were there when the list was made.
    Listed(BTreeSet<String>),
    /// There is no list yet, and the server refused one.
    NotListed,
}

/// When a watch last heard anything, a bookmark included.
#[derive(Debug)]
pub(super) struct Beat {
    resource: &'static str,
    state: Mutex<Heard>,
}

#[derive(Debug)]
struct Heard {
    at: Instant,
    listed: bool,
    failed: bool,
}

impl Beat {
    pub(super) fn new(resource: &'static str) -> Self {
        Self {
            resource,
            state: Mutex::new(Heard {
                at: Instant::now(),
                listed: false,
                failed: false,
            }),
        }
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self) {
        self.heard().at = Instant::now();
    }

    /// What is watched.
    pub(super) const fn resource(&self) -> &'static str {
        self.resource
    }

    /// How long nothing was heard.
    pub(super) fn silence(&self) -> Duration {
        self.heard().at.elapsed()
    }

    /// Whether its list was complete once.
    pub(super) fn is_listed(&self) -> bool {
        self.heard().listed
    }

    /// Whether it has failed before its first list was complete.
    pub(super) fn has_failed(&self) -> bool {
        self.heard().failed
    }
}

/// How to watch.
#[derive(Clone)]
pub(super) struct Watching {
    pub(super) client: Client,
    /// None: all namespaces.
    pub(super) namespace: Option<String>,
    /// Only objects that bear this label.
    pub(super) label: Option<&'static str>,
    pub(super) streaming: bool,
    pub(super) beat: Arc<Beat>,
    pub(super) observer: Arc<dyn Observer>,
}

/// Watches one kind for ever, in a namespace or in all.
pub(super) async fn watch<K>(how: Watching, show: impl FnMut(Shown<K>))
where
    K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned + Send + 'static,
{
    let client = tapped(&how);
    let api: Api<Guarded<K>> = match &how.namespace {
        Some(namespace) => Api::namespaced(client, namespace),
        None => Api::all(client),
    };
    watch_all(api, how, show).await;
}

/// Watches a kind that stands in no namespace for ever.
pub(super) async fn watch_cluster<K>(how: Watching, show: impl FnMut(Shown<K>))
where
    K: Resource<DynamicType = (), Scope = kube::core::ClusterResourceScope>,
    K: Clone + Debug + DeserializeOwned + Send + 'static,
{
    let api: Api<Guarded<K>> = Api::all(tapped(&how));
    watch_all(api, how, show).await;
}

async fn watch_all<K>(api: Api<Guarded<K>>, mut how: Watching, mut show: impl FnMut(Shown<K>))
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let mut wait = WAITS.0;
    loop {
        let mut config = watcher::Config::default();
        if how.streaming {
            config = config.streaming_lists();
        }
        if let Some(label) = how.label {
            config = config.labels(label);
        }
        let mut events = pin!(watcher(api.clone(), config));
        let mut listing = BTreeSet::new();
        loop {
            let next = if how.streaming && !how.beat.is_listed() {
                let Ok(next) = tokio::time::timeout(STREAM_PATIENCE, events.next()).await else {
                    how.streaming = false;
                    break;
                };
                next
            } else {
                events.next().await
            };
            let Some(event) = next else { break };
            match event {
                Ok(event) => {
                    wait = WAITS.0;
                    shown(event, &mut listing, &how.beat, &mut show);
                }
                Err(error) => {
                    how.observer.watch_failed(how.beat.resource(), &chain(&error));
                    if !how.beat.is_listed() {
                        how.beat.heard().failed = true;
                        show(Shown::NotListed);
                    }
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(WAITS.1);
                    if how.streaming && !how.beat.is_listed() {
                        // The server may not have streaming lists.
                        how.streaming = false;
                        break;
                    }
                }
            }
        }
    }
}

fn shown<K: Resource>(
    event: Event<Guarded<K>>,
    listing: &mut BTreeSet<String>,
    beat: &Beat,
    show: &mut impl FnMut(Shown<K>),
) {
    match event {
        Event::Init => listing.clear(),
        Event::InitApply(object) => {
            listing.extend(object.meta().uid.clone());
            show(there(object));
        }
        Event::InitDone => {
            beat.heard().listed = true;
            show(Shown::Listed(std::mem::take(listing)));
        }
        Event::Apply(object) => show(there(object)),
        Event::Delete(Guarded::Read(object)) => show(Shown::Gone(object)),
        Event::Delete(Guarded::Unreadable(poison)) => show(Shown::UnreadableGone(poison)),
    }
}

fn there<K>(object: Guarded<K>) -> Shown<K> {
    match object {
        Guarded::Read(object) => Shown::There(object),
        Guarded::Unreadable(poison) => Shown::Unreadable(poison),
    }
}

/// A client whose every answer, to its last byte, is noted: a watch in which nothing happens has bookmarks.
fn tapped(how: &Watching) -> Client {
    let client = how.client.clone();
    let namespace = client.default_namespace().to_owned();
    let (beat, observer) = (Arc::clone(&how.beat), Arc::clone(&how.observer));
    let heard = Arc::new(move || {
        beat.note();
        observer.watch_progressed(beat.resource());
    });
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (client, heard) = (client.clone(), Arc::clone(&heard));
        async move {
            let response = client.send(request).await?;
            if response.status().is_success() {
                heard();
            }
            Ok::<_, kube::Error>(response.map(move |body| {
                body.map_frame(move |frame| {
                    heard();
                    frame
                })
            }))
        }
    });
    Client::new(service, namespace)
}
