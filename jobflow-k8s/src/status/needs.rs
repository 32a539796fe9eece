//! What other entries may still ask of a node that has ended. Anything else about its end can be left out.

use jobflow_core::FlowGraph;
use jobflow_core::condition::{Condition, Rule};
use jobflow_core::time::Span;

/// What is asked of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Need {
    /// Since when something held: a delay runs from there.
    pub(super) since: bool,
    /// Its pods by task.
    pub(super) counts: bool,
    /// Anything: a predicate of the embedding program, or an expression, looks at the record.
    pub(super) all: bool,
}

/// What is asked of each node, by position.
pub(super) fn needs(graph: &FlowGraph) -> Vec<Need> {
    let mut needs = vec![Need::default(); graph.len()];
    for entry in graph.entries() {
        for target in &entry.targets {
            if let Some(need) = needs.get_mut(target.node.position()) {
                target.rules.as_slice().iter().for_each(|rule| need.add(rule));
            }
        }
        for node in entry.when.iter().flat_map(|when| when.0.nodes()) {
            if let Some(need) = needs.get_mut(node.position()) {
                need.all = true;
            }
        }
        if let jobflow_core::graph::Work::Switch(switch) = &entry.work {
            for node in switch.on.0.nodes() {
                if let Some(need) = needs.get_mut(node.position()) {
                    need.all = true;
                }
            }
        }
    }
    needs
}

impl Need {
    /// All that is known: nobody can say what will be asked.
    pub(super) const EVERYTHING: Self = Self {
        since: true,
        counts: true,
        all: true,
    };

    fn add(&mut self, rule: &Rule) {
        self.since |= rule.delay > Span::ZERO;
        match rule.condition {
            Condition::Completed
            | Condition::Started
            | Condition::Running
            | Condition::Failed
            | Condition::Finished => {}
            Condition::Ready(_) | Condition::Task(_) => self.counts = true,
            Condition::Custom(_) | _ => self.all = true,
        }
    }
}
