//! One flow as it changes. Level by level: whatever was missed, the next look shows where it stands.

use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt};
use kube::api::DynamicObject;
use kube::runtime::{WatchStreamExt, watcher};

use super::flow::Flow;
use super::refusal::{is_passing, of_watch};
use super::{Cluster, kinds};
use crate::console::Console;
use crate::failure::Failure;

/// What is seen of a flow.
#[derive(Debug)]
pub(crate) enum Seen {
    /// It stands there.
    There(Box<Flow>),
    /// It is gone, or another one has its name.
    Gone,
}

type Changes = Pin<Box<dyn Stream<Item = watcher::Result<Option<DynamicObject>>> + Send>>;

/// Follows one flow.
pub(crate) struct Follow {
    changes: Changes,
    intent: String,
    uid: Option<String>,
    interrupted: bool,
}

impl Follow {
    /// Begins; `uid` is the flow's, if it was seen before.
    pub(crate) fn new(cluster: &Cluster, name: &str, uid: Option<&str>) -> Self {
        let api = kinds::api(&cluster.client, Some(&cluster.namespace), &kinds::flows());
        let config = watcher::Config::default().fields(&format!("metadata.name={name}"));
        Self {
            changes: Box::pin(present(watcher(api, config).default_backoff())),
            intent: format!("watch flow `{name}`"),
            uid: uid.map(str::to_owned),
            interrupted: false,
        }
    }

    /// The next look. A connection that breaks is told once, and taken up again.
    pub(crate) async fn next(&mut self, console: &mut Console) -> Result<Seen, Failure> {
        loop {
            match self.changes.next().await {
                Some(Ok(object)) => {
                    self.interrupted = false;
                    return Ok(self.seen(object));
                }
                Some(Err(error)) if is_passing(&error) => self.tell(&error, console),
                Some(Err(error)) => return Err(of_watch(&self.intent, &error)),
                None => return Err(Failure::could_not_run(format!("cannot {}", self.intent))),
            }
        }
    }

    fn seen(&mut self, object: Option<DynamicObject>) -> Seen {
        let Some(object) = object else { return Seen::Gone };
        let flow = Flow::of(object);
        match &self.uid {
            Some(uid) if uid != flow.uid() => return Seen::Gone,
            Some(_) => {}
            None => self.uid = Some(flow.uid().to_owned()),
        }
        Seen::There(Box::new(flow))
    }

    fn tell(&mut self, error: &watcher::Error, console: &mut Console) {
        if !self.interrupted
            && let Failure::Said(said) = of_watch(&self.intent, error)
        {
            let why = said.causes.last().unwrap_or(&said.message);
            console.talk(&format!("{}; trying again\n", crate::escape::terminal(why)));
        }
        self.interrupted = true;
    }
}

/// The object whenever it changes, or none when it is gone; only one object is watched.
fn present(
    events: impl Stream<Item = watcher::Result<watcher::Event<DynamicObject>>> + Send,
) -> impl Stream<Item = watcher::Result<Option<DynamicObject>>> + Send {
    let mut listed = false;
    events.filter_map(move |event| {
        let shown = match event {
            Ok(watcher::Event::Init) => {
                listed = false;
                None
            }
            Ok(watcher::Event::InitApply(object)) => {
                listed = true;
                Some(Ok(Some(object)))
            }
            Ok(watcher::Event::InitDone) => (!listed).then_some(Ok(None)),
            Ok(watcher::Event::Apply(object)) => Some(Ok(Some(object))),
            Ok(watcher::Event::Delete(_)) => Some(Ok(None)),
            Err(error) => Some(Err(error)),
        };
        futures::future::ready(shown)
    })
}

/// The time after which waiting ends; none without an end.
pub(crate) fn until(timeout: Duration) -> Option<tokio::time::Instant> {
    Some(timeout)
        .filter(|timeout| !timeout.is_zero())
        .and_then(|timeout| tokio::time::Instant::now().checked_add(timeout))
}
