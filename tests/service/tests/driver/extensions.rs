//! Predicates of an embedding program: where their answers come from, and what one that panics does to others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jobflow_core::condition::{Predicate, PredicateFactory, TargetView};
use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::testing::End;
use jobflow_core::{FactCache, Time, Verdict};
use jobflow_k8s::client::{Asker, Extensions, FactSource, Finding};
use jobflow_test_service::volcano::Attempt;
use jobflow_test_service::{Key, Part};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cases::{CHAIN, assert_sound, created, flow, life, the_flow, until_node};
use crate::stage::{Stage, node, phase};

/// A kind of predicates: holds when its source says `open`, and panics if it is of the kind `Boom`.
#[derive(Clone, Copy, Debug)]
struct Kind(&'static str);

impl PredicateFactory for Kind {
    fn kind(&self) -> &str {
        self.0
    }

    fn build(&self, _arguments: &str) -> Result<Arc<dyn Predicate>, String> {
        Ok(Arc::new(*self))
    }
}

impl Predicate for Kind {
    fn kind(&self) -> &str {
        self.0
    }

    fn arguments(&self) -> &str {
        "{}"
    }

    fn wants(&self, target: TargetView<'_>) -> Vec<FactKey> {
        vec![self.question(target.name)]
    }

    fn evaluate(&self, target: TargetView<'_>, facts: &FactCache, _now: Time) -> Verdict {
        assert_ne!(self.0, "Boom", "this predicate can't be evaluated");
        let fact = facts.find(&self.question(target.name));
        match fact.is_some_and(|fact| fact.answer == Answer::Custom("open".into())) {
            true => Verdict::Satisfied,
            false => Verdict::Pending,
        }
    }
}

impl Kind {
    fn question(self, target: &str) -> FactKey {
        FactKey::Custom {
            kind: self.0.into(),
            question: target.into(),
        }
    }
}

/// Says what it is told to say; its first answer is an error.
#[derive(Debug, Default)]
struct Door {
    open: AtomicBool,
    asked: AtomicUsize,
}

#[async_trait]
impl FactSource for Door {
    fn kind(&self) -> &str {
        "Door"
    }

    async fn answer(&self, asker: &Asker, question: &str) -> Result<String, String> {
        assert_eq!(
            (asker.namespace.as_str(), asker.flow.as_str(), question),
            ("default", "flow", "a")
        );
        if self.asked.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err("nobody is at the door".to_owned());
        }
        let open = self.open.load(Ordering::Relaxed);
        Ok(if open { "open" } else { "shut" }.to_owned())
    }
}

/// The chain, whose second entry waits for such a predicate about the first too.
fn waiting(kind: &str) -> Value {
    let mut object = flow(CHAIN);
    object["spec"]["flows"][1]["dependsOn"] = json!({ "custom": [{ "kind": kind, "target": "a" }] });
    object
}

/// A cluster on which Jobs run for so many seconds, and what is added to drivers.
fn stage(door: &Arc<Door>, runs: u64) -> Stage {
    let mut stage = Stage::new(move |_: &Attempt| life(End::Succeeds, runs));
    let source: Arc<dyn FactSource> = Arc::<Door>::clone(door);
    stage.extensions = Extensions::default()
        .with_predicates(Arc::new(Kind("Door")))
        .with_predicates(Arc::new(Kind("Boom")))
        .with_source(source);
    stage
}

#[tokio::test(start_paused = true)]
async fn an_entry_starts_when_the_source_of_its_predicate_says_so() {
    let door = Arc::<Door>::default();
    let mut stage = stage(&door, 1_000);
    stage.service.create(waiting("Door")).unwrap();
    stage.start("driver");
    until_node(&stage, "a", "Running").await;
    sleep(Duration::from_secs(300)).await;
    assert_eq!(created(&stage.service), 1);
    let asked = door.asked.load(Ordering::Relaxed);
    assert!((20..=40).contains(&asked), "once in ten seconds: {asked}");
    door.open.store(true, Ordering::Relaxed);
    until_node(&stage, "b", "Running").await;
    assert_eq!(node(&the_flow(&stage.service), "a"), "Running");
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    assert_eq!(created(&stage.service), 2);
    let asked = door.asked.load(Ordering::Relaxed);
    sleep(Duration::from_secs(300)).await;
    assert_eq!(
        door.asked.load(Ordering::Relaxed),
        asked,
        "nobody waits for it any more"
    );
    assert_sound(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_makes_the_program_panic_is_left_alone_until_it_is_edited() {
    let mut stage = stage(&Arc::default(), 5);
    let mut poison = waiting("Boom");
    poison["metadata"]["name"] = "poison".into();
    stage.service.create(poison).unwrap();
    stage.service.create(flow(CHAIN)).unwrap();
    stage.start("driver");
    assert_eq!(phase(&stage.ended("flow").await), "Succeed");
    let panicked = |stage: &Stage| {
        let found = stage.ear.found();
        let of_poison = found.into_iter().filter(|(flow, _)| flow == "poison");
        of_poison
            .filter(|(_, finding)| {
                matches!(finding, Finding::Panicked(words) if words.contains("this predicate can't be evaluated"))
            })
            .count()
    };
    sleep(Duration::from_secs(600)).await;
    assert_eq!(panicked(&stage), 1, "{:?}", stage.ear.found());

    let key = Key::of("jobflows", "poison");
    let label = json!({ "metadata": { "labels": { "touched": "yes" } } });
    stage.service.merge(&key, Part::Main, label).unwrap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(panicked(&stage), 1, "a label mends nothing");
    let mended = json!({ "spec": flow(CHAIN)["spec"] });
    stage.service.merge(&key, Part::Main, mended).unwrap();
    assert_eq!(phase(&stage.ended("poison").await), "Succeed");
    assert_sound(&stage);
}
