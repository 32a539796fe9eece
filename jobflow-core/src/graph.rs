//! The graph of a flow: entries in, checked and ordered adjacency out, or every fault of its shape at once.
//! Deliberately absent: instances of groups (they are no nodes) and everything that changes while a flow runs.

use alloc::sync::Arc;
use alloc::vec::Vec;

mod check;
mod cycle;
mod entry;
mod fault;
mod links;
mod names;
mod order;

pub use entry::{Entry, OnSkipped, Strategy, Switch, Target, Timeout, TimeoutScope, Work};
pub use fault::GraphFault;
pub use links::Gate;
use links::Links;

use crate::key::NodeId;

/// A flow that can be planned: every target exists, and nothing waits for itself.
///
/// Cloning is cheap: what is large is shared.
///
/// ```
/// use jobflow_core::graph::{Entry, FlowGraph};
///
/// let graph = FlowGraph::from_names(vec![Entry::job("b").after(["a".into()]), Entry::job("a")]).unwrap();
/// let order: Vec<&str> = graph.order().iter().map(|node| &*graph.entry(*node).name).collect();
/// assert_eq!(order, ["a", "b"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGraph {
    entries: Arc<Vec<Entry>>,
    links: Arc<Links>,
}

impl FlowGraph {
    /// Builds a graph of entries whose targets are names.
    ///
    /// # Errors
    ///
    /// Every fault of the entries, in the order of the spec.
    pub fn from_names(entries: Vec<Entry<Arc<str>>>) -> Result<Self, Vec<GraphFault>> {
        let (resolved, faults) = names::resolve(entries);
        Self::checked(resolved, faults)
    }

    /// Builds a graph of entries whose targets are positions. Names are not compared: the caller made them unique.
    ///
    /// # Errors
    ///
    /// Every fault of the entries, in the order of the spec.
    pub fn build(entries: Vec<Entry>) -> Result<Self, Vec<GraphFault>> {
        Self::checked(entries, Vec::new())
    }

    fn checked(entries: Vec<Entry>, mut faults: Vec<GraphFault>) -> Result<Self, Vec<GraphFault>> {
        check::targets(&entries, &mut faults);
        match Links::of(&entries) {
            Ok(links) if faults.is_empty() => Ok(Self {
                entries: entries.into(),
                links: Arc::new(links),
            }),
            Ok(_) => Err(faults),
            Err(cycles) => {
                faults.extend(cycles);
                Err(faults)
            }
        }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the flow has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries, in the order of the spec.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of a node.
    ///
    /// # Panics
    ///
    /// If the node is not of this graph.
    #[must_use]
    pub fn entry(&self, node: NodeId) -> &Entry {
        &self.entries[node.position()]
    }

    /// The node of that name. Looks through all of them: for people, not for plans.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.entries
            .iter()
            .position(|entry| &*entry.name == name)
            .map(node_id)
    }

    /// All nodes, each after everything it waits for; the order of the spec breaks ties.
    #[must_use]
    pub fn order(&self) -> &[NodeId] {
        &self.links.order
    }

    /// The targets of a node that waits for nothing but the completion of all of them, without a switch above it;
    /// none when more has to be looked at.
    #[must_use]
    pub(crate) fn plain_targets(&self, node: NodeId) -> Option<&[NodeId]> {
        self.links.plain_targets(node)
    }

    /// The nodes that wait for this one.
    #[must_use]
    pub fn dependents(&self, node: NodeId) -> &[NodeId] {
        self.links.dependents(node)
    }

    /// The switches that decide about this node, each with the cases that choose it.
    #[must_use]
    pub fn gates(&self, node: NodeId) -> &[Gate] {
        self.links.gates(node)
    }

    /// How many entries are on the longest path from this node to an end of the flow, itself included.
    #[must_use]
    pub fn remaining(&self, node: NodeId) -> u32 {
        self.links.remaining[node.position()]
    }

    /// Whether the entry is one of those that run after all others have ended.
    #[must_use]
    pub fn is_finally(&self, node: NodeId) -> bool {
        self.links.finally[node.position()]
    }

    /// Whether the entry goes on while the flow is failing: it waits for a failure or an end in so many words, or
    /// for nothing but such entries.
    #[must_use]
    pub fn is_handler(&self, node: NodeId) -> bool {
        self.links.handlers[node.position()]
    }

    /// What a benignly skipped target means to this node.
    #[must_use]
    pub fn on_skipped(&self, node: NodeId) -> OnSkipped {
        self.links.on_skipped[node.position()]
    }
}

/// The node at a position; positions past what can be counted are refused before a graph exists.
pub(crate) fn node_id(position: usize) -> NodeId {
    NodeId(u32::try_from(position).unwrap_or(u32::MAX))
}
