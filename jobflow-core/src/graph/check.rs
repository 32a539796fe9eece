//! Checks of single entries against the others: targets that exist, `finally`, counts that can be met.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::entry::{Entry, Strategy, Target};
use super::fault::GraphFault;
use super::node_id;

/// Adds the faults of every entry's targets.
pub(super) fn targets(entries: &[Entry], faults: &mut Vec<GraphFault>) {
    if u32::try_from(entries.len()).is_err() {
        faults.push(GraphFault::TooManyEntries(entries.len()));
    }
    let finally: Vec<bool> = entries.iter().map(|entry| entry.finally).collect();
    for (position, entry) in entries.iter().enumerate() {
        let same_side = |target: &Target| finally.get(target.node.position()) == Some(&entry.finally);
        if !entry.targets.iter().all(same_side) {
            across_finally(position, entry, entries, faults);
        }
        at_least(position, entry, faults);
    }
}

fn across_finally(position: usize, entry: &Entry, entries: &[Entry], faults: &mut Vec<GraphFault>) {
    for (index, target) in entry.targets.iter().enumerate() {
        let Some(other) = entries.get(target.node.position()) else {
            let target = Arc::from(alloc::format!("#{}", target.node.0));
            faults.push(GraphFault::UnknownTarget {
                node: node_id(position),
                position: index,
                target,
            });
            continue;
        };
        if other.finally != entry.finally {
            faults.push(GraphFault::AcrossFinally {
                node: node_id(position),
                position: index,
                name: Arc::clone(&entry.name),
                target: Arc::clone(&other.name),
            });
        }
    }
}

fn at_least(position: usize, entry: &Entry, faults: &mut Vec<GraphFault>) {
    let Strategy::AtLeast(at_least) = entry.strategy else {
        return;
    };
    let distinct: BTreeSet<_> = entry.targets.iter().map(|target| target.node).collect();
    if at_least == 0 || at_least as usize > distinct.len() {
        let targets = distinct.len();
        faults.push(GraphFault::AtLeastOutOfRange {
            node: node_id(position),
            at_least,
            targets,
        });
    }
}
