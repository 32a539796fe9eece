//! The flows that are measured. All their Jobs are made from one template, of one small pod.

use serde_json::{Value, json};

/// The name of the template.
const TEMPLATE: &str = "task";

/// The template.
pub(crate) fn template() -> Value {
    let containers = json!([{"name": "main", "image": "busybox:1.36", "command": ["true"]}]);
    json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": {"name": TEMPLATE},
        "spec": {"schedulerName": "volcano", "minAvailable": 1, "queue": "default", "tasks": [{
            "name": "main", "replicas": 1,
            "template": {"spec": {"restartPolicy": "Never", "containers": containers}},
        }]},
    })
}

/// A flow of these entries.
pub(crate) fn flow(name: &str, entries: Vec<Value>) -> Value {
    json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": name},
        "spec": {"flows": entries},
    })
}

/// Each entry waits for the one before.
pub(crate) fn chain(length: usize) -> Vec<Value> {
    let entry = |at: usize| match at.checked_sub(1) {
        None => json!({"name": entry_name(at), "template": TEMPLATE}),
        Some(before) => json!({
            "name": entry_name(at), "template": TEMPLATE, "dependsOn": {"targets": [entry_name(before)]},
        }),
    };
    (0..length).map(entry).collect()
}

/// Nothing waits for anything.
pub(crate) fn side_by_side(width: usize) -> Vec<Value> {
    let entry = |at: usize| json!({"name": entry_name(at), "template": TEMPLATE});
    (0..width).map(entry).collect()
}

/// The name of an entry, by its position.
pub(crate) fn entry_name(at: usize) -> String {
    format!("e{at}")
}
