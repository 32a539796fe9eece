//! One object of a text, with its places.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::outline::Outline;
use super::placeholder;
use crate::fault::{Fault, FieldPath, Place, Segment};

/// One object of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The name of the text.
    pub source: Arc<str>,
    /// The whole text that it comes from.
    pub text: Arc<str>,
    /// Its number in the text, counted from 0.
    pub index: usize,
    /// Its value, in the order of its author.
    pub value: Value,
    /// Where each part of it stands.
    pub outline: Outline,
}

/// What an object is called: two with the same key are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// `apiVersion` without its version.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace, if one is named.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl Document {
    pub(super) fn new(
        source: Arc<str>,
        text: Arc<str>,
        index: usize,
        value: Value,
        outline: Outline,
    ) -> Self {
        Self {
            source,
            text,
            index,
            value,
            outline,
        }
    }

    /// The kind, if it says one.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.value.get("kind").and_then(Value::as_str)
    }

    /// The group and version, if it says them.
    #[must_use]
    pub fn api_version(&self) -> Option<&str> {
        self.value.get("apiVersion").and_then(Value::as_str)
    }

    /// The name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.value.get("metadata")?.get("name").and_then(Value::as_str)
    }

    /// What the object is called; none for one without kind or name.
    #[must_use]
    pub fn key(&self) -> Option<ObjectKey> {
        let version = self.api_version().unwrap_or_default();
        let namespace = self
            .value
            .get("metadata")?
            .get("namespace")
            .and_then(Value::as_str);
        Some(ObjectKey {
            group: version.rsplit_once('/').map_or("", |(group, _)| group).to_owned(),
            kind: self.kind()?.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: self.name()?.to_owned(),
        })
    }

    /// Where the value at `path` stands.
    #[must_use]
    pub fn place(&self, path: &FieldPath) -> Option<Place> {
        let position = self.outline.position(path)?;
        Some(Place {
            source: Arc::clone(&self.source),
            position,
        })
    }

    /// A fault of this document, with its place.
    #[must_use]
    pub fn with_place(&self, mut fault: Fault) -> Fault {
        fault.place = fault.place.or_else(|| self.place(&fault.path));
        fault
    }

    /// The line of the text at a place, counted from 1.
    #[must_use]
    pub fn line(&self, line: u32) -> Option<&str> {
        self.text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)
    }

    /// Faults of placeholders of other template languages: the text has to be rendered first.
    ///
    /// Texts of blocks, commands, arguments and environment variables may hold them, but for those that only Helm
    /// knows.
    #[must_use]
    pub fn unrendered(&self) -> Vec<Fault> {
        let found = placeholder::in_value(&self.value, &self.outline);
        found
            .into_iter()
            .map(|(path, dialect)| self.with_place(dialect.fault(path)))
            .collect()
    }

    /// Adds this document, or the items of it if it is a `List`.
    pub(super) fn flatten_into(self, documents: &mut Vec<Self>) {
        let is_list = self.api_version() == Some("v1") && self.kind() == Some("List");
        let items = self.value.get("items").and_then(Value::as_array);
        let Some(items) = items.filter(|_| is_list) else {
            documents.push(self);
            return;
        };
        for (at, item) in items.iter().enumerate().filter(|(_, item)| !item.is_null()) {
            let mut path = FieldPath::root().field("items");
            path.push(Segment::Index(at));
            documents.push(Self {
                source: Arc::clone(&self.source),
                text: Arc::clone(&self.text),
                index: documents.len(),
                value: item.clone(),
                outline: self.outline.inner(&path),
            });
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}
