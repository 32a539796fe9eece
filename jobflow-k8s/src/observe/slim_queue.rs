//! A Queue of a watch: its name, and whether it takes jobs.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::ClusterResourceScope;
use serde::Deserialize;

use super::metadata::trimmed;

/// A Volcano Queue as it is watched.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Raw")]
pub struct SlimQueue {
    /// Name, UID, resource version and times.
    pub metadata: ObjectMeta,
    /// Whether it takes jobs. Volcano writes `Open`, and a queue that it hasn't seen yet has no state.
    pub open: bool,
}

#[derive(Deserialize)]
struct Raw {
    metadata: ObjectMeta,
    #[serde(default)]
    status: RawStatus,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawStatus {
    state: Option<String>,
}

impl From<Raw> for SlimQueue {
    fn from(Raw { metadata, status }: Raw) -> Self {
        Self {
            metadata: trimmed(metadata, |_| false),
            open: !matches!(status.state.as_deref(), Some("Closed" | "Closing")),
        }
    }
}

impl Resource for SlimQueue {
    type DynamicType = ();
    type Scope = ClusterResourceScope;

    fn kind(&(): &()) -> Cow<'_, str> {
        "Queue".into()
    }

    fn group(&(): &()) -> Cow<'_, str> {
        "scheduling.volcano.sh".into()
    }

    fn version(&(): &()) -> Cow<'_, str> {
        "v1beta1".into()
    }

    fn plural(&(): &()) -> Cow<'_, str> {
        "queues".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_queue_takes_jobs_unless_it_is_closed_or_being_closed() {
        let open = |status: serde_json::Value| {
            let queue: SlimQueue = serde_json::from_value(json!({
                "metadata": { "name": "gpu" }, "spec": { "weight": 1 }, "status": status,
            }))
            .unwrap();
            queue.open
        };
        assert!(open(json!({ "state": "Open", "running": 3 })) && open(json!({})));
        assert!(!open(json!({ "state": "Closed" })) && !open(json!({ "state": "Closing" })));
    }
}
