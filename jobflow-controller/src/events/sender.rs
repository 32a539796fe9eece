//! Sends notes, from a task of its own, while we lead.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::events::v1::Event;
use kube::api::PostParams;
use kube::{Api, Client};
use tracing::debug;

use super::book::{About, Book, Note, Subject};
use super::object::event;
use crate::clock::Clock;
use crate::lease::LeaseTerm;
use crate::metrics::{EventResult, Metrics};

/// How often there is a look at what is due.
const PERIOD: Duration = Duration::from_secs(1);
/// The most Events in one period.
const MOST: usize = 20;
/// How long one may take to be sent.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many are on their way at once.
const AT_ONCE: usize = 4;

/// Where transitions are told to, and sent from.
pub struct Sender {
    book: Mutex<Book>,
    metrics: Arc<Metrics>,
    clock: Arc<dyn Clock>,
    instance: String,
}

impl Sender {
    /// Nothing is to be told yet. `instance` is who tells it.
    pub(crate) fn new(metrics: Arc<Metrics>, clock: Arc<dyn Clock>, instance: &str) -> Self {
        Self {
            book: Mutex::default(),
            metrics,
            clock,
            instance: instance.to_owned(),
        }
    }

    /// Takes something in; returns at once.
    pub fn tell(&self, about: &About, subject: Subject) {
        self.book().add(about, subject);
    }

    /// Sends what is due, for as long as the term lasts.
    pub async fn run(&self, client: &Client, term: &LeaseTerm) {
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => self.send_due(client, term).await,
                () = term.lost() => return,
            }
        }
    }

    async fn send_due(&self, client: &Client, term: &LeaseTerm) {
        let (notes, dropped) = {
            let mut book = self.book();
            (book.due(MOST, self.clock.now()), book.dropped())
        };
        self.metrics.event(EventResult::Dropped, dropped);
        futures::stream::iter(notes)
            .for_each_concurrent(AT_ONCE, |note| self.send(client, term, note))
            .await;
    }

    /// One try: an Event that can't be sent is not worth a second request.
    async fn send(&self, client: &Client, term: &LeaseTerm, note: Note) {
        if !term.holds_for(PATIENCE) {
            self.metrics.event(EventResult::Dropped, 1);
            return;
        }
        let events: Api<Event> = Api::namespaced(client.clone(), &note.about.namespace);
        let event = event(&note, &self.instance, self.clock.wall());
        let parameters = PostParams::default();
        let result = match tokio::time::timeout(PATIENCE, events.create(&parameters, &event)).await {
            Ok(Ok(_)) => EventResult::Sent,
            // Told already, by whoever led before.
            Ok(Err(kube::Error::Api(status))) if status.is_already_exists() => EventResult::Sent,
            Ok(Err(error)) => {
                debug!(flow = %note.about.name, %error, "cannot send an event");
                EventResult::Failed
            }
            Err(_) => EventResult::Failed,
        };
        self.metrics.event(result, 1);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
