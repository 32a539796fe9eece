//! Flows of scripts and vectors as manifests whose jobs are real processes, and the way to run them here.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jobflow_core::condition::{Condition, Rules};
use jobflow_core::graph::{Entry, OnSkipped, Strategy, TimeoutScope};
use jobflow_core::plan::Change;
use jobflow_core::policy::{FailurePolicy, Policy};
use jobflow_core::snapshot::CancelMode;
use jobflow_core::testing::{Act, End as JobEnd, Life, Moment as Step, Script};
use jobflow_core::{FlowGraph, FlowPhase, Span};
use jobflow_k8s::extensions::Extensions;
use jobflow_local::client::Launch;
use jobflow_local::kit::KitSettings;
use jobflow_local::resources::Machine;
use jobflow_local::rundir::{RunId, StateRoot};
use jobflow_local::runner::{
    Control, Controls, End, Input, Moment, RunError, Settings, Surroundings, Watcher, start,
};
use serde_json::{Map, Value, json};

/// The word that makes a test program an executor.
pub const EXECUTOR: &str = "__executor";

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// Every change, with the reason after it.
    pub history: Vec<Step>,
    /// How it ended.
    pub end: FlowPhase,
    /// The graph.
    pub graph: FlowGraph,
}

/// How long a second of a script lasts here.
#[derive(Clone, Copy, Debug)]
pub struct Scale(pub u64);

impl Scale {
    fn of(self, span: Span) -> Duration {
        Duration::from_millis(span.0 * self.0 / 1000)
    }
}

/// The flow as a manifest; `lives` tells what the job of an entry does at an attempt.
#[must_use]
pub fn manifest(
    entries: &[Entry<Arc<str>>],
    policy: &Policy,
    lives: &dyn Fn(&str, u32) -> Life,
    scale: Scale,
) -> Value {
    let list = |finally: bool| -> Vec<Value> {
        let side = entries.iter().filter(|entry| entry.finally == finally);
        side.map(|entry| entry_of(entry, lives, scale)).collect()
    };
    let mut spec = Map::new();
    spec.insert("flows".into(), list(false).into());
    if entries.iter().any(|entry| entry.finally) {
        spec.insert("finally".into(), list(true).into());
        spec.insert(
            "finallyDeadlineSeconds".into(),
            policy.finally_deadline.as_secs().into(),
        );
    }
    let failure_policy = match policy.failure_policy {
        FailurePolicy::StopNew => "StopNew",
        FailurePolicy::CancelAll => "CancelAll",
        FailurePolicy::Continue => "Continue",
    };
    spec.insert("failurePolicy".into(), failure_policy.into());
    if let Some(most) = policy.parallelism {
        spec.insert("parallelism".into(), most.into());
    }
    if let Some(deadline) = policy.deadline {
        spec.insert("activeDeadlineSeconds".into(), deadline.as_secs().into());
    }
    json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow",
        "metadata": { "name": "flow" }, "spec": spec,
    })
}

fn entry_of(entry: &Entry<Arc<str>>, lives: &dyn Fn(&str, u32) -> Life, scale: Scale) -> Value {
    let mut value = json!({
        "name": &*entry.name,
        "jobSpec": job(&entry.name, lives, scale),
        "allowFailure": entry.allow_failure,
        "retry": {
            "limit": entry.retry.limit,
            "infrastructureLimit": entry.retry.infrastructure_limit,
            "backoff": { "initialSeconds": entry.retry.backoff.initial.as_secs(), "jitterPercent": 0 },
        },
    });
    if let Some(on_skipped) = entry.on_skipped {
        let word = if on_skipped == OnSkipped::Satisfy {
            "Satisfy"
        } else {
            "Propagate"
        };
        value["onSkipped"] = word.into();
    }
    if let Some(timeout) = entry.timeout {
        value["timeoutSeconds"] = timeout.span.as_secs().into();
        value["timeoutScope"] = if timeout.scope == TimeoutScope::Node {
            "Node"
        } else {
            "Attempt"
        }
        .into();
    }
    if !entry.targets.is_empty() {
        value["dependsOn"] = depends_on(entry);
    }
    value
}

