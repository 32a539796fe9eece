//! A driver is lost at every moment, another one takes over, and whatever may befall requests, watches and Jobs does.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use jobflow_core::Span;
use jobflow_core::retry::splitmix64 as mix;
use jobflow_core::testing::{End, Life};
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Call, Cut, Fault, Key, Part, Refusal, Service, Verb, kind, object};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::history::violations;
use crate::stage::{Stage, is_ended, paused, phase};

/// When the first driver is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Not at all.
    Never,
    /// When it has come to rest for the n-th time, from 1.
    AtPending(usize),
    /// When its n-th request, from 1, is at the server and not done.
    BeforeRequest(usize),
    /// When its n-th request, from 1, is done and not answered.
    AfterRequest(usize),
}

/// What befalls beside that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mix {
    /// Nothing.
    Calm,
    /// Answers to writes are lost.
    LostReplies,
    /// The server errs, is busy, slow, or does things late.
    Errors,
    /// Watches lag, break off, and have to begin anew.
    Stale,
    /// Somebody deletes Jobs.
    Deletes,
    /// All of it.
    Storm,
}

pub(crate) const MIXES: [Mix; 6] = [
    Mix::Calm,
    Mix::LostReplies,
    Mix::Errors,
    Mix::Stale,
    Mix::Deletes,
    Mix::Storm,
];

/// What came of one run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) wrong: Vec<String>,
    pub(crate) pendings: usize,
    pub(crate) requests: usize,
}

/// Whose chance a number is drawn for.
fn draw(seed: u64, purpose: u64, number: u64) -> u64 {
    mix(seed ^ mix(purpose ^ mix(number)))
}

fn spec() -> Value {
    json!({
        "minAvailable": 1,
        "tasks": [{ "name": "main", "replicas": 1, "template": { "spec": {
            "restartPolicy": "Never", "containers": [{ "name": "main", "image": "busybox" }],
        } } }],
    })
}

/// The template of the last entry of the diamond, which freezes it.
fn template() -> Value {
    json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": { "name": "d" }, "spec": spec(),
    })
}

/// A diamond with a failing attempt, and something to tidy up.
fn flow() -> Value {
    let entry = |name: &str, targets: &[&str]| {
        let retry = json!({ "limit": 2, "backoff": { "initialSeconds": 1, "jitterPercent": 0 } });
        let mut entry = json!({ "name": name, "retry": retry });
        if name != "d" {
            entry["jobSpec"] = spec();
        }
        if !targets.is_empty() {
            entry["dependsOn"] = json!({ "targets": targets });
        }
        entry
    };
    json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "flow" },
        "spec": {
            "parallelism": 2,
            "templateBinding": "Snapshot",
            "flows": [entry("a", &[]), entry("b", &["a"]), entry("c", &["a"]), entry("d", &["b", "c"])],
            "finally": [entry("tidy", &[])],
        },
    })
}

fn life(attempt: &Attempt) -> Life {
    let fails = attempt.entry == "b" && attempt.attempt == 1;
    Life {
        queued: Span(200),
        runs: Span::from_secs(1),
        end: if fails { End::Fails(3) } else { End::Succeeds },
    }
}

/// The Jobs that come of the flow when nobody deletes any.
const JOBS: [&str; 6] = ["flow-a", "flow-b", "flow-b-r2", "flow-c", "flow-d", "flow-tidy"];

/// Runs the flow once.
pub(crate) async fn run(loss: Loss, befalls: Mix, seed: u64) -> Outcome {
    run_with(loss, befalls, seed, |_| None).await
}

/// The same, with a client in between that makes the driver a faulty one.
pub(crate) async fn run_with(
    loss: Loss,
    befalls: Mix,
    seed: u64,
    mut sabotage: impl FnMut(&Call) -> Option<Fault> + Send + 'static,
) -> Outcome {
    let stage = Stage::new(life);
    let requests = Arc::new(AtomicUsize::new(0));
    let lost = Arc::new(Notify::new());
    let (counted, lose) = (Arc::clone(&requests), Arc::clone(&lost));
    stage.service.act(|state| {
        state.faults.choose(move |call| {
            let number = counted.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(fault) = sabotage(call) {
                return Some(fault);
            }
            if call.who == "first" && loss == Loss::BeforeRequest(number) {
                lose.notify_one();
                return Some(Fault::Silence);
            }
            if call.who == "first" && loss == Loss::AfterRequest(number) {
                lose.notify_one();
                return Some(Fault::DoneInSilence);
            }
            fault(call, befalls, draw(seed, 1, number as u64))
        });
    });
    stage.service.create(template()).unwrap();
    stage.service.create(flow()).unwrap();
    let pendings = Arc::new(AtomicUsize::new(0));
    let first = Lossy {
        driver: Box::pin(stage.driver("first", 0)),
        pendings: Arc::clone(&pendings),
        loss,
    };
    let second = stage.driver("second", 0);
    let drivers = tokio::spawn(async move {
        tokio::select! {
            biased;
            () = lost.notified() => {}
            () = first => {}
        }
        second.await;
    });
    let trouble = tokio::spawn(trouble(stage.service.clone(), befalls, seed));
    let key = Key::of("jobflows", "flow");
    let ended = stage
        .until(|service| is_ended(service, &key), Duration::from_secs(3_600))
        .await;
    trouble.abort();
    sleep(Duration::from_secs(90)).await;
    drivers.abort();
    let mut wrong = violations(&stage.service);
    if !ended {
        let status = stage.service.get(&key).unwrap_or_default()["status"].clone();
        wrong.push(format!("the flow doesn't end: {status:#}"));
    } else if !deletes(befalls) {
        wrong.extend(otherwise(&stage.service, &key));
    }
    Outcome {
        wrong,
        pendings: pendings.load(Ordering::Relaxed),
        requests: requests.load(Ordering::Relaxed),
    }
}

