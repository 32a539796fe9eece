//! Everything that the service holds, behind one lock.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::clock::Clock;
use super::fault::Faults;
use super::kind::Kind;
use super::log::Entry;
use super::refusal::Refusal;
use super::schema::Schemas;
use super::store::{Key, Store};
use super::watch::Cut;

/// The largest object that the store takes, in bytes.
const LARGEST: usize = 1_572_864;

/// The state of the service.
#[derive(Debug)]
pub struct State {
    /// What is stored.
    pub store: Store,
    /// What objects must look like.
    pub schemas: Schemas,
    /// The time.
    pub clock: Clock,
    /// The most objects of a kind in a namespace.
    pub quotas: BTreeMap<(String, &'static Kind), usize>,
    /// Kinds whose definition was taken away.
    pub gone: Vec<&'static Kind>,
    /// Whether a watch can begin with a list; a server that can't reads over the wish.
    pub streams_lists: bool,
    /// What is to befall requests.
    pub faults: Faults,
    /// What was asked and answered.
    pub log: Vec<Entry>,
    /// Watches that were cut off, by kind.
    pub(super) cuts: BTreeMap<&'static Kind, (u64, Cut)>,
}

impl State {
    pub(super) fn new() -> Self {
        let mut state = Self {
            store: Store::default(),
            schemas: Schemas::default(),
            clock: Clock::starting(),
            quotas: BTreeMap::new(),
            gone: Vec::new(),
            streams_lists: true,
            faults: Faults::default(),
            log: Vec::new(),
            cuts: BTreeMap::new(),
        };
        state.put_namespace("default");
        state
    }

    /// Makes a namespace.
    pub fn put_namespace(&mut self, name: &str) {
        let object = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": { "name": name, "uid": self.store.next_uid() },
            "status": { "phase": "Active" },
        });
        self.store.put(Key::within("namespaces", "", name), object);
    }

    /// Stores an object as it is, whatever the rules say of it; a UID and a time of creation are given if it has none.
    ///
    /// # Panics
    ///
    /// If it isn't of a kind that the service has.
    pub fn put(&mut self, mut object: Value) {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let found = super::kind::KINDS
            .iter()
            .find(|known| known.kind == kind && known.api_version() == api_version);
        let kind = found.expect("the service knows the kinds that tests use");
        for (field, value) in [
            ("uid", self.store.next_uid()),
            ("creationTimestamp", self.clock.stamp()),
        ] {
            if super::object::meta(&object, field).is_empty() {
                super::object::set(&mut object, field, Some(value.into()));
            }
        }
        let name = super::object::name(&object).to_owned();
        let namespace = super::object::meta(&object, "namespace").to_owned();
        let key = Key {
            kind,
            namespace,
            name,
        };
        self.store.put(key, object);
    }

    /// The node tells that a pod that was to end has ended: it is gone.
    pub fn end_pod(&mut self, key: &Key) {
        self.store.remove(key);
    }

    /// Whether the store takes an object of that size.
    pub(super) fn check_size(&self, object: &Value) -> Result<(), Refusal> {
        if object.to_string().len() > LARGEST {
            return Err(Refusal::of(
                500,
                "",
                "etcdserver: request is too large",
                Value::Null,
            ));
        }
        Ok(())
    }
}