fn depends_on(entry: &Entry<Arc<str>>) -> Value {
    let mut rules = Vec::new();
    let mut targets = Vec::new();
    for target in &entry.targets {
        match &target.rules {
            Rules::One(rule) if !rule.explicit => targets.push(Value::from(&*target.node)),
            Rules::One(rule) => rules.push(json!({
                "target": &*target.node, "condition": word(&rule.condition), "delaySeconds": rule.delay.as_secs(),
            })),
            Rules::Many(many) => rules.extend(many.iter().map(|rule| {
                json!({ "target": &*target.node, "condition": word(&rule.condition) })
            })),
        }
    }
    let mut value = json!({});
    if !targets.is_empty() {
        value["targets"] = targets.into();
    }
    if !rules.is_empty() {
        value["rules"] = rules.into();
    }
    match entry.strategy {
        Strategy::All => {}
        Strategy::Any => value["strategy"] = "Any".into(),
        Strategy::AtLeast(at_least) => {
            value["strategy"] = "AtLeast".into();
            value["atLeast"] = at_least.into();
        }
    }
    value
}

#[expect(clippy::wildcard_enum_match_arm, reason = "scripts know no further condition")]
const fn word(condition: &Condition) -> &'static str {
    match condition {
        Condition::Started => "Started",
        Condition::Running => "Running",
        Condition::Ready(_) => "Ready",
        Condition::Failed => "Failed",
        Condition::Finished => "Finished",
        _ => "Completed",
    }
}

/// What a job that aborts itself exits with.
pub const ABORTS: i32 = 97;

/// One pod that does what the life of its attempt says; the attempt stands in the pod's name. An attempt that is not
/// to start fails while its pod is initialised.
fn job(name: &str, lives: &dyn Fn(&str, u32) -> Life, scale: Scale) -> Value {
    // Names are `flow-NAME-main-0` at the first attempt and `flow-NAME-rK-main-0` later.
    let attempt =
        format!("k=${{POD#flow-{name}-}}; case $k in r*) k=${{k#r}}; k=${{k%%-*}} ;; *) k=1 ;; esac");
    let by_attempt = |script: &dyn Fn(Life) -> String| {
        let arms = (1..=8).map(|attempt| format!("{attempt}) {} ;;", script(lives(name, attempt))));
        json!([
            "sh",
            "-c",
            format!(
                "{attempt}; case $k in {} esac",
                arms.collect::<Vec<_>>().join(" ")
            )
        ])
    };
    let pod = json!([{ "name": "POD", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }]);
    let container = |name: &str, command: Value| {
        json!({
            "name": name, "image": "busybox", "command": command, "env": pod,
        })
    };
    let mut spec = json!({
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "containers": [container("main", by_attempt(&|life| script(life, scale)))],
    });
    if (1..=8).any(|attempt| lives(name, attempt).end == JobEnd::NeverStarts) {
        let gate = |life: Life| {
            if life.end == JobEnd::NeverStarts {
                "exit 1"
            } else {
                "exit 0"
            }
            .to_owned()
        };
        spec["initContainers"] = json!([container("gate", by_attempt(&gate))]);
    }
    json!({
        "minAvailable": 1,
        "tasks": [{ "name": "main", "replicas": 1, "template": { "spec": spec } }],
        "policies": [
            { "exitCode": ABORTS, "action": "AbortJob" },
            { "event": "PodEvicted", "action": "RestartJob" },
        ],
        // A restart is one too many: the job fails.
        "maxRetry": 1,
    })
}

fn script(life: Life, scale: Scale) -> String {
    let seconds = scale.of(life.runs).as_secs_f64();
    match life.end {
        JobEnd::Succeeds => format!("sleep {seconds}"),
        JobEnd::Fails(code) => format!("sleep {seconds}; exit {code}"),
        JobEnd::AbortsItself => format!("sleep {seconds}; exit {ABORTS}"),
        // What befalls these comes from outside.
        JobEnd::Deleted | JobEnd::Evicted | JobEnd::Never | JobEnd::NeverStarts => {
            "exec sleep 1000".to_owned()
        }
    }
}

/// Hears a run, keeps its history, and does to jobs what is to befall them.
struct Ear<'a> {
    history: Vec<Step>,
    /// What people are going to do, counted from the first change.
    acts: Vec<(Duration, Control)>,
    lives: &'a dyn Fn(&str, u32) -> Life,
    scale: Scale,
    controls: Controls,
    phase: FlowPhase,
    heard: Arc<Mutex<Heard>>,
}

