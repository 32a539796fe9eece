//! What the graph accepts, how it orders, and how it tells every fault at once.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::sync::Arc;

use jobflow_core::NodeId;
use jobflow_core::graph::{Entry, FlowGraph, GraphFault, Strategy, Target};
use jobflow_core::testing::Script;

fn graph(text: &str) -> FlowGraph {
    Script::parse(text).unwrap().graph().unwrap()
}

fn faults(entries: Vec<Entry<Arc<str>>>) -> Vec<String> {
    let faults = FlowGraph::from_names(entries).unwrap_err();
    faults.iter().map(ToString::to_string).collect()
}

fn names(graph: &FlowGraph) -> Vec<String> {
    graph
        .order()
        .iter()
        .map(|node| graph.entry(*node).name.to_string())
        .collect()
}

fn job(name: &str, targets: &[&str]) -> Entry<Arc<str>> {
    Entry::job(name).after(targets.iter().map(|target| Arc::from(*target)))
}

#[test]
fn each_node_comes_after_what_it_waits_for_and_the_spec_breaks_ties() {
    let graph = graph("entry d after b c\nentry c after a\nentry b after a\nentry a");
    assert_eq!(names(&graph), ["a", "c", "b", "d"]);
    assert_eq!(graph.remaining(graph.find("a").unwrap()), 3);
    assert_eq!(graph.dependents(graph.find("a").unwrap()).len(), 2);
}

#[test]
fn every_fault_is_told_at_once() {
    let found = faults(vec![
        job("a", &["b"]),
        job("b", &["a"]),
        job("c", &["nobody"]),
        job("a", &[]),
        Entry {
            strategy: Strategy::AtLeast(2),
            ..job("d", &["c", "c"])
        },
    ]);
    assert_eq!(
        found,
        [
            "entry \"a\" is there twice",
            "target \"nobody\" is no entry of this flow",
            "at least 2 of 1 targets can not be met",
            "entries wait for each other: a -> b -> a",
        ]
    );
}

#[test]
fn an_entry_that_waits_for_itself_is_a_circle() {
    assert_eq!(
        faults(vec![job("a", &["a"])]),
        ["entries wait for each other: a -> a"]
    );
}

#[test]
fn each_circle_is_told_once_from_its_first_entry_on() {
    let entries = vec![
        job("x", &["z"]),
        job("y", &["x"]),
        job("z", &["y"]),
        job("p", &["q"]),
        job("q", &["p"]),
        job("free", &["p"]),
    ];
    assert_eq!(
        faults(entries),
        [
            "entries wait for each other: x -> y -> z -> x",
            "entries wait for each other: p -> q -> p"
        ]
    );
}

#[test]
fn finally_and_the_rest_can_not_wait_for_each_other() {
    let last = Entry {
        finally: true,
        ..job("last", &["first"])
    };
    let found = FlowGraph::from_names(vec![job("first", &[]), last]).unwrap_err();
    assert!(matches!(
        found[..],
        [GraphFault::AcrossFinally {
            node: NodeId(1),
            position: 0,
            ..
        }]
    ));
}

#[test]
fn positions_past_the_end_are_faults_and_no_panic() {
    let found = FlowGraph::build(vec![Entry {
        targets: vec![Target::completed(NodeId(7))],
        ..Entry::job("a")
    }]);
    assert!(matches!(
        found.unwrap_err()[..],
        [GraphFault::UnknownTarget { .. }]
    ));
}

#[test]
fn handlers_are_those_that_await_failure_and_those_after_nothing_else() {
    let graph = graph(
        "entry a\nentry on-failure after a:Failed\nentry report after on-failure\n\
         entry mixed after on-failure a\nentry plain after a",
    );
    let handlers: Vec<&str> = graph
        .entries()
        .iter()
        .enumerate()
        .filter(|(position, _)| graph.is_handler(NodeId(*position as u32)))
        .map(|(_, entry)| &*entry.name)
        .collect();
    assert_eq!(handlers, ["on-failure", "report"]);
}

#[test]
fn targets_named_twice_are_harmless() {
    let graph = graph("entry a\nentry b after a a");
    assert_eq!(names(&graph), ["a", "b"]);
}
