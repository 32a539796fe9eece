//! Faults of the graph, in words and with paths.

use jobflow_core::graph::GraphFault;
use jobflow_core::key::NodeId;

use super::{Built, Entries};
use crate::fault::{Code, Fault, FieldPath, MOST_FAULTS};

/// The faults of a graph with their paths. Only the first get a suggestion, since one costs a look at every name.
pub(super) fn faults(found: &[GraphFault], entries: &Entries<'_>, built: &[Built]) -> Vec<Fault> {
    const SUGGESTIONS: usize = 20;
    let mut faults = Vec::new();
    for (at, fault) in found.iter().take(MOST_FAULTS).enumerate() {
        let names = entries
            .names()
            .take(if at < SUGGESTIONS { usize::MAX } else { 0 });
        faults.push(self::fault(fault, entries, built, names));
    }
    faults
}

/// A fault of the graph, with its path.
fn fault<'a>(
    fault: &GraphFault,
    entries: &Entries<'_>,
    built: &[Built],
    names: impl Iterator<Item = &'a str>,
) -> Fault {
    let target = |node: &NodeId, position: usize| {
        let path = built
            .get(node.position())
            .and_then(|built| built.targets.get(position));
        path.cloned()
            .unwrap_or_else(|| entries.path(*node).field("dependsOn"))
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is non-exhaustive")]
    match fault {
        GraphFault::DuplicateName { name, first, second } => {
            let path = entries.path(*second).field("name");
            let fault = Fault::error(Code::DuplicateName, path, format!("`{name}` stands twice"));
            fault.with_help(format!("the first is {}", entries.path(*first)))
        }
        GraphFault::UnknownTarget {
            node,
            position,
            target: name,
        } => {
            let fault = Fault::error(
                Code::UnknownReference,
                target(node, *position),
                format!("the flow has no entry `{name}`"),
            );
            fault.with_suggestion(name, names)
        }
        GraphFault::Cycle { nodes, .. } => {
            let path = nodes
                .first()
                .map_or_else(FieldPath::root, |node| entries.path(*node).field("dependsOn"));
            Fault::error(Code::Cycle, path, fault.to_string())
                .with_help("take one of these dependencies away")
        }
        GraphFault::AcrossFinally { node, position, .. } => {
            let fault = Fault::error(Code::Conflict, target(node, *position), fault.to_string());
            fault.with_help(
                "entries of `finally` run after all others anyway, and may depend on each other only",
            )
        }
        GraphFault::AtLeastOutOfRange { node, .. } => {
            let path = entries.path(*node).field("dependsOn").field("atLeast");
            Fault::error(Code::BadValue, path, fault.to_string())
        }
        GraphFault::TooManyEntries(_) => {
            Fault::error(Code::TooLarge, FieldPath::root().field("spec"), fault.to_string())
        }
        _ => Fault::error(Code::BadValue, FieldPath::root().field("spec"), fault.to_string()),
    }
}
