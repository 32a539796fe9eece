//! When Jobs are seen to be created, and to be completed, by a watch of our own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::Result;

/// A Job, by namespace and name.
pub(crate) type Place = (String, String);

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) created: BTreeMap<Place, Instant>,
    pub(crate) completed: BTreeMap<Place, Instant>,
}

/// A watch of Jobs; ends when it is dropped.
pub(crate) struct Sightings {
    seen: Arc<Mutex<Seen>>,
    news: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

impl Sightings {
    /// Begins to watch the Jobs of a namespace, or of all; what is there already counts as created now.
    pub(crate) async fn begin(client: Client, namespace: Option<&str>) -> Result<Self> {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job"));
        let api: Api<DynamicObject> = match namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &kind),
            None => Api::all_with(client, &kind),
        };
        let seen = Arc::<Mutex<Seen>>::default();
        let (sender, mut news) = watch::channel(0);
        let task = tokio::spawn(look(api, Arc::clone(&seen), sender));
        news.changed().await?;
        Ok(Self { seen, news, task })
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        locked(&self.seen)
    }

    /// Waits until this is so.
    pub(crate) async fn until(&mut self, patience: Duration, is_so: impl Fn(&Seen) -> bool) -> Result<()> {
        let seen = Arc::clone(&self.seen);
        let waiting = self.news.wait_for(|_| is_so(&locked(&seen)));
        match tokio::time::timeout(patience, waiting).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err("the watch of Jobs ended".into()),
            Err(_) => Err(format!("not seen within {patience:?}").into()),
        }
    }
}

impl Drop for Sightings {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn look(api: Api<DynamicObject>, seen: Arc<Mutex<Seen>>, news: watch::Sender<usize>) {
    let mut events = std::pin::pin!(watcher(api, watcher::Config::default()));
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Apply(job) | Event::InitApply(job)) => note(&mut locked(&seen), &job),
            Ok(Event::InitDone) => {}
            // It begins anew by itself.
            Ok(Event::Init | Event::Delete(_)) | Err(_) => continue,
        }
        news.send_modify(|number| *number += 1);
    }
}

fn note(seen: &mut Seen, job: &DynamicObject) {
    let place = (job.namespace().unwrap_or_default(), job.name_any());
    if job.data["status"]["state"]["phase"] == "Completed" {
        seen.completed.entry(place.clone()).or_insert_with(Instant::now);
    }
    seen.created.entry(place).or_insert_with(Instant::now);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
