//! Flows with known ends, in the made-up world.

#![expect(
    clippy::unwrap_used,
    reason = "tests say so when something is not as it must be"
)]

use std::collections::BTreeMap;

use jobflow_core::testing::{World, shuffled};
use jobflow_core::{FlowGraph, Policy};
use jobflow_tests::vectors::Vector;

fn world(vector: &Vector, graph: FlowGraph, policy: Policy) -> World {
    let (names, lives) = (graph.clone(), vector.clone());
    World::new(graph, policy, move |key| {
        lives.life(&names.entry(key.node).name, key.index, key.attempt)
    })
}

fn play(mut world: World, seed: u64) -> World {
    world.settle();
    for round in 0.. {
        let order = shuffled(world.pending(), seed.wrapping_mul(1_000_003).wrapping_add(round));
        if let Some(key) = order.first() {
            world.advance(*key);
        } else if let Some(at) = world.wake_at().filter(|at| *at > world.now) {
            world.now = at;
        } else {
            break;
        }
        world.settle();
    }
    world
}

fn built_in() -> Vec<Vector> {
    let lines = include_str!("../vectors/flows.jsonl").lines().enumerate();
    let read = |(number, line): (usize, &str)| {
        let mut vector = Vector::parse(line).unwrap();
        vector.correct(number + 1);
        vector
    };
    lines.map(read).collect()
}

fn vectors() -> Vec<Vector> {
    let Some(path) = std::env::var_os("JOBFLOW_VECTORS") else {
        return built_in();
    };
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| Vector::parse(line).unwrap()).collect()
}

fn differences(vector: &Vector, world: &World) -> Vec<String> {
    let mut found: Vec<String> = world.violations.iter().map(ToString::to_string).collect();
    if world.phase().as_str() != vector.phase {
        found.push(format!(
            "the flow: expected {}, found {}",
            vector.phase,
            world.phase()
        ));
    }
    for (name, expected) in &vector.nodes {
        let record = &world.record.nodes[world.graph.find(name).unwrap()];
        if record.phase().as_str() != expected {
            found.push(format!(
                "{name}: expected {expected}, found {} {:?}",
                record.phase(),
                record.reason
            ));
        }
    }
    found
}

/// Plays a flow in eight orders; what differs from its known end, if anything.
fn wrong(vector: &Vector, graph: &FlowGraph, policy: &Policy) -> Option<String> {
    let worlds = (0..8).map(|seed| play(world(vector, graph.clone(), policy.clone()), seed));
    let found = worlds
        .map(|world| differences(vector, &world))
        .find(|found| !found.is_empty());
    found.map(|found| found.join("\n  "))
}

#[test]
fn flows_as_they_are_written_end_as_it_was_computed() {
    let (mut ran, mut failed) = (0, 0);
    let mut back: BTreeMap<String, usize> = BTreeMap::new();
    for (number, vector) in vectors().iter().enumerate() {
        match vector.parse_flow() {
            Ok(flow) => {
                ran += 1;
                if let Some(found) = wrong(vector, &flow.graph, &flow.policy) {
                    failed += 1;
                    println!("line {}:\n  {found}", number + 1);
                }
            }
            Err(features) => {
                features
                    .into_iter()
                    .for_each(|feature| *back.entry(feature).or_default() += 1);
            }
        }
    }
    println!(
        "{ran} flows ran, {failed} ended otherwise; kept back by fields (a flow may have several): {back:?}"
    );
    assert_eq!(failed, 0);
    assert!(
        back.keys()
            .all(|feature| ["forEach", "switch", "when"].contains(&feature.as_str())),
        "{back:?}"
    );
}

/// The core decides more than can be written yet.
#[test]
fn flows_with_branches_end_as_it_was_computed() {
    let (mut ran, mut failed) = (0, 0);
    for (number, vector) in vectors().iter().enumerate() {
        if vector.spec.to_string().contains("forEach") {
            continue;
        }
        ran += 1;
        let graph = FlowGraph::from_names(vector.entries()).unwrap_or_else(|faults| panic!("{faults:?}"));
        if let Some(found) = wrong(vector, &graph, &vector.policy()) {
            failed += 1;
            println!("line {}:\n  {found}", number + 1);
        }
    }
    println!("{ran} flows without groups ran in the core, {failed} ended otherwise");
    assert_eq!(failed, 0);
}
