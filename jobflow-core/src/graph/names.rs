//! From names to positions: entries with named targets in, entries with node ids and the faults of names out.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::entry::{Entry, Switch, Target, Work};
use super::fault::GraphFault;
use super::node_id;
use crate::key::NodeId;

type Positions = HashMap<Arc<str>, NodeId>;

/// Resolves every name; what can't be resolved is left out of the entry and told as a fault.
pub(super) fn resolve(entries: Vec<Entry<Arc<str>>>) -> (Vec<Entry>, Vec<GraphFault>) {
    let mut faults = Vec::new();
    let positions = positions(&entries, &mut faults);
    let resolved = entries
        .into_iter()
        .enumerate()
        .map(|(position, entry)| resolve_entry(node_id(position), entry, &positions, &mut faults))
        .collect();
    (resolved, faults)
}

fn positions(entries: &[Entry<Arc<str>>], faults: &mut Vec<GraphFault>) -> Positions {
    let mut positions = Positions::with_capacity(entries.len());
    for (position, entry) in entries.iter().enumerate() {
        let second = node_id(position);
        let first = *positions.entry(Arc::clone(&entry.name)).or_insert(second);
        if first != second {
            faults.push(GraphFault::DuplicateName {
                name: Arc::clone(&entry.name),
                first,
                second,
            });
        }
    }
    positions
}

fn resolve_entry(
    node: NodeId,
    entry: Entry<Arc<str>>,
    positions: &Positions,
    faults: &mut Vec<GraphFault>,
) -> Entry {
    let Entry {
        name,
        work,
        finally,
        targets,
        strategy,
        on_skipped,
        when,
        retry,
        timeout,
        allow_failure,
        hash,
    } = entry;
    let targets = resolve_targets(node, targets, positions, faults);
    let work = match work {
        Work::Job => Work::Job,
        Work::Switch(switch) => Work::Switch(Box::new(resolve_switch(node, *switch, positions, faults))),
    };
    Entry {
        name,
        work,
        finally,
        targets,
        strategy,
        on_skipped,
        when,
        retry,
        timeout,
        allow_failure,
        hash,
    }
}

fn resolve_targets(
    node: NodeId,
    targets: Vec<Target<Arc<str>>>,
    positions: &Positions,
    faults: &mut Vec<GraphFault>,
) -> Vec<Target> {
    let mut resolved = Vec::with_capacity(targets.len());
    for (position, target) in targets.into_iter().enumerate() {
        match positions.get(&target.node) {
            Some(&found) => resolved.push(Target {
                node: found,
                rules: target.rules,
            }),
            None => faults.push(GraphFault::UnknownTarget {
                node,
                position,
                target: target.node,
            }),
        }
    }
    resolved
}

fn resolve_switch(
    node: NodeId,
    switch: Switch<Arc<str>>,
    positions: &Positions,
    faults: &mut Vec<GraphFault>,
) -> Switch {
    let Switch { on, cases, default } = switch;
    let mut branch = |case: Option<usize>, names: Vec<Arc<str>>| {
        let mut nodes = Vec::with_capacity(names.len());
        for (position, target) in names.into_iter().enumerate() {
            match positions.get(&target) {
                Some(&found) => nodes.push(found),
                None => faults.push(GraphFault::UnknownBranch {
                    node,
                    case,
                    position,
                    target,
                }),
            }
        }
        nodes
    };
    let cases = cases
        .into_iter()
        .enumerate()
        .map(|(case, names)| branch(Some(case), names))
        .collect();
    let default = branch(None, default);
    Switch { on, cases, default }
}
