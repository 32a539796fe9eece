//! What a real Volcano wrote, line by line.

use std::path::Path;

use jobflow_core::gang::JobPhase;
use jobflow_core::graph::Entry;
use jobflow_core::key::{JobKey, NodeId};
use jobflow_core::node::NodeState;
use jobflow_core::plan::plan;
use jobflow_core::snapshot::{JobView, Ledger, PodCounts, Sighting, Snapshot};
use jobflow_core::{FactCache, FlowGraph, NodePhase, Policy, Time};
use serde_json::{Value, json};

use crate::observe::{SlimJob, SlimPod, account, job_view};

/// A recording: the Job as it was created, then what was seen.
struct Recording {
    name: String,
    spec: Value,
    lines: Vec<Value>,
}

fn recordings() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jobflow-core/tests/traces");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            let lines: Vec<Value> = text
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            Recording {
                name: file.file_stem().unwrap().to_string_lossy().into_owned(),
                spec: lines[0]["object"]["spec"].clone(),
                lines,
            }
        })
        .collect()
}

impl Recording {
    /// The Job at each line that shows it.
    fn jobs(&self) -> Vec<SlimJob> {
        let shown = self.lines.iter().filter(|line| line["kind"] == "Job");
        let job = |line: &Value| json!({"metadata": {"name": line["name"], "uid": "u"}, "spec": self.spec, "status": line["status"]});
        shown
            .map(|line| serde_json::from_value(job(line)).unwrap())
            .collect()
    }

    fn views(&self) -> Vec<JobView> {
        self.jobs().iter().map(|job| job_view(job, None)).collect()
    }
}

fn recording(name: &str) -> Recording {
    recordings()
        .into_iter()
        .find(|recording| recording.name == name)
        .unwrap()
}

