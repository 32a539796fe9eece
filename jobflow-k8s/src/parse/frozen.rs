//! What can be relied upon of a flow that was started and whose spec is at fault now: each entry by itself.

use std::collections::BTreeSet;

use jobflow_core::FlowGraph;
use jobflow_core::graph::{Entry, Strategy};

use super::{Entries, Flow, Known, entry, policy, wishes};
use crate::fault::FieldPath;
use crate::names::is_dns_subdomain;
use crate::types::JobFlow;

/// The entries of a spec that is at fault, as far as each can be read: retry, time-out, whether a failure is excused.
/// What they wait for is left out, and nothing of them may be started ([`frozen`]).
///
/// It depends on the object alone, so that a controller that restarts goes on in the same way.
///
/// [`frozen`]: jobflow_core::snapshot::Wishes::frozen
#[must_use]
pub fn frozen(flow: &JobFlow, known: Known<'_>) -> Option<Flow> {
    let (spec, root) = (&flow.spec, FieldPath::root().field("spec"));
    // They were told of when the flow was parsed.
    let mut faults = Vec::new();
    let entries = Entries::of(spec, &root, known);
    let mut names = BTreeSet::new();
    let (mut alone, mut written) = (Vec::new(), Vec::new());
    for placed in &entries.placed {
        let name = placed.entry.name.as_str();
        if !is_dns_subdomain(name) || !names.insert(name) {
            continue;
        }
        alone.push(Entry {
            targets: Vec::new(),
            strategy: Strategy::All,
            on_skipped: None,
            ..entry::of(placed, spec, &entries, known, &mut faults).entry
        });
        written.push(placed.entry.clone());
    }
    let uid = flow.metadata.uid.as_deref().unwrap_or_default();
    Some(Flow {
        graph: FlowGraph::from_names(alone).ok()?,
        policy: policy::of(spec, uid, &root, &mut faults),
        wishes: jobflow_core::snapshot::Wishes {
            frozen: true,
            ..wishes(spec)
        },
        entries: written,
        warnings: Vec::new(),
    })
}
