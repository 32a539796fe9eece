//! What is stored: objects by key, each version of each, and every change in order.
//!
//! Deliberately absent: rules of what may be written, which the verbs have.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use super::kind::{Kind, kind};
use super::object;
use super::replica::Replica;

/// Where an object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its namespace; empty for kinds of the whole cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Key {
    /// The object of this plural and name in the namespace `default`.
    #[must_use]
    pub fn of(plural: &str, name: &str) -> Self {
        Self::within(plural, "default", name)
    }

    /// The object of this plural and name in a namespace, if its kind has namespaces.
    #[must_use]
    pub fn within(plural: &str, namespace: &str, name: &str) -> Self {
        let kind = kind(plural);
        let namespace = if kind.namespaced { namespace } else { "" };
        Self {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It was created.
    Added,
    /// It was changed.
    Modified,
    /// It is gone.
    Deleted,
}

/// One change of one object.
#[derive(Clone, Debug)]
pub struct Change {
    /// The version of the store that it made.
    pub version: u64,
    /// What happened.
    pub what: What,
    /// Which object.
    pub key: Key,
    /// The object after it; of one that is gone, as it was last.
    pub object: Arc<Value>,
    /// The object before it.
    pub before: Option<Arc<Value>>,
    /// When.
    pub at: Instant,
}

/// All objects, now and at every version since.
#[derive(Debug)]
pub struct Store {
    version: u64,
    oldest: u64,
    objects: BTreeMap<Key, Arc<Value>>,
    changes: BTreeMap<&'static Kind, Vec<Change>>,
    uids: u64,
    /// What watches and reads that need not be fresh are served from.
    pub(super) replicas: Vec<Replica>,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            version: 1,
            oldest: 1,
            objects: BTreeMap::new(),
            changes: BTreeMap::new(),
            uids: 0,
            replicas: vec![Replica::default()],
        }
    }
}

impl Store {
    /// The version of the latest change.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The oldest version from which changes are still told.
    #[must_use]
    pub const fn oldest(&self) -> u64 {
        self.oldest
    }

    /// Forgets what was before the latest version.
    pub const fn compact(&mut self) {
        self.oldest = self.version;
    }

    /// An object as it is.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// All objects of a kind as they are.
    pub fn of_kind<'a>(&'a self, kind: &'a Kind) -> impl Iterator<Item = (&'a Key, &'a Arc<Value>)> {
        self.objects.iter().filter(move |(key, _)| key.kind == kind)
    }

    /// All objects.
    pub fn all(&self) -> impl Iterator<Item = (&Key, &Arc<Value>)> {
        self.objects.iter()
    }

    /// The changes of a kind after a version, in order.
    #[must_use]
    pub fn changes_after(&self, kind: &Kind, version: u64) -> &[Change] {
        let all = self.changes.get(kind).map_or(&[][..], Vec::as_slice);
        &all[all.partition_point(|change| change.version <= version)..]
    }

    /// The objects of a kind as they were at a version.
    #[must_use]
    pub fn at(&self, kind: &Kind, version: u64) -> BTreeMap<Key, Arc<Value>> {
        let mut objects = BTreeMap::new();
        let until = self.changes_after(kind, 0).iter();
        for change in until.take_while(|change| change.version <= version) {
            match change.what {
                What::Added | What::Modified => {
                    objects.insert(change.key.clone(), Arc::clone(&change.object));
                }
                What::Deleted => {
                    objects.remove(&change.key);
                }
            }
        }
        objects
    }

    /// A UID that was never given before.
    pub(super) fn next_uid(&mut self) -> String {
        self.uids += 1;
        format!("00000000-0000-4000-8000-{:012x}", self.uids)
    }

    /// Stores an object under the next version.
    pub(super) fn put(&mut self, key: Key, mut object: Value) -> Arc<Value> {
        self.version += 1;
        object::set(
            &mut object,
            "resourceVersion",
            Some(self.version.to_string().into()),
        );
        let object = Arc::new(object);
        let before = self.objects.insert(key.clone(), Arc::clone(&object));
        let what = if before.is_some() {
            What::Modified
        } else {
            What::Added
        };
        self.note(what, key, Arc::clone(&object), before);
        object
    }

    /// Takes an object away under the next version.
    pub(super) fn remove(&mut self, key: &Key) {
        let Some(before) = self.objects.remove(key) else {
            return;
        };
        self.version += 1;
        let mut last = Value::clone(&before);
        object::set(
            &mut last,
            "resourceVersion",
            Some(self.version.to_string().into()),
        );
        self.note(What::Deleted, key.clone(), Arc::new(last), Some(before));
    }

    fn note(&mut self, what: What, key: Key, object: Arc<Value>, before: Option<Arc<Value>>) {
        let (version, at) = (self.version, Instant::now());
        for replica in &mut self.replicas {
            replica.hear(key.kind, version, at);
        }
        let change = Change {
            version,
            what,
            object,
            before,
            at,
            key,
        };
        self.changes.entry(change.key.kind).or_default().push(change);
    }
}
