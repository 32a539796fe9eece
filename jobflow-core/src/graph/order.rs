//! The order of planning: each node after everything it waits for, the spec's order breaking ties.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::links::Edges;
use super::node_id;
use crate::key::NodeId;

/// A Kahn pass; none when some nodes wait for each other.
pub(super) fn topological(edges: &Edges, starts: &[u32], dependents: &[NodeId]) -> Option<Vec<NodeId>> {
    let waits_for_earlier = |position: usize| {
        edges
            .of_node(position)
            .iter()
            .all(|target| target.position() < position)
    };
    if (0..edges.len()).all(waits_for_earlier) {
        return Some((0..edges.len()).map(node_id).collect());
    }
    let mut unmet: Vec<usize> = (0..edges.len())
        .map(|position| edges.of_node(position).len())
        .collect();
    let mut ready: BinaryHeap<Reverse<u32>> = (0..edges.len())
        .filter(|position| unmet[*position] == 0)
        .map(|position| Reverse(node_id(position).0))
        .collect();
    let mut order = Vec::with_capacity(edges.len());
    while let Some(Reverse(position)) = ready.pop() {
        order.push(NodeId(position));
        let range = starts[position as usize] as usize..starts[position as usize + 1] as usize;
        for dependent in &dependents[range] {
            let left = &mut unmet[dependent.position()];
            *left -= 1;
            if *left == 0 {
                ready.push(Reverse(dependent.0));
            }
        }
    }
    (order.len() == edges.len()).then_some(order)
}
