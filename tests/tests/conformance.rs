//! Conformance scripts in the made-up world: each shows one rule, and the histories must be those that it tells.

#![expect(clippy::unwrap_used, reason = "tests say so when something is missing")]

use jobflow_core::testing::{Act, Script, World};
use jobflow_core::{Span, Time};
use jobflow_tests::scripts::{self, Told};

/// The same script, played by a driver that restarts before everything that people do, and twice a second.
fn with_restarts(script: &Script, until: Time) -> Script {
    let halves = (0..).map(|half| Time(0) + Span(half * 500));
    let restarts = halves.take_while(|at| *at <= until).map(|at| (at, Act::Forget));
    let mut acts: Vec<(Time, Act)> = restarts.chain(script.acts.iter().cloned()).collect();
    acts.sort_by_key(|(at, _)| *at);
    Script {
        acts,
        ..script.clone()
    }
}

/// What is wrong with how a script was played, a line each.
fn differences(script: &Script, world: &World) -> Vec<String> {
    let mut found = script.differences(&world.graph, &world.history, world.phase());
    found.extend(
        world
            .violations
            .iter()
            .map(|violation| format!("violated: {violation}")),
    );
    found
}

/// Plays every script in each of the ways that `ways` makes of it, and tells all differences at once.
fn check(ways: impl Fn(&Script) -> Vec<Script>) {
    let mut wrong = Vec::new();
    for Told { name, script, .. } in scripts::all() {
        for way in ways(&script) {
            let found = differences(&way, &way.play().unwrap());
            wrong.extend(found.iter().map(|difference| format!("{name}: {difference}")));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_script_has_the_history_that_it_tells() {
    check(|script| vec![script.clone()]);
}

#[test]
fn a_driver_that_keeps_restarting_makes_the_same_histories() {
    check(|script| {
        let end = script.play().unwrap().now;
        vec![with_restarts(script, end)]
    });
}

#[test]
fn every_script_says_what_it_shows_and_expects_something() {
    for Told { name, script, .. } in scripts::all() {
        assert!(!script.title.is_empty(), "{name} has no title");
        assert!(!script.expected.is_empty(), "{name} expects nothing");
        for expected in &script.expected {
            assert!(
                script.entries.iter().any(|entry| entry.name == expected.name),
                "{name} expects something of {}, which is no entry",
                expected.name
            );
        }
    }
}
