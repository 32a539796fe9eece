//! The journal of a run, `journal.jsonl`: what was decided, before it was done; and what it adds up to.

use std::collections::BTreeMap;

use jobflow_core::{
    FlowRecord, JobKey, NodeId, Time,
    gang::GangState,
    plan::{Change, Plan},
    record::{NodeRecord, Nodes},
};
use serde::{Deserialize, Serialize};

use crate::pod::addresses::Addresses;

/// The file's name.
pub const JOURNAL: &str = "journal.jsonl";

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Line {
    /// A plan: the record of the flow and of each node that changed.
    Plan {
        /// When.
        at: Time,
        /// The record but for its nodes.
        flow: Box<FlowRecord>,
        /// The nodes that changed.
        nodes: Vec<(NodeId, NodeRecord)>,
        /// What happened.
        changes: Vec<Change>,
    },
    /// A Job as it is from now on.
    Job {
        /// Which.
        key: JobKey,
        /// Its gang.
        gang: Box<GangState>,
        /// Whether it may have pods.
        admitted: bool,
        /// Its addresses.
        addresses: Addresses,
    },
    /// A Job that was deleted is gone.
    Gone {
        /// Which.
        key: JobKey,
    },
    /// The run was interrupted: what ends from now on is lost, not failed.
    Interrupted {
        /// When.
        at: Time,
    },
    /// The run goes on.
    Resumed {
        /// When.
        at: Time,
    },
}

/// A Job as it was written down last.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SavedJob {
    pub(super) gang: GangState,
    pub(super) admitted: bool,
    pub(super) addresses: Addresses,
}

/// What a journal adds up to.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) record: FlowRecord,
    pub(super) jobs: BTreeMap<JobKey, SavedJob>,
    /// From when to when the run was interrupted; the last one may still be.
    pub(super) interruptions: Vec<(Time, Option<Time>)>,
    /// How often the run was taken up again.
    pub(super) resumed: u32,
    pub(super) begun: bool,
}

impl Line {
    /// What a plan changed, to be written before anything of it is done.
    pub(super) fn of_plan(plan: &Plan, before: &FlowRecord, at: Time) -> Self {
        let differs = |(node, record): &(NodeId, &NodeRecord)| before.nodes.get(*node) != Some(*record);
        let nodes = plan
            .next
            .nodes
            .iter()
            .filter(differs)
            .map(|(node, record)| (node, record.clone()))
            .collect();
        let flow = FlowRecord {
            nodes: Nodes::default(),
            ..plan.next.clone()
        };
        Self::Plan {
            at,
            flow: Box::new(flow),
            nodes,
            changes: plan.changes.clone(),
        }
    }
}

impl Ledger {
    pub(super) fn of(lines: Vec<Line>, nodes: usize) -> Self {
        let record = FlowRecord {
            nodes: Nodes::waiting(nodes),
            ..FlowRecord::default()
        };
        let mut ledger = Self {
            record,
            begun: !lines.is_empty(),
            ..Self::default()
        };
        lines.into_iter().for_each(|line| ledger.add(line));
        ledger
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Plan {
                at: _,
                flow,
                nodes,
                changes: _,
            } => {
                let kept = std::mem::take(&mut self.record.nodes);
                self.record = FlowRecord { nodes: kept, ..*flow };
                let len = self.record.nodes.len();
                let known = nodes.into_iter().filter(|(node, _)| node.position() < len);
                known.for_each(|(node, record)| *self.record.nodes.change(node) = record);
            }
            Line::Job {
                key,
                gang,
                admitted,
                addresses,
            } => {
                self.jobs.insert(
                    key,
                    SavedJob {
                        gang: *gang,
                        admitted,
                        addresses,
                    },
                );
            }
            Line::Gone { key } => {
                self.jobs.remove(&key);
            }
            Line::Interrupted { at } => self.interruptions.push((at, None)),
            Line::Resumed { at } => {
                self.resumed = self.resumed.saturating_add(1);
                if let Some((_, until @ None)) = self.interruptions.last_mut() {
                    *until = Some(at);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_adds_up_to_the_record_that_was_planned() {
        let mut plan_record = FlowRecord {
            nodes: Nodes::waiting(3),
            ..FlowRecord::default()
        };
        plan_record.nodes.change(NodeId(1)).attempt = 2;
        let flow = Box::new(FlowRecord {
            nodes: Nodes::default(),
            ..plan_record.clone()
        });
        let nodes = vec![(NodeId(1), plan_record.nodes[NodeId(1)].clone())];
        let line = Line::Plan {
            at: Time(1),
            flow,
            nodes,
            changes: Vec::new(),
        };
        let text = serde_json::to_string(&line).unwrap();
        let ledger = Ledger::of(vec![serde_json::from_str(&text).unwrap()], 3);
        assert_eq!(ledger.record, plan_record);
    }

    #[test]
    fn an_interruption_lasts_until_the_run_goes_on() {
        let lines = vec![
            Line::Interrupted { at: Time(5) },
            Line::Resumed { at: Time(9) },
            Line::Interrupted { at: Time(20) },
        ];
        let ledger = Ledger::of(lines, 0);
        assert_eq!(ledger.interruptions, [(Time(5), Some(Time(9))), (Time(20), None)]);
        assert_eq!(ledger.resumed, 1);
    }
}
