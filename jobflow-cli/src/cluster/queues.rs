//! Which queues the jobs of a flow go to: by patch, inline spec, template, the flow's own word, in this order.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_k8s::types::{Entry, JobFlowSpec};
use serde_json::Value;

use crate::standing::stored::entries;

/// What a Job without a word about it gets.
const DEFAULT: &str = "default";

/// The queues of a flow; `templates` holds those of templates that name one.
pub(crate) fn queues(spec: &JobFlowSpec, templates: &BTreeMap<String, String>) -> BTreeSet<String> {
    let with_jobs = entries(spec).filter(|entry| entry.switch.is_none() && entry.flow.is_none());
    with_jobs.map(|entry| queue(entry, spec, templates)).collect()
}

/// The queue of an entry's Job.
pub(crate) fn queue(entry: &Entry, spec: &JobFlowSpec, templates: &BTreeMap<String, String>) -> String {
    let named =
        |spec: &serde_json::Map<String, Value>| spec.get("queue").and_then(Value::as_str).map(str::to_owned);
    let patched = entry.patch.as_ref().and_then(|patch| patch.job_spec.as_ref());
    let own = match &entry.job_spec {
        Some(inline) => named(inline),
        None => templates
            .get(entry.template.as_ref().unwrap_or(&entry.name))
            .cloned(),
    };
    patched
        .and_then(|patch| named(patch))
        // Volcano's definition writes `default` into every template: there it says nothing.
        .or_else(|| own.filter(|queue| queue != DEFAULT))
        .or_else(|| spec.queue.clone())
        .unwrap_or_else(|| DEFAULT.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_nearest_word_about_a_queue_counts() {
        let spec: JobFlowSpec = serde_json::from_value(json!({ "queue": "flows", "flows": [
            { "name": "plain" },
            { "name": "templated", "template": "gpu" },
            { "name": "written", "jobSpec": { "queue": "inline" } },
            { "name": "patched", "template": "gpu", "patch": { "jobSpec": { "queue": "patch" } } },
        ] }))
        .unwrap();
        let templates =
            [("gpu", "gpus"), ("plain", "default")].map(|(name, queue)| (name.to_owned(), queue.to_owned()));
        let found: Vec<String> = queues(&spec, &templates.into()).into_iter().collect();
        assert_eq!(found, ["flows", "gpus", "inline", "patch"]);
        assert_eq!(
            queues(&JobFlowSpec { queue: None, ..spec }, &BTreeMap::new())
                .first()
                .map(String::as_str),
            Some("default")
        );
    }
}
