//! Plays one script: applies its flow, does what people do in it, and compares what came of it.

use std::time::Duration;

use jobflow_core::gang::JobPhase;
use jobflow_core::snapshot::CancelMode;
use jobflow_core::testing::{Act, End, Life};
use jobflow_core::{Change, NodePhase, Span};
use jobflow_test_volcano::{Asked, Course, PodCourse, PodEnd};
use jobflow_tests::local::{ABORTS, Scale, manifest};
use jobflow_tests::scripts::Told;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout};

use crate::ear::{Ear, Part};

const NAME: &str = "flow";
const NODE: &str = "flow.volcano.sh/node";

/// How long a flow that has an end is waited for, beyond the script's own time.
const PATIENCE: Duration = Duration::from_secs(180);

/// How long a flow without an end must say nothing when it has told all.
const QUIET: Duration = Duration::from_secs(5);

/// What people do one after the other is seen one after the other.
const SETTLED: Duration = Duration::from_millis(500);

/// From the creation of a Job until somebody deletes it who waits for it to run.
const SEEN_TO_RUN: Span = Span(1_000);

/// Whose Job this is: the entry's, and which attempt.
fn whose<'a>(asked: &Asked<'a>) -> (&'a str, u32) {
    let told = asked
        .annotations
        .get(NODE)
        .map(String::as_str)
        .unwrap_or_default();
    let mut parts = told.split('/');
    let entry = parts.next().unwrap_or_default();
    let attempt = parts.next_back().and_then(|attempt| attempt.parse().ok());
    (entry, attempt.unwrap_or(1))
}

/// What the pods of a Job do, as the script of its namespace tells.
pub(crate) fn course(ear: &Ear, asked: &Asked<'_>) -> Course {
    let (entry, attempt) = whose(asked);
    let part = ear.part(asked.namespace);
    let life = part.map(|part| part.script.life(entry, attempt));
    life.map(lived).unwrap_or_default()
}

/// Whether the driver has seen a Job wait and run as far as it has, however busy the machine is.
pub(crate) fn seen(ear: &Ear, asked: &Asked<'_>, phase: JobPhase) -> bool {
    let waits = phase == JobPhase::Pending;
    if !waits && phase != JobPhase::Running {
        return true;
    }
    let is_before = |phase| matches!(phase, NodePhase::Submitting | NodePhase::Queued);
    let (entry, attempt) = whose(asked);
    ear.part(asked.namespace).is_none_or(|part| {
        let is_its = |change: &Change| {
            change.key.attempt == attempt && Some(change.key.node) == part.graph.find(entry)
        };
        let mut moves = part.history.iter().map(|moment| &moment.change);
        moves.any(|change| is_its(change) && is_before(change.from) && (waits || !is_before(change.to)))
    })
}

fn lived(life: Life) -> Course {
    let Life { queued, runs, end } = life;
    let ends = match end {
        End::Succeeds => PodEnd::Exits(0),
        End::Fails(code) => PodEnd::Exits(code),
        End::AbortsItself => PodEnd::Exits(ABORTS),
        End::Evicted => PodEnd::Evicted,
        End::Deleted | End::Never | End::NeverStarts => PodEnd::Never,
    };
    let pods = PodCourse {
        pending_for: Some(queued),
        runs_for: runs,
        ends: vec![ends],
        ..PodCourse::default()
    };
    Course {
        admitted_after: Some(Span(1)),
        disappears_after: (end == End::Deleted).then(|| queued + runs + SEEN_TO_RUN),
        ..Course::of(pods)
    }
}