/// How much a run has told, and since when it is quiet.
struct Heard {
    changes: usize,
    last: Instant,
}

/// When a run that isn't to end is interrupted: it has told all that it is to tell, and is quiet for long enough.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How many changes are to be told.
    pub changes: usize,
    /// How long it must be quiet then.
    pub quiet: Duration,
}

/// The longest that a run is waited for which doesn't tell what it is to tell, on however busy a machine.
const LONGEST_SILENCE: Duration = Duration::from_secs(60);

impl Watcher for Ear<'_> {
    fn began(&mut self, _: &RunId, _: &std::path::Path, _: bool) {}

    fn changed(&mut self, change: &Change, moment: Moment<'_>) {
        for (after, control) in self.acts.drain(..) {
            later(self.controls.clone(), after, control);
        }
        *self.heard.lock().expect("nobody panics while holding it") = Heard {
            changes: self.history.len() + 1,
            last: Instant::now(),
        };
        let reason = moment.record.nodes[change.key.node].reason;
        self.history.push(Step {
            change: *change,
            reason,
        });
        if change.to != jobflow_core::NodePhase::Running {
            return;
        }
        let name = moment.graph.entry(change.key.node).name.to_string();
        let life = (self.lives)(&name, change.key.attempt);
        let control = match life.end {
            JobEnd::Deleted => Control::DeleteJob(name),
            JobEnd::Evicted => Control::EvictPods(name),
            JobEnd::Succeeds
            | JobEnd::Fails(_)
            | JobEnd::NeverStarts
            | JobEnd::AbortsItself
            | JobEnd::Never => return,
        };
        later(self.controls.clone(), self.scale.of(life.runs), control);
    }

    fn passed(&mut self, moment: Moment<'_>) {
        self.phase = moment.record.phase;
    }

    fn blocked(&mut self, _: Option<&str>) {}
}

fn later(controls: Controls, after: Duration, control: Control) {
    thread::spawn(move || {
        thread::sleep(after);
        controls.ask(control);
    });
}

/// When and how an act is told to a run.
fn told((at, act): &(jobflow_core::Time, Act), scale: Scale) -> Option<(Duration, Control)> {
    let control = match act {
        Act::Cancel(CancelMode::Graceful) => Control::Cancel(CancelMode::Graceful),
        Act::Cancel(CancelMode::Now) => Control::Cancel(CancelMode::Now),
        Act::Suspend { running } => Control::Suspend { running: *running },
        Act::Resume => Control::Resume,
        Act::Delete(name) => Control::DeleteJob(name.to_string()),
        // A restart has tests of its own.
        Act::Forget => return None,
    };
    let after = scale.of(Span(u64::try_from(at.0).unwrap_or(0)));
    Some((after, control))
}

/// Interrupts a run when patience is at its end.
fn interrupt(patience: Patience, heard: Arc<Mutex<Heard>>, interrupt: Arc<AtomicBool>) {
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_millis(100));
            let heard = heard.lock().expect("nobody panics while holding it");
            let enough = heard.changes >= patience.changes;
            let longest = if enough {
                patience.quiet
            } else {
                LONGEST_SILENCE.max(patience.quiet)
            };
            if heard.last.elapsed() >= longest {
                break;
            }
        }
        interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// Where runs of tests are kept, and how this test program becomes their executor.
///
/// # Panics
///
/// If the program's own path is unknown.
#[must_use]
pub fn surroundings(folder: &std::path::Path) -> Surroundings {
    static NUMBER: Mutex<u64> = Mutex::new(0);
    let mut number = NUMBER.lock().expect("nobody panics while holding it");
    *number += 1;
    let mut random = [0; 16];
    random[..8].copy_from_slice(&number.to_le_bytes());
    Surroundings {
        root: StateRoot::at(folder.to_owned()),
        launch: Launch {
            program: std::env::current_exe().expect("the system knows which program runs"),
            arguments: vec![EXECUTOR.into()],
        },
        interrupt: Arc::new(AtomicBool::new(false)),
        controls: Controls::default(),
        clock: now,
        random,
        extensions: Extensions::default(),
    }
}

/// The time in milliseconds since 1970.
#[must_use]
pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Settings under which jobs of tests run: nothing of the machine is counted.
#[must_use]
pub fn settings() -> Settings {
    Settings {
        kit: KitSettings::default(),
        machine: Machine::of_this_system(),
        ignore_resources: true,
        grace: Duration::from_secs(1),
    }
}

