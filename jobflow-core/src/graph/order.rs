//! The order of planning: each node after everything it waits for, the spec's order breaking ties.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::entry::Entry;
use super::links::{Gate, each_edge};
use super::node_id;
use crate::key::NodeId;

/// A Kahn pass; none when some nodes wait for each other.
pub(super) fn topological(
    entries: &[Entry],
    gated: &[(NodeId, Vec<Gate>)],
    starts: &[u32],
    dependents: &[NodeId],
) -> Option<Vec<NodeId>> {
    let mut unmet = vec![0_u32; entries.len()];
    let mut written_in_order = true;
    each_edge(entries, gated, |target, node| {
        unmet[node.position()] += 1;
        written_in_order &= target < node;
    });
    if written_in_order {
        return Some((0..entries.len()).map(node_id).collect());
    }
    let mut ready: BinaryHeap<Reverse<u32>> = (0..entries.len())
        .filter(|position| unmet[*position] == 0)
        .map(|position| Reverse(node_id(position).0))
        .collect();
    let mut order = Vec::with_capacity(entries.len());
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
    (order.len() == entries.len()).then_some(order)
}
