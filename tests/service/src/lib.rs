//! A Kubernetes API server in the test's own process, as a `tower` service for [`kube::Client`].
//!
//! Comes in: requests of clients, what a test does to objects itself, and what is to befall requests. Goes out: answers
//! as a Kubernetes 1.36 server gives them, watches that go on, and a log. Time is tokio's: under a paused clock the
//! same test runs the same way each time. Deliberately absent: rights, defaults, formats other than JSON, and whoever
//! acts on what is stored (a garbage collector runs when a test calls it).

mod call;
mod clock;
mod collect;
mod create;
mod delete;
mod discovery;
mod fault;
mod handle;
mod kind;
mod log;
mod news;
pub mod object;
mod patch;
mod read;
mod refusal;
mod replace;
mod replica;
mod schema;
mod select;
mod state;
mod store;
pub mod volcano;
mod watch;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};

use news::News;

pub use call::{Call, Verb};
pub use clock::{Clock, stamp};
pub use fault::{Fault, Faults, Rule};
pub use kind::{KINDS, Kind, kind};
pub use log::Entry;
pub use news::Listener;
pub use refusal::Refusal;
pub use replace::Part;
pub use replica::Replica;
pub use schema::{Schemas, Served};
pub use select::Selector;
pub use state::State;
pub use store::{Change, Key, Store, What};
pub use watch::Cut;

/// The service; a clone is the same one.
#[derive(Clone)]
pub struct Service {
    state: Arc<Mutex<State>>,
    news: News,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

impl Default for Service {
    fn default() -> Self {
        Self::new()
    }
}

impl Service {
    /// A service that stores nothing but the namespace `default`.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Arc::new(Mutex::new(State::new())),
            news: News::default(),
        }
    }

    /// A client of the first API server; the log calls it `who`.
    #[must_use]
    pub fn client(&self, who: &str) -> Client {
        self.client_of(who, 0)
    }

    /// A client of one API server of several, each with a cache of its own.
    #[must_use]
    pub fn client_of(&self, who: &str, replica: usize) -> Client {
        self.act(|state| {
            let replicas = &mut state.store.replicas;
            let fresh = replicas[0].clone();
            replicas.resize(replicas.len().max(replica + 1), fresh);
        });
        let (service, who) = (self.clone(), who.to_owned());
        let answer = move |request| handle::answer(service.clone(), who.clone(), replica, request);
        Client::new(tower::service_fn(answer), "default")
    }

    /// Looks at everything, or changes it as nobody could from outside; watches hear of it.
    pub fn act<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let done = act(&mut self.lock());
        self.news.tell();
        done
    }

    /// An object as it is.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Value> {
        self.lock().store.get(key).map(|object| Value::clone(object))
    }

    /// All objects of a plural as they are, by namespace and name.
    #[must_use]
    pub fn all(&self, plural: &str) -> Vec<Value> {
        let state = self.lock();
        let all = state.store.of_kind(kind(plural));
        all.map(|(_, object)| Value::clone(object)).collect()
    }

    /// Somebody creates an object, in the namespace that it names or in `default`.
    ///
    /// # Errors
    ///
    /// What the server would refuse it with.
    ///
    /// # Panics
    ///
    /// If the service has no such kind.
    pub fn create(&self, object: Value) -> Result<Value, Refusal> {
        let known =
            |known: &&Kind| object["kind"] == known.kind && object["apiVersion"] == known.api_version();
        let kind = KINDS.iter().find(known);
        let kind = kind.expect("the service knows the kinds that tests use");
        let namespace = match object["metadata"]["namespace"].as_str() {
            _ if !kind.namespaced => String::new(),
            Some(namespace) => namespace.to_owned(),
            None => "default".to_owned(),
        };
        self.act(|state| create::create(state, kind, &namespace, object))
    }

    /// Somebody merges fields into a part of an object.
    ///
    /// # Errors
    ///
    /// What the server would refuse it with.
    pub fn merge(&self, key: &Key, part: Part, fields: Value) -> Result<Value, Refusal> {
        self.act(|state| patch::patch(state, key, part, "application/merge-patch+json", fields))
    }

    /// Somebody replaces a part of an object.
    ///
    /// # Errors
    ///
    /// What the server would refuse it with.
    pub fn replace(&self, key: &Key, part: Part, object: Value) -> Result<Value, Refusal> {
        self.act(|state| replace::replace(state, key, part, object))
    }

    /// Somebody deletes an object, with this propagation policy.
    ///
    /// # Errors
    ///
    /// What the server would refuse it with.
    pub fn delete(&self, key: &Key, policy: &str) -> Result<Value, Refusal> {
        self.act(|state| delete::delete(state, key, &json!({ "propagationPolicy": policy })))
    }

    /// Lets the garbage collector do all that it has to do.
    pub fn collect_garbage(&self) {
        self.act(collect::collect_garbage);
    }

    /// Whoever is in charge of an object writes its status.
    ///
    /// # Errors
    ///
    /// What the server would refuse it with.
    pub fn put_status(&self, key: &Key, status: Value) -> Result<Value, Refusal> {
        let mut object = self
            .get(key)
            .ok_or_else(|| Refusal::not_found(key.kind, &key.name))?;
        object["status"] = status;
        self.replace(key, Part::Status, object)
    }

    /// Somebody puts definitions of JobFlow and JobTemplate in the place of those that are there.
    pub fn serve(&self, served: Served) {
        self.act(|state| state.schemas.served = served);
        for plural in ["jobflows", "jobtemplates"] {
            self.cut(plural, Cut::Closed);
        }
    }

    /// Stores an object as it is, against all rules.
    pub fn put(&self, object: Value) {
        self.act(|state| state.put(object));
    }

    /// Adds to what is to befall requests.
    pub fn strike(&self, rule: Rule) {
        self.act(|state| state.faults.add(rule));
    }

    /// From now on the first API server's cache is that late with objects of a plural.
    pub fn lag(&self, plural: &str, lag: Duration) {
        self.act(|state| state.store.replicas[0].lags(kind(plural), lag));
    }

    /// The caches of all API servers have all of a plural, and are not late with it any more.
    pub fn catch_up(&self, plural: &str) {
        self.act(|state| {
            let replicas = state.store.replicas.iter_mut();
            replicas.for_each(|replica| replica.catches_up(kind(plural)));
        });
    }

    /// Ends all watches of a plural.
    pub fn cut(&self, plural: &str, cut: Cut) {
        self.act(|state| {
            let entry = state.cuts.entry(kind(plural)).or_insert((0, cut));
            *entry = (entry.0 + 1, cut);
        });
    }

    /// Forgets what was before now: watches that are behind have to list again.
    pub fn compact(&self) {
        self.act(|state| state.store.compact());
    }

    /// What was asked and answered so far.
    #[must_use]
    pub fn log(&self) -> Vec<Entry> {
        self.lock().log.clone()
    }

    /// How many requests with this verb on objects of this plural were carried out.
    #[must_use]
    pub fn count(&self, verb: Verb, plural: &str) -> usize {
        let state = self.lock();
        let done = state
            .log
            .iter()
            .filter(|entry| entry.is(verb, plural) && entry.carried_out);
        done.count()
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.lock().clock
    }

    /// Hears of every change of anything.
    #[must_use]
    pub fn news(&self) -> Listener {
        self.news.listen()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding it")
    }
}
