//! What living things say of a flow's nodes beside its record: groups of pods, pods, queues, quotas, events.
//!
//! Comes in: objects as the server shows them. Goes out: notes, the most telling one first. Deliberately absent: asking
//! for them, and any decision.

use std::collections::BTreeMap;

use jobflow_core::record::NodeRecord;
use jobflow_core::{NodePhase, Reason};
use kube::api::DynamicObject;
use serde_json::Value;

use crate::reasons::Note;

/// Notes on one node.
const MOST: usize = 4;

/// What is seen of the Job of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around<'a> {
    /// The Job's queue.
    pub(crate) queue: Option<&'a str>,
    /// That queue; `Some(None)` if there is none of that name, none if nobody looked.
    pub(crate) queue_object: Option<Option<&'a DynamicObject>>,
    /// The Job's group of pods.
    pub(crate) group: Option<&'a DynamicObject>,
    /// Its pods.
    pub(crate) pods: Vec<&'a DynamicObject>,
    /// Events of it and its group, oldest first.
    pub(crate) events: Vec<&'a DynamicObject>,
    /// The quotas of the namespace.
    pub(crate) quotas: &'a [DynamicObject],
}

/// What all of that comes to.
pub(crate) fn notes(name: &str, record: &NodeRecord, around: &Around<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    match record.phase() {
        NodePhase::Submitting => {
            if record.reason == Some(Reason::QuotaExceeded) {
                notes.extend(around.quotas.iter().filter_map(quota));
            }
            if record.reason == Some(Reason::QueueUnavailable) {
                notes.extend(queue(around));
            }
        }
        NodePhase::Queued => {
            notes.extend(queue(around));
            notes.extend(pods(name, around));
            notes.extend(around.group.and_then(|group| gang(name, group)));
            if notes.is_empty() {
                notes.extend(event(around));
            }
        }
        NodePhase::Running => notes.extend(pods(name, around)),
        NodePhase::Waiting
        | NodePhase::Blocked
        | NodePhase::Stopping
        | NodePhase::BackingOff
        | NodePhase::Paused
        | NodePhase::Succeeded
        | NodePhase::Failed
        | NodePhase::Skipped
        | NodePhase::Cancelled => {}
    }
    notes.truncate(MOST);
    notes
}

/// A queue that takes no jobs.
fn queue(around: &Around<'_>) -> Option<Note> {
    let (name, object) = around.queue.zip(around.queue_object)?;
    let release = Some(format!("when the queue `{name}` is there and open"));
    let Some(object) = object else {
        let text = format!("there is no queue `{name}`");
        return Some(Note { text, release });
    };
    let state = text_at(&object.data, "/status/state")?;
    let text = format!("the queue `{name}` is {state}");
    (state != "Open").then_some(Note { text, release })
}

/// What of a quota is used up.
fn quota(object: &DynamicObject) -> Option<Note> {
    let hard = object.data.pointer("/status/hard")?.as_object()?;
    let used = object.data.pointer("/status/used")?.as_object()?;
    let number = |map: &serde_json::Map<String, Value>, what: &str| {
        map.get(what)?.as_str().and_then(|text| text.parse::<u64>().ok())
    };
    let full = hard.keys().filter(|what| {
        let both = number(used, what).zip(number(hard, what));
        both.is_some_and(|(used, hard)| used >= hard)
    });
    let full: Vec<String> = full
        .filter_map(|what| {
            Some(format!(
                "{what} {} of {}",
                number(used, what)?,
                number(hard, what)?
            ))
        })
        .collect();
    let name = object.metadata.name.as_deref().unwrap_or_default();
    (!full.is_empty()).then(|| Note {
        text: format!("the quota `{name}` is used up: {}", full.join(", ")),
        release: Some(format!("when the quota `{name}` has room for its job")),
    })
}

