//! What every object has, read from its data.

use serde_json::{Map, Value, json};

/// The text of a field of `metadata`; empty without.
#[must_use]
pub fn meta<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// Its name.
#[must_use]
pub fn name(object: &Value) -> &str {
    meta(object, "name")
}

/// Its UID.
#[must_use]
pub fn uid(object: &Value) -> &str {
    meta(object, "uid")
}

/// Whether it is being deleted.
#[must_use]
pub fn is_leaving(object: &Value) -> bool {
    !meta(object, "deletionTimestamp").is_empty()
}

/// What holds its deletion back.
#[must_use]
pub fn finalizers(object: &Value) -> Vec<String> {
    let list = object["metadata"]["finalizers"].as_array();
    let texts = list.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// Whether nothing holds its deletion back: no finalizer, and no time that it is given to end.
#[must_use]
pub fn is_free_to_go(object: &Value) -> bool {
    let grace = object["metadata"]["deletionGracePeriodSeconds"].as_i64();
    finalizers(object).is_empty() && grace.unwrap_or(0) == 0
}

/// The UIDs of its owners, with whether each waits for it when it is deleted in the foreground.
#[must_use]
pub fn owners(object: &Value) -> Vec<(String, bool)> {
    let list = object["metadata"]["ownerReferences"].as_array();
    let owner = |owner: &Value| {
        let uid = owner["uid"].as_str().unwrap_or_default().to_owned();
        (uid, owner["blockOwnerDeletion"] == true)
    };
    list.into_iter().flatten().map(owner).collect()
}

/// Its metadata, to be changed.
pub(super) fn metadata(object: &mut Value) -> &mut Map<String, Value> {
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    object["metadata"].as_object_mut().expect("it was just made one")
}

/// Sets a field of `metadata`, or takes it away.
pub(super) fn set(object: &mut Value, field: &str, value: Option<Value>) {
    let metadata = metadata(object);
    match value {
        Some(value) => {
            metadata.insert(field.to_owned(), value);
        }
        None => {
            metadata.shift_remove(field);
        }
    }
}

/// Takes a field of the object over from another one: it is as there, or missing as there.
pub(super) fn take_over(object: &mut Value, field: &str, from: &Value) {
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    match from.get(field) {
        Some(value) => {
            fields.insert(field.to_owned(), value.clone());
        }
        None => {
            fields.shift_remove(field);
        }
    }
}
