//! What follows from the entries alone: adjacency both ways, the order, path lengths, handlers, gates.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::cycle;
use super::entry::{Entry, OnSkipped, Strategy, Target, Work};
use super::fault::GraphFault;
use super::order;
use crate::condition::{Condition, Rules};
use crate::key::NodeId;
use crate::time::Span;

/// A switch that decides about a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The switch.
    pub switch: NodeId,
    /// The cases that choose the node.
    pub cases: Vec<u32>,
    /// Whether the default chooses it.
    pub default: bool,
}

impl Gate {
    /// Whether the decided case lets the node through.
    #[must_use]
    pub fn admits(&self, case: Option<u32>) -> bool {
        case.map_or(self.default, |case| self.cases.contains(&case))
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct Links {
    pub(super) order: Vec<NodeId>,
    pub(super) remaining: Vec<u32>,
    pub(super) handlers: Vec<bool>,
    pub(super) on_skipped: Vec<OnSkipped>,
    starts: Vec<u32>,
    dependents: Vec<NodeId>,
    edges: Edges,
    pub(super) finally: Vec<bool>,
    /// Nodes with gates, sorted; nearly always empty.
    gated: Vec<(NodeId, Vec<Gate>)>,
}

impl Links {
    pub(super) fn of(entries: &[Entry]) -> Result<Self, Vec<GraphFault>> {
        let gated = gated(entries);
        let edges = Edges::of(entries, &gated);
        let (starts, dependents) = edges.reversed();
        let Some(order) = order::topological(&edges, &starts, &dependents) else {
            return Err(cycle::find(entries, &starts, &dependents));
        };
        let mut links = Self {
            remaining: vec![1; entries.len()],
            handlers: vec![false; entries.len()],
            on_skipped: entries
                .iter()
                .map(|entry| entry.on_skipped.unwrap_or_default())
                .collect(),
            order,
            starts,
            dependents,
            edges,
            finally: entries.iter().map(|entry| entry.finally).collect(),
            gated,
        };
        links.measure_paths();
        links.mark_handlers(entries);
        links.join_branches(entries);
        Ok(links)
    }

    pub(super) fn plain_targets(&self, node: NodeId) -> Option<&[NodeId]> {
        self.edges.plain[node.position()].then(|| self.edges.of_node(node.position()))
    }

    pub(super) fn dependents(&self, node: NodeId) -> &[NodeId] {
        let from = self.starts[node.position()] as usize;
        let to = self.starts[node.position() + 1] as usize;
        &self.dependents[from..to]
    }

    pub(super) fn gates(&self, node: NodeId) -> &[Gate] {
        gates_of(&self.gated, node)
    }

    fn measure_paths(&mut self) {
        for index in (0..self.order.len()).rev() {
            let node = self.order[index];
            let longest = self
                .dependents(node)
                .iter()
                .map(|next| self.remaining[next.position()])
                .max();
            self.remaining[node.position()] = longest.unwrap_or(0).saturating_add(1);
        }
    }

    fn mark_handlers(&mut self, entries: &[Entry]) {
        for &node in &self.order {
            if self.edges.plain[node.position()] && !self.follows_handler(node) {
                continue;
            }
            let targets = &entries[node.position()].targets;
            let only_after_handlers =
                !targets.is_empty() && targets.iter().all(|target| self.handlers[target.node.position()]);
            self.handlers[node.position()] = only_after_handlers || targets.iter().any(awaits_failure);
        }
    }

    fn follows_handler(&self, node: NodeId) -> bool {
        self.edges
            .of_node(node.position())
            .iter()
            .any(|target| self.handlers[target.position()])
    }

    /// An entry that joins different branches of one switch runs after whichever was taken.
    fn join_branches(&mut self, entries: &[Entry]) {
        if self.gated.is_empty() {
            return;
        }
        for (position, entry) in entries.iter().enumerate() {
            if entry.on_skipped.is_none() && joins_branches(entry, &self.gated) {
                self.on_skipped[position] = OnSkipped::Satisfy;
            }
        }
    }
}

fn awaits_failure(target: &Target) -> bool {
    let awaits = |condition: &Condition| matches!(condition, Condition::Failed | Condition::Finished);
    target
        .rules
        .as_slice()
        .iter()
        .any(|rule| rule.explicit && awaits(&rule.condition))
}

fn joins_branches(entry: &Entry, gated: &[(NodeId, Vec<Gate>)]) -> bool {
    let mut branches: BTreeMap<NodeId, &Gate> = BTreeMap::new();
    let mut gates = entry
        .targets
        .iter()
        .flat_map(|target| gates_of(gated, target.node));
    gates.any(|gate| {
        let first = *branches.entry(gate.switch).or_insert(gate);
        (&first.cases, first.default) != (&gate.cases, gate.default)
    })
}

fn gates_of(gated: &[(NodeId, Vec<Gate>)], node: NodeId) -> &[Gate] {
    match gated.binary_search_by_key(&node, |(gated, _)| *gated) {
        Ok(found) => &gated[found].1,
        Err(_) => &[],
    }
}

fn gated(entries: &[Entry]) -> Vec<(NodeId, Vec<Gate>)> {
    let mut gated: BTreeMap<NodeId, Vec<Gate>> = BTreeMap::new();
    for (position, entry) in entries.iter().enumerate() {
        let Work::Switch(switch) = &entry.work else {
            continue;
        };
        let id = super::node_id(position);
        for (case, branch) in switch.cases.iter().enumerate() {
            let case = u32::try_from(case).unwrap_or(u32::MAX);
            branch
                .iter()
                .for_each(|node| gate_of(gated.entry(*node).or_default(), id).cases.push(case));
        }
        switch
            .default
            .iter()
            .for_each(|node| gate_of(gated.entry(*node).or_default(), id).default = true);
    }
    gated.into_iter().collect()
}

fn gate_of(gates: &mut Vec<Gate>, switch: NodeId) -> &mut Gate {
    if gates.last().is_none_or(|gate| gate.switch != switch) {
        gates.push(Gate {
            switch,
            cases: Vec::new(),
            default: false,
        });
    }
    let last = gates.len() - 1;
    &mut gates[last]
}

/// The edges from each node to what it waits for, in one list.
#[derive(Debug, PartialEq)]
pub(super) struct Edges {
    starts: Vec<u32>,
    targets: Vec<NodeId>,
    /// Nodes that wait for the completion of all their targets and nothing else.
    plain: Vec<bool>,
}

impl Edges {
    fn of(entries: &[Entry], gated: &[(NodeId, Vec<Gate>)]) -> Self {
        let mut edges = Self {
            starts: Vec::with_capacity(entries.len() + 1),
            targets: Vec::with_capacity(entries.len().saturating_mul(2)),
            plain: Vec::with_capacity(entries.len()),
        };
        edges.starts.push(0);
        let mut gates = gated.iter().peekable();
        for (position, entry) in entries.iter().enumerate() {
            let known = |node: &NodeId| node.position() < entries.len();
            edges
                .targets
                .extend(entry.targets.iter().map(|target| target.node).filter(known));
            let above = gates.next_if(|(node, _)| node.position() == position);
            if let Some((_, gates)) = above {
                edges.targets.extend(gates.iter().map(|gate| gate.switch));
            }
            edges.plain.push(above.is_none() && is_plain(entry));
            edges
                .starts
                .push(u32::try_from(edges.targets.len()).unwrap_or(u32::MAX));
        }
        edges
    }

    pub(super) fn len(&self) -> usize {
        self.plain.len()
    }

    pub(super) fn of_node(&self, position: usize) -> &[NodeId] {
        &self.targets[self.starts[position] as usize..self.starts[position + 1] as usize]
    }

    fn reversed(&self) -> (Vec<u32>, Vec<NodeId>) {
        let mut starts = vec![0_u32; self.len() + 1];
        self.targets
            .iter()
            .for_each(|target| starts[target.position() + 1] += 1);
        for position in 1..starts.len() {
            starts[position] += starts[position - 1];
        }
        let mut next = starts.clone();
        let mut dependents = vec![NodeId(0); self.targets.len()];
        for position in 0..self.len() {
            for target in self.of_node(position) {
                let slot = &mut next[target.position()];
                dependents[*slot as usize] = super::node_id(position);
                *slot += 1;
            }
        }
        (starts, dependents)
    }
}

fn is_plain(entry: &Entry) -> bool {
    let completes = |target: &Target| match &target.rules {
        Rules::One(rule) => matches!(rule.condition, Condition::Completed) && rule.delay == Span::ZERO,
        Rules::Many(_) => false,
    };
    entry.strategy == Strategy::All && entry.targets.iter().all(completes)
}
