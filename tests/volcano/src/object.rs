//! Pods as objects. In: a template, which pod it is and what is made of it. Out: JSON as a node would leave it.

use std::net::Ipv4Addr;

use jobflow_core::gang::{PodPhase, PodView};
use serde_json::{Map, Value, json};

/// The name of the node that all pods are on; it isn't there.
const NODE: &str = "made-up";

/// Which pod of which Job.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) namespace: String,
    pub(crate) job: String,
    pub(crate) uid: String,
    pub(crate) queue: String,
    pub(crate) task: String,
    pub(crate) index: u32,
    pub(crate) version: u32,
    pub(crate) retry_count: u32,
}

impl Place {
    /// `<job>-<task>-<index>`.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}-{}", self.job, self.task, self.index)
    }

    /// The pod to create.
    pub(crate) fn pod(&self, template: &Value) -> Value {
        let mut spec = template["spec"].clone();
        spec["nodeName"] = NODE.into();
        let owner = json!({
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "name": self.job,
            "uid": self.uid,
            "controller": true,
            "blockOwnerDeletion": true,
        });
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": self.name(),
                "namespace": self.namespace,
                "labels": with(&template["metadata"]["labels"], self.labels()),
                "annotations": with(&template["metadata"]["annotations"], self.annotations()),
                "ownerReferences": [owner],
            },
            "spec": spec,
        })
    }

    fn labels(&self) -> Value {
        json!({
            "volcano.sh/job-name": self.job,
            "volcano.sh/job-namespace": self.namespace,
            "volcano.sh/queue-name": self.queue,
            "volcano.sh/task-index": self.index.to_string(),
            "volcano.sh/task-spec": self.task,
        })
    }

    fn annotations(&self) -> Value {
        json!({
            "volcano.sh/job-name": self.job,
            "volcano.sh/job-retry-count": self.retry_count.to_string(),
            "volcano.sh/job-version": self.version.to_string(),
            "volcano.sh/queue-name": self.queue,
            "volcano.sh/task-index": self.index.to_string(),
            "volcano.sh/task-spec": self.task,
            "volcano.sh/template-uid": format!("{}-{}", self.job, self.task),
        })
    }
}

fn with(own: &Value, more: Value) -> Value {
    let mut all: Map<String, Value> = own.as_object().cloned().unwrap_or_default();
    all.extend(more.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}

/// What stands in the status of a pod.
pub(crate) fn status(view: &PodView, template: &Value, address: Ipv4Addr, at: &str) -> Value {
    let names = template["spec"]["containers"].as_array().into_iter().flatten();
    let containers = (0..)
        .zip(names)
        .map(|(place, container)| self::container(view, container, place, at));
    let condition = |kind: &str, holds: bool| {
        let holds = if holds { "True" } else { "False" };
        json!({ "type": kind, "status": holds, "lastTransitionTime": at })
    };
    let scheduled = condition("PodScheduled", true);
    if view.phase == PodPhase::Pending {
        return json!({ "phase": "Pending", "conditions": [scheduled] });
    }
    json!({
        "phase": view.phase.as_str(),
        "reason": view.reason,
        "podIP": address,
        "podIPs": [{ "ip": address }],
        "startTime": at,
        "conditions": [
            condition("Initialized", true),
            condition("Ready", view.ready),
            condition("ContainersReady", view.ready),
            scheduled,
        ],
        "containerStatuses": containers.collect::<Vec<_>>(),
    })
}

/// Exit codes of init containers, if there are any, stand before those of the others.
fn container(view: &PodView, container: &Value, place: usize, at: &str) -> Value {
    let state = match view.exit_codes.get(place) {
        Some(code) if view.phase.is_ended() => {
            let reason = if *code == 0 { "Completed" } else { "Error" };
            json!({ "terminated": { "exitCode": code, "reason": reason, "startedAt": at, "finishedAt": at } })
        }
        Some(_) | None if view.phase.is_ended() => json!({ "waiting": { "reason": "PodInitializing" } }),
        Some(_) | None => json!({ "running": { "startedAt": at } }),
    };
    json!({
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": view.ready,
        "started": view.ready,
        "restartCount": view.restarts,
        "lastState": {},
        "state": state,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            namespace: "here".to_owned(),
            job: "flow-a".to_owned(),
            uid: "u".to_owned(),
            queue: "default".to_owned(),
            task: "main".to_owned(),
            index: 2,
            version: 1,
            retry_count: 3,
        }
    }

    #[test]
    fn a_pod_is_named_and_labelled_as_volcano_does() {
        let template = json!({ "metadata": { "labels": { "own": "1" } }, "spec": { "containers": [] } });
        let pod = place().pod(&template);
        assert_eq!(pod["metadata"]["name"], "flow-a-main-2");
        assert_eq!(pod["metadata"]["labels"]["own"], "1");
        assert_eq!(pod["metadata"]["labels"]["volcano.sh/job-name"], "flow-a");
        assert_eq!(pod["metadata"]["annotations"]["volcano.sh/job-retry-count"], "3");
        assert_eq!(pod["metadata"]["ownerReferences"][0]["uid"], "u");
    }

    #[test]
    fn an_exit_code_stands_where_a_node_writes_it() {
        let template = json!({ "spec": { "containers": [{ "name": "main", "image": "busybox" }] } });
        let status = status(
            &PodView::failed(42),
            &template,
            Ipv4Addr::LOCALHOST,
            "2026-01-01T00:00:00Z",
        );
        assert_eq!(status["phase"], "Failed");
        assert_eq!(
            status["containerStatuses"][0]["state"]["terminated"]["exitCode"],
            42
        );
    }
}
