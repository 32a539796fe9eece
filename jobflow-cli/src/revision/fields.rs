//! The fields in which two values differ.

use serde_json::Value;

/// Their paths, the outermost that have one side only or are no objects or lists of one length on both.
pub(crate) fn fields(old: Option<&Value>, new: Option<&Value>) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(old), Some(new)) = (old, new) {
        compare("", old, new, &mut found);
    }
    found
}

fn compare(path: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(one), Value::Object(other)) => {
            let added = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(added) {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                match (one.get(key), other.get(key)) {
                    (Some(old), Some(new)) => compare(&path, old, new, found),
                    _ => found.push(path),
                }
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (at, (old, new)) in one.iter().zip(other).enumerate() {
                compare(&format!("{path}[{at}]"), old, new, found);
            }
        }
        (old, new) if old != new => found.push(path.to_owned()),
        _ => {}
    }
}
