//! Sends notes, from a task of its own, while we lead.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::events::v1::Event;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio_util::sync::CancellationToken;
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
/// How long what is still in the book is sent for, once nothing more comes.
const LAST_WORDS: Duration = Duration::from_secs(5);

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

    /// Sends what is due, for as long as the term lasts. When `end` comes nothing more is told: what is still in the
    /// book is sent for a few seconds, and the rest is dropped.
    pub async fn run(&self, client: &Client, term: &LeaseTerm, end: &CancellationToken) {
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = term.lost() => return,
                () = end.cancelled() => break,
                _ = ticks.tick() => {
                    self.send_due(client, term).await;
                }
            }
        }
        let rest = async { while self.send_due(client, term).await > 0 {} };
        let _ = tokio::time::timeout(LAST_WORDS, rest).await;
    }

    /// How many were due.
    async fn send_due(&self, client: &Client, term: &LeaseTerm) -> usize {
        let (notes, dropped) = {
            let mut book = self.book();
            (book.due(MOST, self.clock.now()), book.dropped())
        };
        self.metrics.event(EventResult::Dropped, dropped);
        let due = notes.len();
        futures::stream::iter(notes)
            .for_each_concurrent(AT_ONCE, |note| self.send(client, term, note))
            .await;
        due
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

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use kube::client::Body;

    use super::*;
    use crate::clock::SystemClock;

    /// A sender with so many notes in its book, each of a flow of its own, and what a server hears of them.
    struct Scene {
        sender: Sender,
        term: LeaseTerm,
        end: CancellationToken,
        heard: Arc<Mutex<usize>>,
    }

    impl Scene {
        fn new(notes: usize) -> Self {
            let clock: Arc<dyn Clock> = Arc::new(SystemClock);
            let sender = Sender::new(Arc::new(Metrics::new()), Arc::clone(&clock), "controller");
            for flow in 0..notes {
                let about = About {
                    namespace: "default".to_owned(),
                    name: format!("flow-{flow}"),
                    uid: format!("uid-{flow}"),
                };
                let subject = Subject {
                    reason: "FlowSucceeded",
                    because: None,
                    warning: false,
                    node: None,
                    message: None,
                };
                sender.tell(&about, subject);
            }
            Self {
                sender,
                term: LeaseTerm::unlimited(clock),
                end: CancellationToken::new(),
                heard: Arc::default(),
            }
        }

        /// A server that hears of an Event, and answers after that long.
        fn client(&self, answers_after: Duration) -> Client {
            let heard = Arc::clone(&self.heard);
            let service = tower::service_fn(move |request: Request<Body>| {
                let heard = Arc::clone(&heard);
                async move {
                    assert!(request.uri().path().ends_with("/events"), "{}", request.uri());
                    *heard.lock().unwrap() += 1;
                    tokio::time::sleep(answers_after).await;
                    let event = Body::from(br#"{"metadata": {}, "eventTime": null}"#.to_vec());
                    Ok::<_, std::convert::Infallible>(Response::builder().status(201).body(event).unwrap())
                }
            });
            Client::new(service, "default")
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_in_the_book_at_the_end_is_sent() {
        let scene = Scene::new(3 * MOST);
        scene.end.cancel();
        let client = scene.client(Duration::from_millis(5));
        scene.sender.run(&client, &scene.term, &scene.end).await;
        assert_eq!(*scene.heard.lock().unwrap(), 3 * MOST);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_nobody_for_long() {
        let scene = Scene::new(3 * MOST);
        scene.end.cancel();
        let client = scene.client(Duration::from_secs(3_600));
        let began = tokio::time::Instant::now();
        scene.sender.run(&client, &scene.term, &scene.end).await;
        assert!(began.elapsed() <= LAST_WORDS, "{:?}", began.elapsed());
        assert_eq!(*scene.heard.lock().unwrap(), AT_ONCE);
    }
}
