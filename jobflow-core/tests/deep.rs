//! The longest chain and the largest circle, on a stack that leaves nothing to recursion.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::thread;

use jobflow_core::graph::{Entry, GraphFault};
use jobflow_core::node::NodeState;
use jobflow_core::{
    FactCache, FlowGraph, FlowPhase, NodeId, NodePhase, Policy, Reason, Snapshot, Time, plan,
};

const LENGTH: u32 = 1_000_000;
const STACK: usize = 256 << 10;

fn on_a_small_stack(check: fn()) {
    thread::Builder::new()
        .stack_size(STACK)
        .spawn(check)
        .unwrap()
        .join()
        .unwrap();
}

/// Entries that each wait for the one before; the first one waits for `first`, if given.
fn chain(first: Option<NodeId>) -> Vec<Entry> {
    let mut before = first;
    (0..LENGTH)
        .map(|position| Entry::job("e").after(before.replace(NodeId(position))))
        .collect()
}

/// The same entries, listed last to first.
fn reversed_chain() -> Vec<Entry> {
    (0..LENGTH)
        .map(|position| Entry::job("e").after(Some(position + 1).filter(|next| *next < LENGTH).map(NodeId)))
        .collect()
}

#[test]
fn a_chain_of_a_million_is_built_and_planned() {
    on_a_small_stack(|| {
        let graph = FlowGraph::build(chain(None)).unwrap();
        assert_eq!(graph.remaining(NodeId(0)), LENGTH);
        let snapshot = Snapshot::unborn(graph.len());
        let planned = plan(
            &graph,
            &Policy::default(),
            &snapshot,
            &FactCache::default(),
            Time(0),
        );
        assert_eq!(planned.report.len(), LENGTH as usize);
        assert_eq!(planned.next.phase, FlowPhase::Pending);
    });
}

#[test]
fn a_chain_listed_backwards_is_put_in_order() {
    on_a_small_stack(|| {
        let graph = FlowGraph::build(reversed_chain()).unwrap();
        assert_eq!(graph.order().first(), Some(&NodeId(LENGTH - 1)));
        assert_eq!(graph.order().last(), Some(&NodeId(0)));
    });
}

#[test]
fn a_failure_reaches_the_end_of_a_chain_of_a_million_in_one_plan() {
    on_a_small_stack(|| {
        let graph = FlowGraph::build(chain(None)).unwrap();
        let mut snapshot = Snapshot::unborn(graph.len());
        let first = snapshot.record.nodes.change(NodeId(0));
        first.state = NodeState::recorded(NodePhase::Failed);
        first.reason = Some(Reason::JobFailed);
        first.attempt = 1;
        let planned = plan(
            &graph,
            &Policy::default(),
            &snapshot,
            &FactCache::default(),
            Time(0),
        );
        let last = &planned.next.nodes[NodeId(LENGTH - 1)];
        assert_eq!(
            (last.phase(), last.reason),
            (NodePhase::Skipped, Some(Reason::UpstreamFailed))
        );
        assert_eq!(last.cause.map(|cause| cause.node), Some(NodeId(0)));
        assert_eq!(planned.next.phase, FlowPhase::Failed);
    });
}

#[test]
fn a_ring_of_a_million_is_found() {
    on_a_small_stack(|| {
        let faults = FlowGraph::build(chain(Some(NodeId(LENGTH - 1)))).unwrap_err();
        let [GraphFault::Cycle { nodes, .. }] = &faults[..] else {
            return assert_eq!(faults.len(), 1);
        };
        assert_eq!((nodes.len(), nodes[0]), (LENGTH as usize, NodeId(0)));
    });
}