/// Plays a script; where its history differs, a line each.
pub(crate) async fn play(told: &Told, client: Client, namespace: &str, ear: &Ear) -> Vec<String> {
    let script = &told.script;
    ear.begin(namespace, script.clone());
    let flow = Flow::new(client, namespace);
    let lives = |name: &str, attempt: u32| script.life(name, attempt);
    let object = manifest(&script.entries, &script.policy, &lives, Scale(1_000));
    flow.create(object).await;
    heard(ear, namespace, PATIENCE, |part| !part.history.is_empty()).await;
    let began = Instant::now();
    let mut settled = began;
    for (at, act) in &script.acts {
        let due = began + Duration::from_millis(u64::try_from(at.0).unwrap_or(0));
        sleep_until(due.max(settled)).await;
        flow.perform(act).await;
        settled = Instant::now() + SETTLED;
    }
    wait(told, namespace, ear).await;
    let part = ear.part(namespace).unwrap();
    let found = script.differences(&part.graph, &part.history, part.phase);
    let line = |difference: &String| format!("{}: {difference} ({namespace})", told.name);
    found.iter().map(line).collect()
}

/// Until the flow has ended, or has told all that it is to tell and is quiet.
async fn wait(told: &Told, namespace: &str, ear: &Ear) {
    if told.script.end.is_end() {
        heard(ear, namespace, PATIENCE, |part| part.phase.is_end()).await;
        return;
    }
    let expected = |part: &Part| told.script.differences(&part.graph, &part.history, part.phase);
    heard(ear, namespace, PATIENCE, |part| expected(part).is_empty()).await;
    while let Some(length) = ear.part(namespace).map(|part| part.history.len()) {
        let more = |part: &Part| part.history.len() > length;
        if !heard(ear, namespace, QUIET, more).await {
            return;
        }
    }
}

/// Waits until this is so; false if it isn't within so long.
async fn heard(ear: &Ear, namespace: &str, patience: Duration, is_so: impl Fn(&Part) -> bool) -> bool {
    let mut news = ear.news();
    let told = news.wait_for(|_| ear.part(namespace).is_some_and(|part| is_so(&part)));
    timeout(patience, told).await.is_ok()
}

/// The flow of a script, for those who do something to it.
struct Flow {
    flows: Api<DynamicObject>,
    jobs: Api<DynamicObject>,
}

impl Flow {
    fn new(client: Client, namespace: &str) -> Self {
        let api = |group: &str, kind: &str| {
            let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1alpha1", kind));
            Api::namespaced_with(client.clone(), namespace, &kind)
        };
        Self {
            flows: api("flow.volcano.sh", "JobFlow"),
            jobs: api("batch.volcano.sh", "Job"),
        }
    }

    async fn create(&self, object: Value) {
        let object = serde_json::from_value(object).unwrap();
        self.flows.create(&PostParams::default(), &object).await.unwrap();
    }

    async fn perform(&self, act: &Act) {
        match act {
            Act::Cancel(CancelMode::Graceful) => self.change(json!({"cancel": {"mode": "Graceful"}})).await,
            Act::Cancel(CancelMode::Now) => self.change(json!({"cancel": {"mode": "Now"}})).await,
            Act::Suspend { running } => {
                self.change(json!({"suspend": true, "suspendRunning": running}))
                    .await;
            }
            Act::Resume => {
                self.change(json!({"suspend": false, "suspendRunning": false}))
                    .await;
            }
            Act::Delete(entry) => self.delete_job(entry).await,
            // No script with a restart is played here.
            Act::Forget => {}
        }
    }

    async fn change(&self, spec: Value) {
        let patch = Patch::Merge(json!({"spec": spec}));
        self.flows
            .patch(NAME, &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    /// Somebody deletes the Job of an entry's last attempt, if there is one.
    async fn delete_job(&self, entry: &str) {
        let jobs = self.jobs.list(&ListParams::default()).await.unwrap().items;
        let of_entry = jobs.iter().filter_map(|job| {
            let mut told = job.annotations().get(NODE)?.split('/');
            let is_its = told.next() == Some(entry);
            let attempt: u32 = told.next_back()?.parse().ok()?;
            is_its.then(|| (attempt, job.name_any()))
        });
        if let Some((_, name)) = of_entry.max() {
            self.jobs.delete(&name, &DeleteParams::default()).await.unwrap();
        }
    }
}
