//! Sizes: the budgets of whole objects, what gives way first, and what is refused beforehand.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::condition::{Condition, Rule};
use jobflow_core::graph::{Entry, Target};
use jobflow_core::key::{JobKey, NodeId, Uid};
use jobflow_core::record::{AttemptRecord, Clock, FlowRecord, Held, NodeRecord, Retries, Stop, StopCause};
use jobflow_core::snapshot::{PodCounts, TaskCount};
use jobflow_core::{NodePhase, Reason, Span, Time};
use serde_json::json;

use super::{flow_with, node, object, record, written};
use crate::observe::SlimJob;
use crate::parse::Flow;
use crate::status::size::bytes;
use crate::status::{MOST_OBJECT_BYTES, Writing, base_size, too_large, worst_case, write};
use crate::types::{self, DependsOn, JobFlow, JobFlowStatus};

const NOW: Time = Time(1_796_000_000_000);

fn name(position: usize) -> String {
    format!("stage-{position:04}")
}

/// A flow in which each entry waits for the one before.
fn chain(entries: usize) -> (JobFlow, Flow) {
    let entry = |position: usize| {
        let mut entry = Entry {
            hash: 7,
            ..Entry::job(name(position).as_str())
        };
        if position > 0 {
            entry = entry.after([Arc::from(name(position - 1))]);
        }
        entry
    };
    let parsed = flow_with((0..entries).map(entry).collect());
    let mut flow = object(&parsed);
    let spec = (0..entries).map(|position| types::Entry {
        name: name(position),
        depends_on: (position > 0).then(|| DependsOn {
            targets: Some(vec![name(position - 1)]),
            ..DependsOn::default()
        }),
        ..types::Entry::default()
    });
    flow.spec.flows = Some(spec.collect());
    (flow, parsed)
}

/// The Job of a node as a server shows it in the end.
fn job(position: usize, phase: &str) -> SlimJob {
    serde_json::from_value(json!({
        "metadata": {
            "name": format!("flow-{}", name(position)),
            "uid": format!("{position:08}-2222-3333-4444-555555555555"),
            "creationTimestamp": "2026-11-29T23:00:00Z",
        },
        "spec": {"tasks": [{"name": "worker", "replicas": 4}]},
        "status": {
            "state": {"phase": phase, "lastTransitionTime": "2026-11-29T23:33:20Z"},
            "runningDuration": "33m20s",
            "conditions": [
                {"status": "Pending", "lastTransitionTime": "2026-11-29T23:00:00Z"},
                {"status": "Running", "lastTransitionTime": "2026-11-29T23:00:05Z"},
                {"status": "Restarting", "lastTransitionTime": "2026-11-29T23:10:05Z"},
                {"status": phase, "lastTransitionTime": "2026-11-29T23:33:20Z"},
            ],
            "taskStatusCount": {"worker": {"phase": {"Succeeded": 4}}},
        },
    }))
    .unwrap()
}

fn jobs(entries: usize, phase: &str) -> BTreeMap<JobKey, Arc<SlimJob>> {
    let key = |position: usize| JobKey {
        node: NodeId(u32::try_from(position).unwrap()),
        index: 0,
        attempt: 1,
    };
    (0..entries)
        .map(|position| (key(position), Arc::new(job(position, phase))))
        .collect()
}

fn counts() -> Arc<[TaskCount]> {
    let counts = PodCounts {
        running: 4,
        ready: 4,
        ..PodCounts::default()
    };
    Arc::from([TaskCount {
        task: "worker".into(),
        replicas: 4,
        counts,
    }])
}

/// A node with a job that runs, as a plan leaves it.
fn running(position: usize) -> NodeRecord {
    let mut running = node(NodePhase::Running, None);
    running.uid = Some(Uid::from(
        format!("{position:08}-2222-3333-4444-555555555555").as_str(),
    ));
    running.entry_hash = 7;
    running.template = Some(jobflow_core::facts::TemplateVersion {
        uid: "t".repeat(36).as_str().into(),
        generation: 3,
    });
    running.start_time = Some(NOW);
    running.started_since = Some(NOW);
    running.ran_since = Some(NOW);
    running.min_available = 4;
    running.tasks = Some(counts());
    running
}

