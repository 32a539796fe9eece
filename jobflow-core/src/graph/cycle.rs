//! Circles in a graph that has no order: one for each set of entries that wait for each other.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::ToString;
use alloc::vec::Vec;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::entry::Entry;
use super::fault::GraphFault;
use super::node_id;
use crate::key::NodeId;

/// One circle a strongly connected component, each from its first entry in the spec on.
pub(super) fn find(entries: &[Entry], starts: &[u32], dependents: &[NodeId]) -> Vec<GraphFault> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(entries.len(), dependents.len());
    for _ in entries {
        graph.add_node(());
    }
    for (position, range) in starts.windows(2).enumerate() {
        for dependent in &dependents[range[0] as usize..range[1] as usize] {
            graph.add_edge(NodeIndex::new(position), NodeIndex::new(dependent.position()), ());
        }
    }
    let mut circles: Vec<Vec<NodeId>> = kosaraju_scc(&graph)
        .iter()
        .filter_map(|component| circle(&graph, component))
        .collect();
    circles.sort();
    circles.into_iter().map(|nodes| fault(entries, nodes)).collect()
}

/// Walks inside the component until an entry comes up again; that one and what follows it is a circle.
fn circle(graph: &DiGraph<(), ()>, component: &[NodeIndex]) -> Option<Vec<NodeId>> {
    let first = *component.iter().min()?;
    if component.len() == 1 && !graph.contains_edge(first, first) {
        return None;
    }
    let members: BTreeSet<NodeIndex> = component.iter().copied().collect();
    let mut seen: BTreeMap<NodeIndex, usize> = BTreeMap::new();
    let mut walk: Vec<NodeIndex> = Vec::new();
    let mut at = first;
    while !seen.contains_key(&at) {
        seen.insert(at, walk.len());
        walk.push(at);
        at = graph.neighbors(at).filter(|next| members.contains(next)).min()?;
    }
    let from = seen.get(&at).copied()?;
    let mut round: Vec<NodeId> = walk[from..].iter().map(|index| node_id(index.index())).collect();
    let smallest = round
        .iter()
        .enumerate()
        .min_by_key(|(_, node)| **node)
        .map_or(0, |(at, _)| at);
    round.rotate_left(smallest);
    Some(round)
}

fn fault(entries: &[Entry], nodes: Vec<NodeId>) -> GraphFault {
    let name = |node: &NodeId| entries[node.position()].name.to_string();
    let names = nodes.iter().chain(nodes.first()).map(name).collect();
    GraphFault::Cycle { nodes, names }
}