/// Why a gang doesn't get its place.
fn gang(name: &str, group: &DynamicObject) -> Option<Note> {
    let phase = text_at(&group.data, "/status/phase").unwrap_or_default();
    let conditions = group.data.pointer("/status/conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten().rev();
    let holding = conditions.find(|condition| {
        text_at(condition, "/type").is_some_and(|kind| kind == "Unschedulable")
            && text_at(condition, "/status").is_some_and(|status| status == "True")
    });
    let release = Some(format!("when the cluster has room for the pods of {name}"));
    let text = match holding {
        Some(condition) => {
            let parts = ["/reason", "/message"].map(|part| text_at(condition, part).unwrap_or_default());
            let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
            format!(
                "its PodGroup is {}: {}",
                or(phase, "Unschedulable"),
                parts.join(": ")
            )
        }
        None if phase == "Pending" => "its PodGroup is Pending: it is not let into its queue yet".to_owned(),
        None => return None,
    };
    Some(Note { text, release })
}

/// What pods wait for: what several say alike is told once.
fn pods(name: &str, around: &Around<'_>) -> Vec<Note> {
    let mut alike: BTreeMap<(Kind, String), Vec<&str>> = BTreeMap::new();
    for pod in &around.pods {
        if let Some(said) = pod_waits(pod) {
            let pod = pod.metadata.name.as_deref().unwrap_or_default();
            alike.entry(said).or_default().push(pod);
        }
    }
    let note = |((kind, said), pods): ((Kind, String), Vec<&str>)| {
        let who = match pods.as_slice() {
            [pod] => format!("pod {pod}"),
            pods => format!("{} pods", pods.len()),
        };
        Note {
            text: format!("{who}: {said}"),
            release: Some(match kind {
                Kind::Unscheduled => format!("when nodes have room for the pods of {name}"),
                Kind::Image => {
                    "when its image can be pulled: look at its name, and at the rights to pull it".to_owned()
                }
                Kind::Container => format!("when the containers of {name} can start"),
            }),
        }
    };
    alike.into_iter().map(note).collect()
}

/// What kind of thing a pod waits for; the one that has to be mended by somebody first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Image,
    Container,
    Unscheduled,
}

fn pod_waits(pod: &DynamicObject) -> Option<(Kind, String)> {
    let status = pod.data.get("status")?;
    let containers = ["initContainerStatuses", "containerStatuses"]
        .iter()
        .filter_map(|list| status.get(*list)?.as_array())
        .flatten();
    let waiting = containers
        .filter_map(|container| {
            let waiting = container.pointer("/state/waiting")?;
            let reason = text_at(waiting, "/reason")?;
            let name = text_at(container, "/name").unwrap_or_default();
            let message = text_at(waiting, "/message").map_or_else(String::new, |said| format!(": {said}"));
            Some((reason, format!("container {name}: {reason}{message}")))
        })
        .find(|(reason, _)| !matches!(*reason, "ContainerCreating" | "PodInitializing"));
    if let Some((reason, said)) = waiting {
        let kind = if reason.contains("Image") {
            Kind::Image
        } else {
            Kind::Container
        };
        return Some((kind, said));
    }
    let conditions = status.get("conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    let unscheduled = conditions.find(|condition| {
        text_at(condition, "/type").is_some_and(|kind| kind == "PodScheduled")
            && text_at(condition, "/status").is_some_and(|status| status == "False")
    })?;
    let parts = ["/reason", "/message"].map(|part| text_at(unscheduled, part).unwrap_or_default());
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    Some((Kind::Unscheduled, parts.join(": ")))
}

/// The last warning, where nothing else is known.
fn event(around: &Around<'_>) -> Option<Note> {
    let mut events = around.events.iter().rev();
    let last = events.find(|event| text_at(&event.data, "/type").is_some_and(|kind| kind == "Warning"))?;
    let parts = ["/reason", "/message"].map(|part| text_at(&last.data, part).unwrap_or_default());
    Some(Note {
        text: format!("last warning: {}", parts.join(": ")),
        release: None,
    })
}

fn text_at<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path)?.as_str()
}

fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

#[cfg(test)]
mod tests {
    use jobflow_core::node::NodeState;
    use serde_json::json;