/// The bytes of the whole object.
fn whole(flow: &JobFlow, parsed: &Flow, record: &FlowRecord, jobs: &BTreeMap<JobKey, Arc<SlimJob>>) -> usize {
    let written = written(flow, parsed, record, jobs).unwrap();
    assert!(!written.truncated);
    let stored = JobFlow {
        status: Some(written.status),
        ..flow.clone()
    };
    serde_json::to_string(&stored).unwrap().len()
}

#[test]
fn whole_objects_keep_their_budgets_when_all_has_ended() {
    for (entries, budget) in [(100, 75_000), (300, 110_000), (1000, 250_000)] {
        let (flow, parsed) = chain(entries);
        let ended = record((0..entries).map(|_| node(NodePhase::Succeeded, None)));
        let size = whole(&flow, &parsed, &ended, &jobs(entries, "Completed"));
        assert!(size <= budget, "{entries} entries: {size} bytes");
    }
}

#[test]
fn whole_objects_keep_their_budgets_when_all_has_failed_after_retries() {
    for (entries, budget) in [(100, 75_000), (300, 110_000), (1000, 250_000)] {
        let (flow, parsed) = chain(entries);
        let failed = |_| {
            let mut failed = node(NodePhase::Failed, Some(Reason::JobTerminated));
            failed.exit_code = Some(137);
            failed.attempt = 3;
            failed.message =
                Some("task worker: 3 of 4 pods failed; pod x, container main: exit code 137".into());
            let attempt = |attempt| AttemptRecord {
                attempt,
                reason: Reason::JobFailed,
                finish_time: NOW,
                exit_code: Some(1),
            };
            failed.attempts = (1..3).map(attempt).collect();
            failed
        };
        let size = whole(
            &flow,
            &parsed,
            &record((0..entries).map(failed)),
            &jobs(entries, "Failed"),
        );
        assert!(size <= budget, "{entries} entries: {size} bytes");
    }
}

#[test]
fn whole_objects_keep_their_budgets_while_a_hundred_jobs_run() {
    for (entries, budget) in [(300, 110_000), (1000, 250_000)] {
        let (flow, parsed) = chain(entries);
        let stands = |position| match position {
            0..100 => running(position),
            100..200 => node(NodePhase::Succeeded, None),
            _ => NodeRecord::default(),
        };
        let size = whole(
            &flow,
            &parsed,
            &record((0..entries).map(stands)),
            &jobs(200, "Running"),
        );
        assert!(size <= budget, "{entries} entries: {size} bytes");
    }
}

/// Writes beside a spec that leaves so much room.
fn with_room(entries: usize, room: usize) -> Option<(JobFlowStatus, bool)> {
    let (flow, parsed) = chain(entries);
    let half = |position| {
        if position % 2 == 0 {
            running(position)
        } else {
            node(NodePhase::Succeeded, None)
        }
    };
    let record = record((0..entries).map(half));
    let jobs = jobs(entries, "Running");
    let writing = Writing {
        flow: &flow,
        base_size: MOST_OBJECT_BYTES - room,
        parsed: &parsed,
        record: &record,
        jobs: &jobs,
        report: &Vec::new(),
        now: NOW,
    };
    let written = write(writing).ok()?;
    assert!(bytes(&written.status) <= room);
    Some((written.status, written.truncated))
}