#[test]
fn every_status_that_volcano_wrote_is_read_with_its_counts() {
    let mut seen = 0;
    for recording in recordings() {
        let shown = recording.lines.iter().filter(|line| line["kind"] == "Job");
        for (line, view) in shown.zip(recording.views()) {
            let status = &line["status"];
            let phase = status["state"]["phase"].as_str().unwrap_or_default();
            assert_eq!(view.phase.as_str(), phase, "{}: {line}", recording.name);
            let counted = |field: &str| u32::try_from(status[field].as_u64().unwrap_or(0)).unwrap();
            if status.get("taskStatusCount").is_some() {
                let total = view.total();
                assert_eq!(
                    (total.pending, total.running, total.succeeded, total.failed),
                    (
                        counted("pending"),
                        counted("running"),
                        counted("succeeded"),
                        counted("failed")
                    ),
                    "{}: {line}",
                    recording.name
                );
            } else {
                assert!(view.tasks.is_empty(), "{}: {line}", recording.name);
            }
            if let Some(least) = status["minAvailable"].as_u64() {
                assert_eq!(u64::from(view.min_available), least, "{}", recording.name);
            }
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen}");
}

#[test]
fn a_history_shows_that_the_gang_ran_after_its_end() {
    for recording in recordings() {
        let views = recording.views();
        let first = views.iter().position(|view| view.phase == JobPhase::Running);
        for (at, view) in views.iter().enumerate() {
            let since = first.is_some_and(|first| at >= first);
            assert_eq!(view.ran, since, "{} at {at}: {view:?}", recording.name);
        }
    }
}

#[test]
fn only_a_policy_of_its_own_can_abort_a_job() {
    for recording in recordings() {
        let expected = recording.spec.to_string().contains("AbortJob");
        assert!(
            recording
                .views()
                .iter()
                .all(|view| view.aborts_itself == expected),
            "{}",
            recording.name
        );
    }
    assert!(recording("policy-abort").views()[0].aborts_itself);
    assert!(!recording("command-abort-then-resume").views()[0].aborts_itself);
}

#[test]
fn a_policy_of_a_task_can_abort_a_job_too() {
    let job = json!({
        "metadata": {"name": "j"},
        "spec": {"tasks": [{"name": "a", "replicas": 1}, {"name": "b", "replicas": 1, "policies": [{"event": "PodFailed", "action": "AbortJob"}]}]},
    });
    let job: SlimJob = serde_json::from_value(job).unwrap();
    assert!(job.aborts_itself);
}

#[test]
fn the_last_write_of_an_end_tells_of_no_pods_any_more() {
    for name in ["ok-one", "ok-two-tasks", "fail-plain"] {
        let views = recording(name).views();
        let ends: Vec<bool> = views
            .iter()
            .filter(|view| view.phase.is_final())
            .map(|view| view.tasks.is_empty())
            .collect();
        assert_eq!((ends.first(), ends.last()), (Some(&false), Some(&true)), "{name}");
    }
}

#[test]
fn pods_of_recordings_tell_exit_codes() {
    for (name, expected) in [
        ("fail-plain", Some(3)),
        ("ok-one", None),
        ("policy-exit-code", Some(42)),
    ] {
        let recording = recording(name);
        let job = recording.jobs().pop().unwrap();
        let pods: Vec<SlimPod> = recording
            .lines
            .iter()
            .filter(|line| line["kind"] == "Pod" && line["status"]["containerStatuses"][0]["state"].get("terminated").is_some())
            .map(|line| {
                let owner = json!({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": name, "uid": "u", "controller": true});
                let pod = json!({"metadata": {"name": line["name"], "ownerReferences": [owner]}, "status": line["status"]});
                serde_json::from_value(pod).unwrap()
            })
            .collect();
        let seen = account(&job, &pods, 0);
        assert_eq!(
            (seen.exit_code, seen.infrastructure, seen.started),
            (expected, false, true),
            "{name}"
        );
    }
}

#[test]
fn a_phase_of_a_later_volcano_is_no_end() {
    let job = |running: u32| -> SlimJob {
        serde_json::from_value(json!({"metadata": {"name": "j"}, "status": {"state": {"phase": "Hibernating"}, "running": running}}))
            .unwrap()
    };
    assert_eq!(job_view(&job(0), None).phase, JobPhase::Pending);
    assert_eq!(job_view(&job(2), None).phase, JobPhase::Running);
}

#[test]
fn numbers_that_are_none_of_pods_count_as_none() {
    let job = json!({
        "metadata": {"name": "j", "uid": "u"},
        "spec": {"minAvailable": -1, "tasks": [{"replicas": 2_147_483_647}, {"replicas": 2_147_483_647}, {"replicas": -5}]},
        "status": {"state": {"phase": "Running"}, "running": -3, "retryCount": -1,
            "taskStatusCount": {"default0": {"phase": {"Running": -7, "Strange": 4}}, "none": {"phase": null}}},
    });
    let view = job_view(&serde_json::from_value(job).unwrap(), None);
    assert_eq!(
        (view.min_available, view.total().running, view.started),
        (0, 0, false)
    );
    let replicas: Vec<(&str, u32)> = view
        .tasks
        .iter()
        .map(|task| (&*task.task, task.replicas))
        .collect();
    assert_eq!(
        replicas,
        [
            ("default0", 2_147_483_647),
            ("default1", 2_147_483_647),
            ("default2", 0)
        ]
    );
}

#[test]
fn the_own_time_of_a_job_after_its_end_is_read_from_its_annotation() {
    let ttl = |text: &str| {
        let job = json!({"metadata": {"name": "j", "annotations": {"flow.volcano.sh/ttl-seconds-after-finished": text}}});
        job_view(&serde_json::from_value(job).unwrap(), None).ttl
    };
    assert_eq!(ttl("30"), Some(jobflow_core::Span::from_secs(30)));
    for text in ["", "-1", "x", "1.5", "99999999999999999999999"] {
        assert_eq!(ttl(text), None, "{text}");
    }
}

/// The record of a flow of one entry that saw a recording, write by write.
fn followed(recording: &Recording) -> jobflow_core::FlowRecord {
    let graph = FlowGraph::from_names(vec![Entry::job("a")]).unwrap();
    let mut snapshot = Snapshot::unborn(1);
    snapshot.ledger = Ledger::Kept;
    let record = snapshot.record.nodes.change(NodeId(0));
    record.state = NodeState::recorded(NodePhase::Submitting);
    record.attempt = 1;
    let key = JobKey {
        node: NodeId(0),
        index: 0,
        attempt: 1,
    };
    for (at, view) in recording.views().into_iter().enumerate() {
        snapshot.jobs.insert(key, Sighting::Seen(view));
        let now = Time(i64::try_from(at).unwrap());
        snapshot.record = plan(&graph, &Policy::default(), &snapshot, &FactCache::default(), now).next;
    }
    snapshot.record
}

#[test]
fn the_counts_of_an_end_outlive_the_write_that_drops_them() {
    for (name, phase, succeeded, failed) in [
        ("ok-one", NodePhase::Succeeded, 1, 0),
        ("ok-two-tasks", NodePhase::Succeeded, 4, 0),
        ("min-success", NodePhase::Succeeded, 3, 0),
        ("fail-plain", NodePhase::Failed, 0, 1),
        ("fail-one-of-two-min1", NodePhase::Succeeded, 1, 1),
    ] {
        let record = followed(&recording(name));
        let node = &record.nodes[NodeId(0)];
        let total = node.tasks.iter().flat_map(|tasks| tasks.iter());
        let total = total.fold(PodCounts::default(), |sum, task| sum.plus(task.counts));
        assert_eq!(
            (node.phase(), total.succeeded, total.failed),
            (phase, succeeded, failed),
            "{name}"
        );
    }
}

#[test]
fn every_recording_ends_a_node_as_its_last_phase_says() {
    for recording in recordings() {
        let last = recording.views().pop().unwrap();
        let expected = match last.phase {
            JobPhase::Completed => NodePhase::Succeeded,
            JobPhase::Failed | JobPhase::Terminated => NodePhase::Failed,
            JobPhase::Aborted if last.aborts_itself => NodePhase::Failed,
            JobPhase::Aborted => NodePhase::Paused,
            JobPhase::Terminating | JobPhase::Aborting => NodePhase::Stopping,
            JobPhase::Running | JobPhase::Restarting | JobPhase::Completing if last.deleting => {
                NodePhase::Stopping
            }
            JobPhase::Running | JobPhase::Restarting | JobPhase::Completing => NodePhase::Running,
            JobPhase::Empty | JobPhase::Pending => NodePhase::Queued,
        };
        assert_eq!(
            followed(&recording).nodes[NodeId(0)].phase(),
            expected,
            "{}",
            recording.name
        );
    }
}
