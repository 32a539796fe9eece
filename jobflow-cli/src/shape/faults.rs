//! What the graph of a flow has against its shape, each fault at its place.

use std::sync::Arc;

use jobflow_core::graph::{self, FlowGraph, GraphFault};
use jobflow_core::key::NodeId;
use jobflow_k8s::fault::{Code, Fault, FieldPath};
use jobflow_k8s::yaml::Document;

use super::{Entry, Shape};

impl Shape {
    /// Everything that is wrong with names and arrows.
    pub(crate) fn faults(&self, document: &Document) -> Vec<Fault> {
        let entries = self.entries.iter().map(as_node).collect();
        let found = FlowGraph::from_names(entries).err().unwrap_or_default();
        let found = found
            .into_iter()
            .filter_map(|fault| self.placed(&fault, document));
        let branches = self
            .unknown_branches
            .iter()
            .map(|(name, path)| self.unknown("the branch", name, path.clone()));
        found
            .chain(branches)
            .map(|fault| document.with_place(fault))
            .collect()
    }

    fn placed(&self, fault: &GraphFault, document: &Document) -> Option<Fault> {
        match fault {
            GraphFault::DuplicateName { name, first, second } => {
                let path = self.entry(*second)?.path.field("name");
                let message = format!("two entries have the name `{name}`");
                let first = self
                    .entry(*first)
                    .and_then(|entry| document.place(&entry.path.field("name")));
                let help = first.map_or_else(
                    || "give one of them another name".to_owned(),
                    |place| format!("the first is at {place}; give one of them another name"),
                );
                Some(Fault::error(Code::DuplicateName, path, message).with_help(help))
            }
            GraphFault::UnknownTarget {
                node,
                position,
                target,
            } => {
                let wait = self.entry(*node)?.waits.get(*position)?;
                Some(self.unknown("the target", target, wait.path.clone()))
            }
            GraphFault::Cycle { nodes, names } => {
                let message = format!("entries wait for each other: {}", names.join(" -> "));
                let path = self.path_of_cycle(nodes)?;
                let help = "take one of these targets away; each entry waits for the one before it";
                Some(Fault::error(Code::Cycle, path, message).with_help(help))
            }
            GraphFault::AcrossFinally { node, position, .. } => {
                let path = self.entry(*node)?.waits.get(*position)?.path.clone();
                let message = fault.to_string();
                let help = "entries of `finally` run after all others; they can wait for each other only";
                Some(Fault::error(Code::UnknownReference, path, message).with_help(help))
            }
            // These are about more than names and arrows.
            GraphFault::UnknownBranch { .. }
            | GraphFault::AtLeastOutOfRange { .. }
            | GraphFault::TooManyEntries(_)
            | _ => None,
        }
    }

    fn unknown(&self, what: &str, name: &str, path: FieldPath) -> Fault {
        let message = format!("{what} `{name}` is no entry of this flow");
        let names = self.entries.iter().map(|entry| entry.name.as_str());
        Fault::error(Code::UnknownReference, path, message).with_suggestion(name, names)
    }

    /// Where the first entry of a circle says that it waits for the last one.
    fn path_of_cycle(&self, nodes: &[NodeId]) -> Option<FieldPath> {
        let first = self.entry(*nodes.first()?)?;
        let last = self.entry(*nodes.last()?)?;
        let wait = first.waits.iter().find(|wait| wait.target == last.name);
        Some(wait.map_or_else(|| first.path.clone(), |wait| wait.path.clone()))
    }

    fn entry(&self, node: NodeId) -> Option<&Entry> {
        self.entries.get(node.position())
    }
}

fn as_node(entry: &Entry) -> graph::Entry<Arc<str>> {
    let targets = entry.waits.iter().map(|wait| Arc::from(wait.target.as_str()));
    let node = graph::Entry::job(entry.name.as_str()).after(targets);
    graph::Entry {
        finally: entry.finally,
        ..node
    }
}
