//! What a graph refuses, and that checking it takes time in line with its size.

use std::sync::Arc;

use jobflow_core::graph::{Entry, GraphFault};
use jobflow_core::{FlowGraph, NodeId};

fn job(name: &str, targets: &[&str]) -> Entry<Arc<str>> {
    Entry::job(name).after(targets.iter().map(|target| (*target).into()))
}

fn faults(entries: Vec<Entry<Arc<str>>>) -> Vec<GraphFault> {
    FlowGraph::from_names(entries).err().unwrap_or_default()
}

/// Layers of entries that each wait for the whole layer before: the number of paths multiplies with each.
fn layers(count: u32, width: u32) -> Vec<Entry> {
    let layer_before = |position: u32| {
        let layer = position / width;
        (layer.saturating_sub(1) * width..layer * width).map(NodeId)
    };
    (0..count * width)
        .map(|position| Entry::job("e").after(layer_before(position)))
        .collect()
}

#[test]
fn entries_that_wait_for_each_other_are_refused_with_the_way_round() {
    for length in 1..=5_usize {
        let name = |position: usize| format!("e{}", position % length);
        let ring = (0..length)
            .map(|position| job(&name(position), &[&name(position + length - 1)]))
            .collect();
        let found = faults(ring);
        let [GraphFault::Cycle { nodes, names }] = &found[..] else {
            return assert_eq!(found, [], "a ring of {length}");
        };
        assert_eq!(nodes.len(), length);
        assert_eq!((&names[0], names.len()), (&"e0".to_owned(), length + 1));
        assert_eq!(names.first(), names.last());
    }
}

#[test]
fn what_a_circle_is_made_of_is_told_and_nothing_else() {
    let found = faults(vec![
        job("in", &[]),
        job("a", &["in", "b"]),
        job("b", &["a"]),
        job("out", &["b"]),
    ]);
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["entries wait for each other: a -> b -> a"]);
}

#[test]
fn a_name_that_stands_twice_is_refused() {
    let found = faults(vec![job("a", &[]), job("a", &[]), job("b", &["a"])]);
    let expected = GraphFault::DuplicateName {
        name: "a".into(),
        first: NodeId(0),
        second: NodeId(1),
    };
    assert_eq!(found, [expected]);
}

#[test]
fn every_fault_is_told_at_once() {
    let found = faults(vec![job("a", &["a"]), job("b", &["nobody"]), job("b", &[])]);
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "entry \"b\" is there twice",
            "target \"nobody\" is no entry of this flow",
            "entries wait for each other: a -> a"
        ]
    );
}

#[test]
fn layers_through_which_paths_multiply_are_put_in_order_all_the_same() {
    let graph = FlowGraph::build(layers(200, 10)).unwrap();
    assert_eq!(graph.remaining(NodeId(0)), 200);
    assert_eq!(graph.order().len(), 2000);
}

#[test]
fn a_circle_behind_layers_through_which_paths_multiply_is_found() {
    let mut entries = layers(200, 10);
    entries[0] = Entry::job("e").after([NodeId(1999)]);
    let found = FlowGraph::build(entries).err().unwrap();
    assert!(
        matches!(&found[..], [GraphFault::Cycle { nodes, .. }] if nodes[0] == NodeId(0)),
        "{found:?}"
    );
}
