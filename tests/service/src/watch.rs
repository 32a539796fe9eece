//! WATCH: a body that goes on, a line an event.
//!
//! It is served from an API server's cache, and so as late as that is. Bookmarks come once a minute, the one that ends
//! a streamed list at once. A version that is no longer kept is told as an event, as the server does.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use futures::stream::unfold;
use hyper::body::{Bytes, Frame};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::Service;
use super::call::Call;
use super::kind::Kind;
use super::news::Listener;
use super::read::{selector, shown, version};
use super::refusal::Refusal;
use super::schema::Schemas;
use super::select::Selector;
use super::state::State;
use super::store::{Change, Key, What};

/// How a test ends watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// As a server that closes the connection after an event.
    Closed,
    /// In the middle of everything.
    Broken,
}

/// The pause between bookmarks.
const BOOKMARKS: Duration = Duration::from_secs(60);

/// How long a watch goes on when its request doesn't say, in seconds.
const LONGEST: u64 = 1_800;

/// A watch that goes on.
pub(super) struct Watch {
    service: Service,
    call: Call,
    kind: &'static Kind,
    schemas: Schemas,
    selector: Selector,
    initial: VecDeque<Arc<Value>>,
    ends_initial: bool,
    from: u64,
    bookmark: Option<Instant>,
    end: Instant,
    cuts: u64,
    over: bool,
    news: Listener,
}

type Item = Result<Frame<Bytes>, Error>;

impl Watch {
    /// Begins a watch.
    pub(super) fn begin(
        service: &Service,
        state: &State,
        call: &Call,
        kind: &'static Kind,
    ) -> Result<Self, Refusal> {
        let now = Instant::now();
        let streamed = call.parameter("sendInitialEvents") == "true" && state.streams_lists;
        let wanted = version(call.parameter("resourceVersion"))?.filter(|version| *version > 0);
        if streamed && call.parameter("resourceVersionMatch") != "NotOlderThan" {
            return Err(Refusal::unmatched_stream());
        }
        if wanted.is_some_and(|wanted| wanted > state.store.version()) {
            let wanted = wanted.unwrap_or_default();
            return Err(Refusal::too_large_version(wanted, state.store.version()));
        }
        let (reached, _) = state.store.replicas[call.replica].reached(kind, now);
        let fresh = call.parameter("resourceVersion").is_empty();
        let cached = if fresh { state.store.version() } else { reached };
        let lists = streamed || wanted.is_none();
        let from = if lists {
            cached.max(wanted.unwrap_or(0))
        } else {
            wanted.unwrap_or(cached)
        };
        let selector = selector(call, kind);
        let listed = if lists {
            state.store.at(kind, from)
        } else {
            Default::default()
        };
        let initial = listed
            .into_iter()
            .filter(|(key, object)| selector.matches(key, object))
            .map(|(_, object)| object)
            .collect();
        let seconds = call.parameter("timeoutSeconds").parse().unwrap_or(LONGEST);
        let bookmarks = call.parameter("allowWatchBookmarks") == "true";
        Ok(Self {
            service: service.clone(),
            kind,
            schemas: state.schemas,
            selector,
            initial,
            ends_initial: streamed && bookmarks,
            from,
            bookmark: bookmarks.then(|| now + BOOKMARKS),
            end: now + Duration::from_secs(seconds),
            cuts: state.cuts.get(kind).map_or(0, |(cuts, _)| *cuts),
            over: false,
            news: service.news(),
            call: call.clone(),
        })
    }

    /// Its events as the frames of a body.
    pub(super) fn frames(self) -> impl Stream<Item = Item> + Send + 'static {
        unfold(self, |mut watch| async move {
            let item = watch.next().await?;
            Some((item, watch))
        })
    }

    async fn next(&mut self) -> Option<Item> {
        while !self.over {
            if let Some(object) = self.initial.pop_front() {
                return Some(self.line("ADDED", &object));
            }
            if std::mem::take(&mut self.ends_initial) {
                return Some(self.bookmark(true));
            }
            self.news.mark_unchanged();
            match self.look() {
                Look::Line(item) => return Some(item),
                Look::Over => return None,
                Look::Wait(until) => self.wait(until).await,
            }
        }
        None
    }

    async fn wait(&mut self, until: Instant) {
        tokio::select! {
            biased;
            () = self.news.changed() => {}
            () = sleep_until(until) => {}
        }
    }

    /// What is to be told now.
    fn look(&mut self) -> Look {
        let (service, now) = (self.service.clone(), Instant::now());
        let state = service.lock();
        let cut = state.cuts.get(self.kind).filter(|(cuts, _)| *cuts != self.cuts);
        if let Some((_, cut)) = cut {
            self.over = true;
            return match cut {
                Cut::Closed => Look::Over,
                Cut::Broken => Look::Line(Err(Error::new(ErrorKind::ConnectionReset, "connection reset"))),
            };
        }
        if self.from < state.store.oldest() {
            self.over = true;
            let oldest = state.store.oldest();
            let message = format!("too old resource version: {} ({oldest})", self.from);
            return Look::Line(self.line("ERROR", &Refusal::expired(message).body));
        }
        let (reached, due) = state.store.replicas[self.call.replica].reached(self.kind, now);
        for change in state.store.changes_after(self.kind, self.from) {
            if change.version > reached {
                break;
            }
            self.from = change.version;
            if let Some((word, object)) = self.told(change) {
                return Look::Line(self.line(word, object));
            }
        }
        if now >= self.end {
            return Look::Over;
        }
        if self.bookmark.is_some_and(|at| at <= now) {
            self.bookmark = Some(now + BOOKMARKS);
            if due.is_none() {
                self.from = self.from.max(state.store.version());
            }
            return Look::Line(self.bookmark(false));
        }
        let times = [Some(self.end), self.bookmark, due];
        Look::Wait(times.into_iter().flatten().min().unwrap_or(self.end))
    }

    /// The event that a change is for this watch: an object that begins or ceases to be selected comes or goes.
    fn told<'a>(&self, change: &'a Change) -> Option<(&'static str, &'a Value)> {
        let selects = |object: &Value, key: &Key| self.selector.matches(key, object);
        let before = change
            .before
            .as_ref()
            .is_some_and(|before| selects(before, &change.key));
        let after = change.what != What::Deleted && selects(&change.object, &change.key);
        let word = match (before, after) {
            (false, false) => return None,
            (false, true) => "ADDED",
            (true, true) => "MODIFIED",
            (true, false) => "DELETED",
        };
        Some((word, &change.object))
    }

    fn line(&self, word: &str, object: &Value) -> Item {
        let object = if word == "ERROR" {
            object.clone()
        } else {
            shown(self.schemas, &self.call, self.kind, object)
        };
        let mut text = json!({ "type": word, "object": object }).to_string();
        text.push('\n');
        Ok(Frame::data(Bytes::from(text)))
    }

    fn bookmark(&self, ends_initial: bool) -> Item {
        let mut metadata = json!({ "resourceVersion": self.from.to_string() });
        if ends_initial {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let object = json!({
            "kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": metadata,
        });
        self.line("BOOKMARK", &object)
    }
}

enum Look {
    Line(Item),
    Wait(Instant),
    Over,
}