/// What is otherwise than in a run in which nothing befalls.
fn otherwise(service: &Service, key: &Key) -> Vec<String> {
    let mut wrong = Vec::new();
    let flow = service.get(key).unwrap_or_default();
    if phase(&flow) != "Succeed" {
        wrong.push(format!(
            "the flow ends {}: {:#}",
            phase(&flow),
            flow["status"]["nodes"]
        ));
    }
    let made = service.act(|state| {
        let changes = state.store.changes_after(kind("jobs"), 0).iter();
        let added = changes.filter(|change| change.before.is_none());
        let mut names: Vec<String> = added.map(|change| change.key.name.clone()).collect();
        names.sort();
        names
    });
    if made != JOBS {
        wrong.push(format!("Jobs were made: {made:?}"));
    }
    wrong.extend(made_from_another(service));
    wrong
}

/// The last entry's Job, if it was made from another template than the first that was frozen.
fn made_from_another(service: &Service) -> Option<String> {
    let told = |object: &Value| object["metadata"]["annotations"]["flow.volcano.sh/template"].clone();
    let mut frozen = service.all("jobtemplates");
    frozen.retain(|template| template["metadata"]["labels"]["flow.volcano.sh/frozen"].is_string());
    frozen.sort_by_key(|template| template["metadata"]["creationTimestamp"].to_string());
    let first = frozen.first().map(told);
    let made = service.get(&Key::of("jobs", "flow-d")).map(|job| told(&job));
    (first != made).then(|| format!("the Job is made from {made:?}, and {first:?} was frozen"))
}

/// Somebody edits the template that the flow freezes.
fn edit_template(service: &Service) {
    let edit = json!({ "spec": { "maxRetry": 7 } });
    drop(service.merge(&Key::of("jobtemplates", "d"), Part::Main, edit));
}

const fn deletes(befalls: Mix) -> bool {
    matches!(befalls, Mix::Deletes | Mix::Storm)
}

/// What befalls a request by chance.
fn fault(call: &Call, befalls: Mix, chance: u64) -> Option<Fault> {
    let (errs, loses) = match befalls {
        Mix::Calm | Mix::Stale | Mix::Deletes => (false, false),
        Mix::LostReplies => (false, true),
        Mix::Errors => (true, false),
        Mix::Storm => (true, true),
    };
    let strikes = chance.is_multiple_of(5);
    let kind = chance / 5;
    if loses && strikes && call.verb.writes() && kind.is_multiple_of(2) {
        return Some(Fault::LostReply);
    }
    if !errs || !strikes || call.verb == Verb::Watch {
        return None;
    }
    let faults = [
        Fault::Refused(Refusal::internal("etcdserver: leader changed")),
        Fault::Refused(Refusal::too_many(1)),
        Fault::Refused(Refusal::unavailable()),
        Fault::DoneAndRefused(Refusal::timeout()),
        Fault::LostRequest,
        Fault::LostReply,
        Fault::Slow(Duration::from_secs(3)),
        Fault::Late(Duration::from_secs(7)),
        Fault::Late(Duration::from_secs(40)),
        Fault::Silence,
        Fault::DoneInSilence,
    ];
    let place = usize::try_from(kind % faults.len() as u64).unwrap_or(0);
    Some(faults[place].clone())
}

/// What befalls the cluster by chance, every half second.
async fn trouble(service: Service, befalls: Mix, seed: u64) {
    let stale = matches!(befalls, Mix::Stale | Mix::Storm);
    for number in 0.. {
        if number == draw(seed, 3, 0) % 8 {
            edit_template(&service);
        }
        let chance = draw(seed, 2, number);
        let plural = ["jobs", "jobflows", "jobtemplates"][usize::try_from(chance % 3).unwrap_or(0)];
        match (chance / 3) % 8 {
            0 | 1 if stale => service.lag(plural, Duration::from_millis(chance / 64 % 6_000)),
            2 if stale => service.catch_up(plural),
            3 if stale => service.cut(plural, Cut::Closed),
            4 if stale => service.cut(plural, Cut::Broken),
            5 if stale => service.compact(),
            6 if deletes(befalls) => delete_one(&service, chance / 64),
            _ => {}
        }
        sleep(Duration::from_millis(500)).await;
    }
}

