//! The order of tasks inside of one Job.

use std::collections::BTreeMap;

use jobflow_core::graph::{Entry, FlowGraph, GraphFault};
use jobflow_core::key::NodeId;

use crate::fault::{Code, Fault, FieldPath};
use crate::job::JobView;

/// Tasks may wait for tasks of the same Job, but not in a circle.
pub(super) fn faults(view: &JobView, path: &FieldPath, faults: &mut Vec<Fault>) {
    let places: BTreeMap<_, _> = (0..)
        .zip(&view.tasks)
        .map(|(at, task)| (task.name.as_str(), NodeId(at)))
        .collect();
    let mut entries = Vec::new();
    for (index, task) in view.tasks.iter().enumerate() {
        let mut targets = Vec::new();
        let written = task
            .depends_on
            .iter()
            .filter_map(|depends_on| depends_on.name.as_ref())
            .flatten();
        for (at, name) in written.enumerate() {
            if let Some(target) = places.get(name.as_str()) {
                targets.push(*target);
                continue;
            }
            let path = path.index(index).field("dependsOn").field("name").index(at);
            let fault = Fault::error(
                Code::UnknownReference,
                path,
                format!("the job has no task `{name}`"),
            );
            faults.push(fault.with_suggestion(name, places.keys().copied()));
        }
        entries.push(Entry::job(task.name.as_str()).after(targets));
    }
    for fault in FlowGraph::build(entries).err().into_iter().flatten() {
        let GraphFault::Cycle { nodes, names } = fault else {
            continue;
        };
        let first = nodes.first().map_or(0, |node| node.position());
        let message = format!("tasks wait for each other: {}", names.join(" -> "));
        faults.push(Fault::error(
            Code::Cycle,
            path.index(first).field("dependsOn"),
            message,
        ));
    }
}
