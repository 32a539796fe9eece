//! Words of a patch that are no fields: `$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`.
//!
//! And what is left of a patch's value where there is nothing to merge it with: the same that the API server is left
//! with.

use serde_json::{Map, Value};

/// Says that the object, or the list, is replaced or deleted.
pub(super) const PATCH: &str = "$patch";
/// Names the only fields that stay.
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// A word of a patch that is no field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive<'a> {
    /// `$patch`.
    Patch,
    /// `$retainKeys`.
    RetainKeys,
    /// The order of the list in a field.
    Order(&'a str),
    /// Scalars that are taken out of the list in a field.
    DeleteFrom(&'a str),
}

impl<'a> Directive<'a> {
    /// The directive that a key is, if it is one.
    pub(crate) fn of(key: &'a str) -> Option<Self> {
        match key {
            PATCH => Some(Self::Patch),
            RETAIN_KEYS => Some(Self::RetainKeys),
            _ => key
                .strip_prefix(ORDER)
                .map(Self::Order)
                .or_else(|| key.strip_prefix(DELETE_FROM).map(Self::DeleteFrom)),
        }
    }
}

/// The order that a patch wants for the list in a field.
pub(super) fn order_of<'a>(patch: &'a Map<String, Value>, field: &str) -> Option<&'a Value> {
    patch
        .iter()
        .find(|(key, _)| key.strip_prefix(ORDER) == Some(field))
        .map(|(_, order)| order)
}

/// A value of a patch where there was nothing, as it is stored: without nulls, and without whatever has a `$patch`.
pub(super) fn fresh(value: &Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(PATCH) => None,
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter(|(key, value)| !value.is_null() && Directive::of(key).is_none());
            Some(Value::Object(
                kept.filter_map(|(key, value)| Some((key.clone(), fresh(value)?)))
                    .collect(),
            ))
        }
        Value::Array(elements) => Some(elements.iter().filter_map(fresh).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value.clone()),
    }
}

/// A value of a patch that replaces another, as it is stored: without nulls, and without directives.
pub(super) fn stored(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(stored_map(fields)),
        Value::Array(elements) => elements.iter().map(stored).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The same for a map.
pub(super) fn stored_map(fields: &Map<String, Value>) -> Map<String, Value> {
    fields
        .iter()
        .filter(|(key, value)| !value.is_null() && Directive::of(key).is_none())
        .map(|(key, value)| (key.clone(), stored(value)))
        .collect()
}

/// Whether something inside of a value (not the value itself) has a `$patch`.
pub(super) fn has_patch_inside(value: &Value) -> bool {
    let has = |value: &Value| value.get(PATCH).is_some() || has_patch_inside(value);
    match value {
        Value::Object(fields) => fields.values().any(has),
        Value::Array(elements) => elements.iter().any(has),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
