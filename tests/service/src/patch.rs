//! PATCH, as a merge patch or a JSON patch, on an object and on its `/status`.
//!
//! Deliberately absent: strategic merges, which no custom resource takes, and server-side apply, which nothing here
//! sends.

use serde_json::Value;

use super::object;
use super::refusal::Refusal;
use super::replace::{Part, write};
use super::state::State;
use super::store::Key;

/// Patches a part of an object; what is answered.
///
/// # Errors
///
/// What the server would refuse it with.
pub(super) fn patch(
    state: &mut State,
    key: &Key,
    part: Part,
    format: &str,
    patch: Value,
) -> Result<Value, Refusal> {
    let missing = || Refusal::not_found(key.kind, &key.name);
    let current = Value::clone(state.store.get(key).ok_or_else(missing)?);
    let mut next = current.clone();
    match format {
        "application/merge-patch+json" => json_patch::merge(&mut next, &patch),
        "application/json-patch+json" => apply(key, &mut next, patch)?,
        _ => return Err(Refusal::unsupported_patch()),
    }
    let version = |object: &Value| object::meta(object, "resourceVersion").to_owned();
    if version(&next) != version(&current) {
        return Err(Refusal::stale(key.kind, &key.name));
    }
    if object::uid(&next) != object::uid(&current) {
        let immutable = format!("Invalid value: \"{}\": field is immutable", object::uid(&next));
        let cause = ("FieldValueInvalid", "metadata.uid".to_owned(), immutable);
        return Err(Refusal::invalid(key.kind, &key.name, &[cause.clone(), cause]));
    }
    write(state, key, part, &current, next)
}

fn apply(key: &Key, object: &mut Value, patch: Value) -> Result<(), Refusal> {
    let operations: json_patch::Patch = serde_json::from_value(patch)
        .map_err(|error| Refusal::bad_request(format!("error decoding patch: {error}")))?;
    json_patch::patch(object, &operations).map_err(|error| {
        let message = format!("the server rejected our request due to an error in our request: {error}");
        let details =
            serde_json::json!({ "name": key.name, "group": key.kind.group, "kind": key.kind.plural });
        Refusal::of(422, "Invalid", message, details)
    })
}
