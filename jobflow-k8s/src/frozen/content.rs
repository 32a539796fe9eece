//! What of a template reaches Jobs, and its hash: the same however a server orders the fields.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::names;
use crate::types::{JobTemplate, JobTemplateSpec};

type Map = BTreeMap<String, String>;

/// Bytes of the hash in a name.
const HASH_BYTES: usize = 10;

/// What of a template reaches Jobs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Content<'a> {
    pub(super) name: String,
    pub(super) labels: Map,
    pub(super) annotations: Map,
    spec: &'a JobTemplateSpec,
}

impl<'a> Content<'a> {
    /// Of a template that isn't frozen yet.
    pub(super) fn of_template(template: &'a JobTemplate) -> Self {
        Self::named(template, template.metadata.name.clone().unwrap_or_default())
    }

    /// Of a frozen one. Whatever belongs to us is no content.
    pub(super) fn of_frozen(frozen: &'a JobTemplate) -> Self {
        let annotations = frozen.metadata.annotations.as_ref();
        let name = annotations.and_then(|annotations| annotations.get(names::FROZEN));
        Self::named(frozen, name.cloned().unwrap_or_default())
    }

    fn named(template: &'a JobTemplate, name: String) -> Self {
        let copied = |map: Option<&Map>| -> Map {
            let entries = map.into_iter().flatten().filter(|(key, _)| names::is_copied(key));
            entries.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        Self {
            name,
            labels: copied(template.metadata.labels.as_ref()),
            annotations: copied(template.metadata.annotations.as_ref()),
            spec: &template.spec,
        }
    }

    /// The hash for the flow with this UID, in hexadecimal.
    pub(super) fn hash(&self, uid: &str) -> String {
        let mut hasher = Sha256::new();
        text(&mut hasher, uid);
        text(&mut hasher, &self.name);
        for map in [&self.labels, &self.annotations] {
            hasher.update((map.len() as u64).to_be_bytes());
            for (key, value) in map {
                text(&mut hasher, key);
                text(&mut hasher, value);
            }
        }
        fields(&mut hasher, self.spec.0.iter());
        let digest = hasher.finalize();
        digest
            .iter()
            .take(HASH_BYTES)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Adds a value; each part begins with its kind and length, so that no two values look alike.
fn add(hasher: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hasher.update(b"n"),
        Value::Bool(value) => hasher.update([b'b', u8::from(*value)]),
        Value::Number(number) => {
            hasher.update(b"d");
            text(hasher, &number.to_string());
        }
        Value::String(value) => {
            hasher.update(b"s");
            text(hasher, value);
        }
        Value::Array(elements) => {
            hasher.update(b"a");
            hasher.update((elements.len() as u64).to_be_bytes());
            elements.iter().for_each(|element| add(hasher, element));
        }
        Value::Object(map) => {
            hasher.update(b"o");
            fields(hasher, map.iter());
        }
    }
}

fn fields<'a>(hasher: &mut Sha256, fields: impl Iterator<Item = (&'a String, &'a Value)>) {
    let sorted: BTreeMap<_, _> = fields.collect();
    hasher.update((sorted.len() as u64).to_be_bytes());
    for (name, value) in sorted {
        text(hasher, name);
        add(hasher, value);
    }
}

fn text(hasher: &mut Sha256, text: &str) {
    hasher.update((text.len() as u64).to_be_bytes());
    hasher.update(text.as_bytes());
}
