//! Laws that hold for every graph, every order of ends and every loss of memory.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::sync::Arc;

use jobflow_core::condition::{Condition, Rule};
use jobflow_core::graph::{Entry, FlowGraph, OnSkipped, Strategy, Target};
use jobflow_core::policy::{FailurePolicy, Policy};
use jobflow_core::retry::{Backoff, splitmix64};
use jobflow_core::testing::{End, Life, World, shuffled};
use jobflow_core::{FlowPhase, NodePhase, Span};

/// A source of numbers that is the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = splitmix64(self.0);
        self.0 % sides
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

/// Conditions whose verdict depends on ends alone, so that no order of events can change them.
fn condition(dice: &mut Dice) -> Condition {
    match dice.roll(6) {
        0 => Condition::Failed,
        1 => Condition::Finished,
        _ => Condition::Completed,
    }
}

fn entries(dice: &mut Dice) -> Vec<Entry<Arc<str>>> {
    let count = 2 + dice.roll(9);
    (0..count).map(|position| entry(position, dice)).collect()
}

fn entry(position: u64, dice: &mut Dice) -> Entry<Arc<str>> {
    let mut entry = Entry::job(format!("e{position}").as_str());
    for target in 0..position {
        if dice.one_in(3) {
            let rule = Rule::new(condition(dice));
            entry
                .targets
                .push(Target::with(format!("e{target}").as_str().into(), rule));
        }
    }
    entry.strategy = match entry.targets.len() {
        0 => Strategy::All,
        targets => match dice.roll(4) {
            0 => Strategy::Any,
            1 => Strategy::AtLeast(1 + dice.roll(targets as u64) as u32),
            _ => Strategy::All,
        },
    };
    entry.allow_failure = dice.one_in(4);
    entry.on_skipped = dice.one_in(3).then_some(OnSkipped::Satisfy);
    entry.retry.limit = dice.roll(3) as u32;
    entry.retry.backoff = Backoff {
        initial: Span::ZERO,
        ..Backoff::default()
    };
    entry
}

fn life(seed: u64, node: u32, attempt: u32) -> Life {
    let end = match splitmix64(seed ^ u64::from(node * 8 + attempt)) % 5 {
        0 => End::Fails(1),
        1 => End::NeverStarts,
        _ => End::Succeeds,
    };
    Life::of(end)
}

fn world(seed: u64, failure_policy: FailurePolicy) -> World {
    let graph = FlowGraph::from_names(entries(&mut Dice(seed))).unwrap();
    let policy = Policy {
        failure_policy,
        ..Policy::default()
    };
    World::new(graph, policy, move |key| life(seed, key.node.0, key.attempt))
}

fn play(world: &mut World, order: u64, forgetting: bool) {
    world.settle();
    for round in 0..10_000 {
        if forgetting {
            world.forget();
        }
        if let Some(key) = shuffled(world.pending(), order ^ round).first() {
            world.advance(*key);
        } else if let Some(at) = world.wake_at().filter(|at| *at > world.now) {
            world.now = at;
        } else {
            break;
        }
        world.settle();
    }
    assert!(world.violations.is_empty(), "{:#?}", world.violations);
    assert!(world.phase().is_end(), "{}", world.phase());
}

fn ends(world: &World) -> Vec<(NodePhase, Option<jobflow_core::Reason>)> {
    world
        .record
        .nodes
        .iter()
        .map(|(_, record)| (record.phase(), record.reason))
        .collect()
}

#[test]
fn the_order_of_ends_changes_no_end() {
    for seed in 0..1000 {
        let mut outcomes = (0..6).map(|order| {
            let mut world = world(seed, FailurePolicy::Continue);
            play(&mut world, order * 7919, false);
            (world.phase(), ends(&world))
        });
        let first = outcomes.next().unwrap();
        for other in outcomes {
            assert_eq!(first, other, "seed {seed}");
        }
    }
}

#[test]
fn the_order_of_ends_changes_no_phase_of_a_flow_under_any_policy() {
    for seed in 0..1000 {
        for policy in [FailurePolicy::StopNew, FailurePolicy::CancelAll] {
            let phases: Vec<FlowPhase> = (0..4)
                .map(|order| {
                    let mut world = world(seed, policy);
                    play(&mut world, order * 104_729, false);
                    world.phase()
                })
                .collect();
            assert!(
                phases.windows(2).all(|pair| pair[0] == pair[1]),
                "seed {seed} {policy:?}: {phases:?}"
            );
        }
    }
}

#[test]
fn forgetting_everything_between_any_two_steps_changes_nothing() {
    for seed in 0..1000 {
        let (mut kept, mut lost) = (
            world(seed, FailurePolicy::StopNew),
            world(seed, FailurePolicy::StopNew),
        );
        play(&mut kept, seed, false);
        play(&mut lost, seed, true);
        assert_eq!(ends(&kept), ends(&lost), "seed {seed}");
        assert_eq!(kept.created, lost.created, "seed {seed}");
    }
}

#[test]
fn a_record_read_back_is_the_record_that_was_written() {
    for seed in 0..200 {
        let mut world = world(seed, FailurePolicy::StopNew);
        world.settle();
        while let Some(key) = world.pending().first().copied() {
            let text = serde_json::to_string(&world.record).unwrap();
            let read: jobflow_core::FlowRecord = serde_json::from_str(&text).unwrap();
            assert_eq!(read, world.record);
            world.record = read;
            world.advance(key);
            world.settle();
        }
    }
}

#[test]
fn no_job_is_created_twice() {
    for seed in 0..1000 {
        let mut world = world(seed, FailurePolicy::CancelAll);
        play(&mut world, seed, true);
        let mut created = world.created.clone();
        created.sort_unstable();
        created.dedup();
        assert_eq!(created.len(), world.created.len(), "seed {seed}");
    }
}

#[test]
fn other_names_change_no_end() {
    for seed in 0..300 {
        let renamed = entries(&mut Dice(seed)).into_iter().map(|mut entry| {
            entry.name = format!("x-{}", entry.name).as_str().into();
            for target in &mut entry.targets {
                target.node = format!("x-{}", target.node).as_str().into();
            }
            entry
        });
        let graph = FlowGraph::from_names(renamed.collect()).unwrap();
        let lives = move |key: jobflow_core::JobKey| life(seed, key.node.0, key.attempt);
        let mut other = World::new(graph, Policy::default(), lives);
        let mut one = world(seed, FailurePolicy::StopNew);
        play(&mut one, seed, false);
        play(&mut other, seed, false);
        assert_eq!(ends(&one), ends(&other), "seed {seed}");
    }
}
