mod apply;
mod laws;
mod lists;
mod maps;
mod paths;
mod tags;

use serde_json::{Value, json};

use super::*;

fn map(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

/// Merges a pod's spec.
#[track_caller]
fn check(original: Value, patch: Value, expected: Value) {
    let merged = merge(Kind::PodSpec, &map(original), &map(patch));
    assert_eq!(merged.map(Value::Object), Ok(expected));
}

/// What is wrong with a patch of a pod's spec.
fn wrong(original: Value, patch: Value) -> Vec<String> {
    let merged = merge(Kind::PodSpec, &map(original), &map(patch));
    merged.unwrap_err().iter().map(ToString::to_string).collect()
}

/// A pod with one container that has these fields too.
fn pod(container: Value) -> Value {
    let mut main = json!({ "name": "main" });
    if let (Some(main), Value::Object(more)) = (main.as_object_mut(), container) {
        main.extend(more);
    }
    json!({ "containers": [main] })
}
