//! Reads a recording as an observer of a cluster would see it: the job's own status, and from its pods who is ready.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::gang::JobPhase;
use jobflow_core::snapshot::{JobView, PodCounts, TaskCount};
use jobflow_core::{Time, Uid};
use serde_json::Value;

/// A job's life.
pub(crate) struct Recording {
    pub(crate) tasks: Vec<String>,
    pub(crate) moments: Vec<Moment>,
}

/// One status of the job.
pub(crate) struct Moment {
    pub(crate) milliseconds: i64,
    pub(crate) view: JobView,
    pub(crate) gone: bool,
    /// The status, for people.
    pub(crate) words: String,
}

impl Recording {
    pub(crate) fn read(text: &str) -> Self {
        let mut lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let spec = lines.next().unwrap()["object"]["spec"].clone();
        let replicas: Vec<(String, u32)> = list(&spec["tasks"])
            .iter()
            .map(|task| (text_of(&task["name"]), count(&task["replicas"])))
            .collect();
        let aborts_itself = policies(&spec).any(|policy| policy["action"] == "AbortJob");
        let mut ready = BTreeMap::new();
        let mut moments = Vec::new();
        for line in lines {
            match line["kind"].as_str() {
                Some("Pod") => note_pod(&line, &mut ready),
                Some("Job") => {
                    let mut moment = moment(&line, &replicas, &ready);
                    moment.view.aborts_itself = aborts_itself;
                    moments.push(moment);
                }
                _ => {}
            }
        }
        Self {
            tasks: replicas.into_iter().map(|(task, _)| task).collect(),
            moments,
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The policies of the job and of its tasks.
fn policies(spec: &Value) -> impl Iterator<Item = &Value> {
    let of_tasks = list(&spec["tasks"])
        .iter()
        .flat_map(|task| list(&task["policies"]));
    list(&spec["policies"]).iter().chain(of_tasks)
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn count(value: &Value) -> u32 {
    value
        .as_u64()
        .and_then(|count| u32::try_from(count).ok())
        .unwrap_or(0)
}

/// Keeps which pods are ready, by name, with their tasks.
fn note_pod(line: &Value, ready: &mut BTreeMap<String, String>) {
    let name = text_of(&line["name"]);
    let containers = list(&line["status"]["containerStatuses"]);
    let is_ready = line["type"] != "DELETED"
        && line["deleting"] != true
        && line["status"]["phase"] == "Running"
        && !containers.is_empty()
        && containers.iter().all(|container| container["ready"] == true);
    if is_ready {
        ready.insert(name, text_of(&line["annotations"]["volcano.sh/task-spec"]));
    } else {
        ready.remove(&name);
    }
}

fn moment(line: &Value, replicas: &[(String, u32)], ready: &BTreeMap<String, String>) -> Moment {
    let status = &line["status"];
    let phase = text_of(&status["state"]["phase"]);
    let milliseconds = line["ms"].as_i64().unwrap();
    let mut view = JobView::new(Uid::from("u"), JobPhase::parse(&phase).unwrap(), Time(0));
    view.changed = Some(Time(milliseconds));
    view.deleting = line["deleting"] == true;
    view.min_available = count(&status["minAvailable"]);
    view.ran = list(&status["conditions"])
        .iter()
        .any(|condition| condition["status"] == "Running");
    let counted = status["taskStatusCount"].is_object();
    let gone = line["type"] == "DELETED";
    let mut words = format!("{}{}", if gone { "gone " } else { "" }, phase);
    if counted {
        let tasks: Vec<TaskCount> = replicas
            .iter()
            .map(|(task, replicas)| counts(status, task, *replicas, ready))
            .collect();
        for task in &tasks {
            words.push_str(&format!("  {}{}", task.task, in_words(task.counts)));
        }
        view.tasks = Arc::from(tasks);
    }
    Moment {
        milliseconds,
        view,
        gone,
        words: words.trim_end().to_owned(),
    }
}

fn counts(status: &Value, task: &str, replicas: u32, ready: &BTreeMap<String, String>) -> TaskCount {
    let of = |phase: &str| count(&status["taskStatusCount"][task]["phase"][phase]);
    let running = of("Running");
    let ready = ready.values().filter(|of| *of == task).count();
    TaskCount {
        task: task.into(),
        replicas,
        counts: PodCounts {
            pending: of("Pending"),
            running,
            ready: u32::try_from(ready).unwrap_or(u32::MAX).min(running),
            succeeded: of("Succeeded"),
            failed: of("Failed"),
        },
    }
}

fn in_words(counts: PodCounts) -> String {
    let PodCounts {
        pending,
        running,
        ready,
        succeeded,
        failed,
    } = counts;
    let named = [
        ("pending", pending),
        ("running", running),
        ("ready", ready),
        ("succeeded", succeeded),
        ("failed", failed),
    ];
    let some = named.iter().filter(|(_, count)| *count > 0);
    some.map(|(name, count)| format!(" {name}={count}")).collect()
}
