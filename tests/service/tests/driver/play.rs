//! Conformance scripts and vectors, played through a driver.

use std::time::Duration;

use jobflow_core::snapshot::CancelMode;
use jobflow_core::testing::{Act, End, Life, Moment, Script};
use jobflow_core::{Change, FlowGraph, FlowPhase, JobKey};
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Key, Part, Service, object};
use jobflow_tests::local::{Scale, manifest};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::history::violations;
use crate::stage::{Stage, Told, phase};

/// What came of a flow.
pub(crate) struct Played {
    pub(crate) history: Vec<Moment>,
    pub(crate) end: FlowPhase,
    pub(crate) violations: Vec<String>,
}

/// Why a script isn't played; none if it is.
pub(crate) fn kept_back(script: &Script, text: &str) -> Option<&'static str> {
    if script.entries.iter().any(|entry| entry.when.is_some()) || text.contains(" switch=") {
        return Some("when or switch, which can't be written yet");
    }
    let never_starts = script.lives.values().any(|life| life.end == End::NeverStarts);
    never_starts.then_some("a pod that fails before it starts: Volcano says of its Job that it ran")
}

/// The flow of a script, to be applied.
pub(crate) fn flow_of(script: &Script) -> Value {
    let lives = |name: &str, attempt: u32| script.life(name, attempt);
    manifest(&script.entries, &script.policy, &lives, Scale(1_000))
}

/// What the pods of a script's jobs do.
pub(crate) fn lives_of(script: &Script) -> impl Fn(&Attempt) -> Life + Send + Sync + 'static {
    let script = script.clone();
    move |attempt| script.life(&attempt.entry, attempt.attempt)
}

/// Plays a script through a driver.
pub(crate) async fn play(script: &Script) -> Played {
    let mut stage = Stage::new(lives_of(script));
    stage.service.create(flow_of(script)).unwrap();
    stage.start("driver");
    for (at, act) in &script.acts {
        let due = Duration::from_millis(u64::try_from(at.0).unwrap_or(0));
        sleep(due.saturating_sub(stage.service.clock().elapsed()).max(SETTLED)).await;
        perform(&mut stage, act).await;
    }
    let flow = if script.end.is_end() {
        let flow = stage.ended("flow").await;
        sleep(Duration::from_secs(60)).await;
        flow
    } else {
        sleep(Duration::from_secs(900)).await;
        stage.service.get(&Key::of("jobflows", "flow")).unwrap()
    };
    let graph = script.graph().unwrap();
    Played {
        history: stage.ear.told().iter().map(|told| moment(&graph, told)).collect(),
        end: flow_phase(phase(&flow)),
        violations: violations(&stage.service),
    }
}

/// By then a driver has seen what happened and written what follows.
const SETTLED: Duration = Duration::from_millis(200);

async fn perform(stage: &mut Stage, act: &Act) {
    let spec = |spec: Value| {
        drop(
            stage
                .service
                .merge(&Key::of("jobflows", "flow"), Part::Main, json!({ "spec": spec })),
        )
    };
    match act {
        Act::Cancel(CancelMode::Graceful) => spec(json!({ "cancel": { "mode": "Graceful" } })),
        Act::Cancel(CancelMode::Now) => spec(json!({ "cancel": { "mode": "Now" } })),
        Act::Suspend { running } => spec(json!({ "suspend": true, "suspendRunning": running })),
        Act::Resume => spec(json!({ "suspend": false, "suspendRunning": false })),
        Act::Delete(name) => delete(&stage.service, name),
        Act::Forget => {
            stage.kill("driver").await;
            stage.start("driver");
        }
    }
}

/// Somebody deletes the job of an entry's last attempt.
fn delete(service: &Service, entry: &str) {
    let all = service.all("jobs");
    let of_entry = all.iter().rev().find(|job| {
        let told = job["metadata"]["annotations"]["flow.volcano.sh/node"].as_str();
        told.is_some_and(|told| told.split('/').next() == Some(entry))
    });
    if let Some(job) = of_entry {
        drop(service.delete(&Key::of("jobs", object::name(job)), "Background"));
    }
}

pub(crate) fn moment(graph: &FlowGraph, told: &Told) -> Moment {
    let key = JobKey {
        node: graph.find(&told.node).unwrap(),
        index: 0,
        attempt: told.attempt,
    };
    let change = Change {
        key,
        from: told.from,
        to: told.to,
        event: told.event,
        at: told.at,
    };
    Moment {
        change,
        reason: told.reason,
    }
}

pub(crate) fn flow_phase(word: &str) -> FlowPhase {
    let all = [
        FlowPhase::Pending,
        FlowPhase::Running,
        FlowPhase::Succeed,
        FlowPhase::Failed,
        FlowPhase::Terminating,
    ];
    all.into_iter()
        .find(|phase| phase.as_str() == word)
        .unwrap_or_default()
}