/// Runs a flow with its jobs as processes; one that isn't to end is interrupted when patience is.
///
/// # Errors
///
/// When it can't be run.
pub fn run(
    manifest: Value,
    lives: &dyn Fn(&str, u32) -> Life,
    acts: &[(jobflow_core::Time, Act)],
    scale: Scale,
    patience: Option<Patience>,
    folder: &std::path::Path,
) -> Result<Ran, RunError> {
    let flow = serde_json::from_value(manifest).map_err(std::io::Error::from)?;
    let input = Input {
        flow,
        templates: BTreeMap::new(),
        objects: Vec::new(),
    };
    let graph = input
        .parse(&Extensions::default())
        .map_err(RunError::Faults)?
        .graph;
    let surroundings = surroundings(folder);
    let heard = Arc::new(Mutex::new(Heard {
        changes: 0,
        last: Instant::now(),
    }));
    if let Some(patience) = patience {
        interrupt(patience, Arc::clone(&heard), Arc::clone(&surroundings.interrupt));
    }
    let controls = surroundings.controls.clone();
    let mut ear = Ear {
        history: Vec::new(),
        acts: acts.iter().filter_map(|act| told(act, scale)).collect(),
        lives,
        scale,
        controls,
        phase: FlowPhase::Pending,
        heard,
    };
    let (_, end) = start(input, settings(), &surroundings, &mut ear)?;
    let end = match end {
        End::Ended(phase) => phase,
        End::Interrupted | End::Suspended => ear.phase,
    };
    Ok(Ran {
        history: ear.history,
        end,
        graph,
    })
}

/// How a script is played: faster than it says, unless something in it is told to the flow in whole seconds. None
/// when that would take too long.
#[must_use]
pub fn scale(script: &Script) -> Option<Scale> {
    let delayed = |entry: &Entry<Arc<str>>| {
        let rules = entry.targets.iter().flat_map(|target| target.rules.as_slice());
        rules.into_iter().any(|rule| rule.delay > Span::ZERO)
    };
    let retried = |entry: &Entry<Arc<str>>| entry.retry.limit + entry.retry.infrastructure_limit > 0;
    let in_seconds = script.policy.deadline.is_some()
        || !script.acts.is_empty()
        || script.policy.finally_deadline < Span::from_secs(60)
        || script
            .entries
            .iter()
            .any(|entry| entry.timeout.is_some() || delayed(entry) || retried(entry));
    if !in_seconds {
        return Some(Scale(500));
    }
    let waits = script
        .entries
        .iter()
        .filter(|entry| retried(entry))
        .map(|entry| entry.retry.backoff.initial.as_secs());
    let longest_life = script
        .lives
        .values()
        .filter(|life| life.end != JobEnd::Never)
        .map(|life| life.runs.as_secs());
    let last_act = script
        .acts
        .iter()
        .map(|(at, _)| u64::try_from(at.0).unwrap_or(0) / 1000);
    let longest = waits.chain(longest_life).chain(last_act).max().unwrap_or(0);
    (longest <= LONGEST).then_some(Scale(1000))
}

/// The longest wait, in seconds, of a script that is played in whole seconds.
const LONGEST: u64 = 5;

/// Plays a conformance script with processes.
///
/// # Errors
///
/// When it can't be run.
pub fn play(script: &Script, scale: Scale, folder: &std::path::Path) -> Result<Ran, RunError> {
    let lives = |name: &str, attempt: u32| script.life(name, attempt);
    let lives_end = script
        .lives
        .values()
        .filter(|life| life.end != JobEnd::Never)
        .map(|life| life.runs);
    let acts_end = script.acts.iter().map(|(at, _)| at.since(jobflow_core::Time(0)));
    let told = lives_end
        .chain(acts_end)
        .fold(Span::from_secs(4), |sum, span| sum + span);
    let patience = (!script.end.is_end()).then(|| Patience {
        changes: script.expected.iter().map(|expected| expected.steps.len()).sum(),
        quiet: scale.of(told) + Duration::from_secs(3),
    });
    let manifest = manifest(&script.entries, &script.policy, &lives, scale);
    run(manifest, &lives, &script.acts, scale, patience, folder)
}
