//! Conformance scripts and flows with known ends have the histories of the made-up world.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jobflow_core::Time;
use jobflow_core::testing::{Act, Life, Script};
use jobflow_core::{NodePhase, Span};
use jobflow_test_service::Key;
use jobflow_test_service::volcano::Attempt;
use jobflow_tests::vectors::Vector;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::history::violations;
use crate::play::{Played, kept_back, play};
use crate::stage::{Stage, node, paused, phase};

fn scripts() -> Vec<(String, Script, Option<&'static str>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let wanted = std::env::var("SCRIPT").unwrap_or_default();
    let read = |file: &PathBuf| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).unwrap();
        let script = Script::parse(&text).unwrap();
        let back = kept_back(&script, &text);
        (name, script, back)
    };
    files
        .iter()
        .map(read)
        .filter(|(name, ..)| name.contains(&wanted))
        .collect()
}

fn differences(script: &Script, played: &Played) -> Vec<String> {
    let graph = script.graph().unwrap();
    let mut found = script.differences(&graph, &played.history, played.end);
    found.extend(
        played
            .violations
            .iter()
            .map(|violation| format!("violated: {violation}")),
    );
    found
}

/// Plays every script in the way that `way` makes of it; how many that were.
fn check(way: impl Fn(&Script) -> Script, misses: Option<NodePhase>) -> String {
    let (mut played, mut back, mut wrong) = (0, BTreeMap::<&str, usize>::new(), Vec::new());
    for (name, script, why) in scripts() {
        if let Some(why) = why {
            *back.entry(why).or_default() += 1;
            continue;
        }
        played += 1;
        let mut script = way(&script);
        let mut result = paused(play(&script));
        for expected in &mut script.expected {
            expected.steps.retain(|(phase, _)| Some(*phase) != misses);
        }
        result.history.retain(|moment| Some(moment.change.to) != misses);
        let found = differences(&script, &result);
        wrong.extend(found.iter().map(|difference| format!("{name}: {difference}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    format!("{played} scripts were played by the driver; kept back: {back:?}")
}

#[test]
fn every_script_has_the_history_that_it_tells() {
    println!("{}", check(Script::clone, None));
}

/// The same script, played by a driver that restarts before everything that people do, and every two seconds.
#[test]
fn a_driver_that_keeps_restarting_makes_the_same_histories() {
    let restarting = |script: &Script| {
        let end = script.play().unwrap().now;
        let moments = (1..).map(|number| Time(0) + Span(number * 2_137));
        let restarts = moments.take_while(|at| *at <= end).map(|at| (at, Act::Forget));
        let mut acts: Vec<(Time, Act)> = restarts.chain(script.acts.iter().cloned()).collect();
        acts.sort_by_key(|(at, _)| *at);
        Script {
            acts,
            ..script.clone()
        }
    };
    // A job waits for its pod for a moment only: whoever wasn't there doesn't see it.
    println!("{}", check(restarting, Some(NodePhase::Queued)));
}

fn template() -> Value {
    json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": { "name": "t" },
        "spec": {
            "minAvailable": 1, "maxRetry": 1,
            "tasks": [{ "name": "main", "replicas": 1, "template": { "spec": {
                "restartPolicy": "Never", "containers": [{ "name": "main", "image": "busybox" }],
            } } }],
            "policies": [{ "exitCode": 97, "action": "AbortJob" }],
        },
    })
}

async fn wrong(vector: Vector) -> Vec<String> {
    let lives = vector.clone();
    let mut stage = Stage::new(move |attempt: &Attempt| Life {
        // What is over at once may never be seen to run.
        runs: Span::from_secs(1),
        ..lives.life(&attempt.entry, attempt.index, attempt.attempt)
    });
    stage.service.create(template()).unwrap();
    let flow = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": { "name": "flow" }, "spec": vector.spec,
    });
    stage.service.create(flow).unwrap();
    stage.start("driver");
    stage.ended("flow").await;
    sleep(std::time::Duration::from_secs(10)).await;
    let flow = stage.service.get(&Key::of("jobflows", "flow")).unwrap();
    let mut found = violations(&stage.service);
    if phase(&flow) != vector.phase {
        found.push(format!(
            "the flow: expected {}, found {}",
            vector.phase,
            phase(&flow)
        ));
    }
    for (name, expected) in &vector.nodes {
        let seen = node(&flow, name);
        if seen.split('/').next() != Some(expected) {
            found.push(format!("{name}: expected {expected}, found {seen}"));
        }
    }
    found
}

#[test]
fn flows_with_known_ends_end_so() {
    let (mut ran, mut failed) = (0, 0);
    let mut back: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in include_str!("../../../vectors/flows.jsonl").lines().enumerate() {
        let mut vector = Vector::parse(line).unwrap();
        vector.correct(number + 1);
        if let Err(fields) = vector.parse_flow() {
            *back
                .entry(fields.into_iter().collect::<Vec<_>>().join(", "))
                .or_default() += 1;
            continue;
        }
        ran += 1;
        let found = paused(wrong(vector));
        if !found.is_empty() {
            failed += 1;
            println!("line {}:\n  {}", number + 1, found.join("\n  "));
        }
    }
    println!("{ran} flows were run by the driver, {failed} ended otherwise; kept back: {back:?}");
    assert_eq!(failed, 0);
}