#[test]
fn histories_give_way_first_then_details_then_lines_of_what_ended_well() {
    let lines = |status: &JobFlowStatus| status.job_status_list.clone().unwrap();
    let told = |status: &JobFlowStatus| {
        let conditions = status.flow_conditions.as_ref().unwrap();
        conditions
            .iter()
            .any(|condition| condition.type_ == "StatusTruncated" && condition.status == "True")
    };
    let (plain, truncated) = with_room(50, 100_000).unwrap();
    assert!(!truncated && !told(&plain) && lines(&plain).iter().all(|line| line.running_histories.is_none()));
    let nodes = |status: &JobFlowStatus| status.nodes.clone().unwrap();
    assert!(nodes(&plain)[0].template.is_some());

    let (compact, truncated) = with_room(50, bytes(&plain) - 10).unwrap();
    assert!(truncated && told(&compact) && nodes(&compact)[0].template.is_none());
    assert!(compact.completed_jobs.is_some());

    let (least, truncated) = with_room(50, bytes(&compact) - 10).unwrap();
    assert!(truncated && least.completed_jobs.is_none());
    assert_eq!(least.running_jobs.as_ref().map(Vec::len), Some(25));
    assert_eq!(nodes(&least), nodes(&compact));

    assert_eq!(with_room(50, bytes(&least) - 10), None);
}

#[test]
fn a_flow_that_may_outgrow_an_object_is_refused_with_the_numbers() {
    let (flow, parsed) = chain(1000);
    assert_eq!(too_large(&flow, &parsed), None);
    let (flow, mut parsed) = chain(6000);
    let fault = too_large(&flow, &parsed).unwrap().to_string();
    assert!(
        fault.contains("the flow of 6000 entries may come to have") && fault.contains("1400000"),
        "{fault}"
    );
    parsed.policy.parallelism = Some(10);
    let (limited, unlimited) = (
        worst_case(&flow, &parsed),
        worst_case(&chain(6000).0, &chain(6000).1),
    );
    assert!(limited < unlimited, "{limited} {unlimited}");
}

/// A node of which everything is known that can be known.
fn fullest(position: usize, targets: usize) -> NodeRecord {
    let mut full = running(position);
    full.state = jobflow_core::node::NodeState::recorded(NodePhase::Submitting);
    full.reason = Some(Reason::NamespaceTerminating);
    full.message = Some("m".repeat(1000).as_str().into());
    full.attempt = 12;
    full.exit_code = Some(-2_147_483_648);
    full.held = (0..targets)
        .map(|target| Held {
            target: NodeId(u32::try_from(target).unwrap()),
            rule: 0,
            attempt: 12,
            since: NOW + Span(1),
        })
        .collect();
    full.stop = Some(Stop {
        cause: StopCause::SuspendRunning,
        since: NOW + Span(1),
    });
    full.next_retry = Some(NOW + Span(1));
    full.retries = Retries {
        program: 100,
        infrastructure: 100,
    };
    let clock = Clock {
        start: NOW + Span(1),
        held: Span::from_secs(100_000),
        held_since: Some(NOW + Span(1)),
    };
    full.attempt_clock = Some(clock);
    full.node_clock = Some(clock);
    full.started_since = Some(NOW + Span(1));
    full.ran_since = Some(NOW + Span(1));
    full
}

#[test]
fn the_worst_case_is_no_better_than_the_fullest_record() {
    for live in [0, 40, 200] {
        let ready = |target: usize| Target::with(Arc::from(name(target)), Rule::new(Condition::Ready(None)));
        let entry = |position: usize| Entry {
            targets: (0..position.min(5)).map(ready).collect(),
            hash: 1,
            ..Entry::job(name(position).as_str())
        };
        let mut parsed = flow_with((0..200).map(entry).collect());
        parsed.policy.parallelism = Some(live.max(1));
        let flow = object(&parsed);
        let node = |position: usize| {
            if position < 200 - live as usize {
                let mut ended = node(NodePhase::Failed, Some(Reason::JobTerminated));
                (ended.attempt, ended.exit_code) = (12, Some(-2_147_483_648));
                ended.entry_hash = 7;
                ended.tasks = Some(counts());
                ended
            } else {
                fullest(position, 5)
            }
        };
        let record = record((0..200).map(node));
        let room = worst_case(&flow, &parsed) - base_size(&flow);
        let jobs = jobs(200, "Running");
        let writing = Writing {
            flow: &flow,
            base_size: MOST_OBJECT_BYTES - room,
            parsed: &parsed,
            record: &record,
            jobs: &jobs,
            report: &Vec::new(),
            now: NOW,
        };
        let written = write(writing);
        assert!(written.is_ok(), "{live} live: {written:?} in {room}");
    }
}
