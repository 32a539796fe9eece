//! A patch that tells Kubernetes what ours implies: of a union, members that the patch doesn't set are dropped.

use jobflow_k8s::patch::{Kind, Lists, field, is_member};
use serde_json::{Map, Value};

/// The patch with a null for every member of a union that is to go.
pub(crate) fn with_nulls(original: &Value, patch: &Value) -> Value {
    let mut patch = patch.clone();
    if let (Some(original), Some(patch)) = (original.as_object(), patch.as_object_mut()) {
        in_map(Kind::PodTemplate, original, patch);
    }
    patch
}

fn in_map(kind: Kind, original: &Map<String, Value>, patch: &mut Map<String, Value>) {
    if patch.contains_key("$patch") {
        return;
    }
    let sets = patch
        .iter()
        .any(|(name, value)| !name.starts_with('$') && is_member(kind, name) && !value.is_null());
    if sets {
        for name in original.keys().filter(|name| is_member(kind, name)) {
            patch.entry(name.clone()).or_insert(Value::Null);
        }
    }
    for (name, value) in patch.iter_mut() {
        let Some(before) = original.get(name) else {
            continue;
        };
        let found = field(kind, name);
        match (found.lists, before, value) {
            (_, Value::Object(before), Value::Object(after)) => in_map(found.inner, before, after),
            (Lists::Keyed(key), Value::Array(before), Value::Array(after)) => {
                for element in after.iter_mut().filter_map(Value::as_object_mut) {
                    let same = |other: &&Value| other.get(key) == element.get(key);
                    if let Some(Value::Object(before)) = before.iter().find(same) {
                        in_map(found.inner, before, element);
                    }
                }
            }
            _ => {}
        }
    }
}