fn delete_one(service: &Service, chance: u64) {
    let jobs = service.all("jobs");
    let place = usize::try_from(chance % 8).unwrap_or(0);
    if let Some(job) = jobs.get(place) {
        let policy = if chance.is_multiple_of(2) {
            "Background"
        } else {
            "Foreground"
        };
        drop(service.delete(&Key::of("jobs", object::name(job)), policy));
    }
}

/// A driver that is lost at a moment.
struct Lossy<F> {
    driver: Pin<Box<F>>,
    pendings: Arc<AtomicUsize>,
    loss: Loss,
}

impl<F: Future<Output = ()>> Future for Lossy<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.driver.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let pendings = self.pendings.fetch_add(1, Ordering::Relaxed) + 1;
        if self.loss == Loss::AtPending(pendings) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

/// How much is tried: more with `JOBFLOW_SWEEP=2` and so on.
fn effort() -> u64 {
    let told = std::env::var("JOBFLOW_SWEEP").ok();
    told.and_then(|effort| effort.parse().ok()).unwrap_or(1)
}

/// Every so many moments of all are tried at the least effort.
const STRIDE: usize = 23;

#[test]
fn a_driver_may_be_lost_at_any_moment() {
    let (seeds, stride) = (effort(), if effort() > 1 { 1 } else { STRIDE });
    let (mut runs, mut awaits, mut wrong) = (0, 0, Vec::new());
    for befalls in MIXES {
        for seed in 0..seeds {
            let whole = paused(run(Loss::Never, befalls, seed));
            let pendings = (1..=whole.pendings).map(Loss::AtPending);
            let before = (1..=whole.requests).map(Loss::BeforeRequest);
            let after = (1..=whole.requests).map(Loss::AfterRequest);
            let moments: Vec<Loss> = pendings.chain(before).chain(after).collect();
            awaits += moments.len();
            println!(
                "{befalls:?}: {} rests, {} requests",
                whole.pendings, whole.requests
            );
            let offset = usize::try_from(seed).unwrap_or(0) % stride;
            let tried = moments.into_iter().skip(offset).step_by(stride);
            for loss in [Loss::Never].into_iter().chain(tried) {
                runs += 1;
                let outcome = paused(run(loss, befalls, seed));
                wrong.extend(
                    outcome
                        .wrong
                        .iter()
                        .map(|wrong| format!("{loss:?} {befalls:?} {seed}: {wrong}")),
                );
            }
        }
    }
    println!(
        "{awaits} moments of {} kinds of trouble and {seeds} seeds, {runs} runs: {} violations",
        MIXES.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The same run twice is the same run.
#[test]
fn a_run_is_the_same_each_time() {
    for befalls in [Mix::Storm, Mix::Errors] {
        let [one, other] = [0, 1].map(|_| paused(run(Loss::AtPending(20), befalls, 7)));
        assert_eq!(
            (one.pendings, one.requests, &one.wrong),
            (other.pendings, other.requests, &other.wrong)
        );
    }
}

/// Drivers with a fault, each made of ours by a client that lies to it: the sweep finds every one.
#[test]
fn a_driver_with_a_fault_is_found() {
    let found = |sabotage: fn(&Call) -> Option<Fault>, befalls: Mix| {
        let runs = (0..12).map(|seed| {
            paused(run_with(
                Loss::AtPending(usize::try_from(seed).unwrap() * 4 + 1),
                befalls,
                seed,
                sabotage,
            ))
        });
        runs.map(|outcome| outcome.wrong.len()).sum::<usize>()
    };
    // It takes its record for written, and creates.
    let unwritten = |call: &Call| {
        let writes = call.verb == Verb::Replace && call.kind == Some(kind("jobflows"));
        writes.then(|| Fault::Answered(200, call.body.clone()))
    };
    // It takes a create that was refused for one that wasn't done, and doesn't look.
    let blind = |call: &Call| match call.verb {
        Verb::Create if call.kind == Some(kind("jobs")) => Some(Fault::DoneAndRefused(Refusal::recorded(
            "admission_policy",
            &call.name,
        ))),
        Verb::Get if call.kind == Some(kind("jobs")) => {
            Some(Fault::Refused(Refusal::not_found(kind("jobs"), &call.name)))
        }
        Verb::Create
        | Verb::Get
        | Verb::List
        | Verb::Watch
        | Verb::Replace
        | Verb::Patch
        | Verb::Delete
        | Verb::Other => None,
    };
    assert_eq!(found(|_| None, Mix::Calm), 0);
    assert!(
        found(unwritten, Mix::Calm) > 0,
        "a create without a written record is not found"
    );
    assert!(
        found(blind, Mix::Stale) > 0,
        "a refusal that is taken for a fact is not found"
    );
}