    use super::*;

    fn record(phase: NodePhase, reason: Option<Reason>) -> NodeRecord {
        let mut record = NodeRecord::default();
        record.state = NodeState::recorded(phase);
        record.reason = reason;
        record
    }

    fn object(name: &str, status: Value) -> DynamicObject {
        serde_json::from_value(json!({ "metadata": { "name": name }, "status": status })).unwrap()
    }

    fn told(phase: NodePhase, reason: Option<Reason>, around: &Around<'_>) -> Vec<String> {
        let notes = notes("train", &record(phase, reason), around);
        notes.into_iter().map(|note| note.text).collect()
    }

    #[test]
    fn pods_that_say_the_same_are_told_once_and_images_before_room() {
        let unscheduled = json!({ "conditions": [{ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available" }] });
        let image = json!({ "containerStatuses": [{ "name": "main", "state": { "waiting": { "reason": "ImagePullBackOff", "message": "Back-off pulling image \"x\"" } } }] });
        let creating = json!({ "containerStatuses": [{ "name": "main", "state": { "waiting": { "reason": "ContainerCreating" } } }] });
        let pods = [
            object("p-0", unscheduled.clone()),
            object("p-1", unscheduled),
            object("p-2", image),
            object("p-3", creating),
        ];
        let around = Around {
            pods: pods.iter().collect(),
            ..Around::default()
        };
        assert_eq!(
            told(NodePhase::Queued, None, &around),
            [
                "pod p-2: container main: ImagePullBackOff: Back-off pulling image \"x\"",
                "2 pods: Unschedulable: 0/3 nodes are available",
            ]
        );
        assert_eq!(told(NodePhase::Waiting, None, &around), [""; 0]);
    }

    #[test]
    fn of_a_quota_only_what_is_used_up_is_told() {
        let quotas = [object(
            "q",
            json!({ "hard": { "count/jobs.batch.volcano.sh": "5", "pods": "9", "cpu": "1500m" },
                    "used": { "count/jobs.batch.volcano.sh": "5", "pods": "3", "cpu": "1500m" } }),
        )];
        let around = Around {
            quotas: &quotas,
            ..Around::default()
        };
        assert_eq!(
            told(NodePhase::Submitting, Some(Reason::QuotaExceeded), &around),
            ["the quota `q` is used up: count/jobs.batch.volcano.sh 5 of 5"]
        );
        assert_eq!(told(NodePhase::Submitting, None, &around), [""; 0]);
    }

    #[test]
    fn a_queue_is_told_where_it_takes_no_jobs() {
        let (open, closed) = (
            object("q", json!({ "state": "Open" })),
            object("q", json!({ "state": "Closed" })),
        );
        for (queue, said) in [
            (Some(None), vec!["there is no queue `q`"]),
            (Some(Some(&closed)), vec!["the queue `q` is Closed"]),
            (Some(Some(&open)), vec![]),
            (None, vec![]),
        ] {
            let around = Around {
                queue: Some("q"),
                queue_object: queue,
                ..Around::default()
            };
            assert_eq!(told(NodePhase::Queued, None, &around), said);
        }
    }

    #[test]
    fn the_last_warning_is_told_where_nothing_else_is_known() {
        let event = |kind: &str, reason: &str| -> DynamicObject {
            serde_json::from_value(json!({ "metadata": {}, "type": kind, "reason": reason, "message": "m" }))
                .unwrap()
        };
        let events = [event("Warning", "FailedMount"), event("Normal", "Pulled")];
        let mut around = Around {
            events: events.iter().collect(),
            ..Around::default()
        };
        assert_eq!(
            told(NodePhase::Queued, None, &around),
            ["last warning: FailedMount: m"]
        );
        let group = object("g", json!({ "phase": "Pending" }));
        around.group = Some(&group);
        assert_eq!(
            told(NodePhase::Queued, None, &around),
            ["its PodGroup is Pending: it is not let into its queue yet"]
        );
    }
}
