//! A flow played through without anything being started: what would start in which order if each Job succeeded.
//!
//! Comes in: a parsed flow, and how many pods each task of its Jobs has. Goes out: waves, and what would never start.
//! The core plans as it does for a run; here is only the world that it sees: each Job is there, runs, and completes, all
//! that run together. Time passes by delays alone. Deliberately absent: files, streams, any rule about flows.

mod stage;

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::snapshot::TaskCount;
use jobflow_core::{FlowRecord, NodeId, NodePhase, Span};
use jobflow_k8s::parse::Flow;

use stage::Stage;

/// How a flow would go.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rehearsal {
    /// What starts, in order.
    pub(crate) waves: Vec<Wave>,
    /// How it ends.
    pub(crate) record: FlowRecord,
}

/// Jobs that start together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wave {
    /// What had to come before.
    pub(crate) start: Start,
    /// Whose jobs.
    pub(crate) nodes: Vec<NodeId>,
}

/// What a wave waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Nothing.
    AtOnce,
    /// Jobs of the wave before are there.
    Created,
    /// Jobs of the wave before run.
    Running,
    /// Jobs before have ended.
    Ended,
    /// So much time passes.
    After(Span),
}

/// Tasks of each node's Job, all of whose pods are counted.
pub(crate) type Tasks = BTreeMap<NodeId, Arc<[TaskCount]>>;

impl Rehearsal {
    /// Plays a flow through to its end, or until nothing comes of waiting any more.
    pub(crate) fn of(flow: &Flow, tasks: &Tasks) -> Self {
        let mut stage = Stage::new(flow, tasks);
        let mut waves = Vec::new();
        let mut start = Some(Start::AtOnce);
        while let Some(now) = start {
            let nodes = stage.settle();
            if !nodes.is_empty() {
                waves.push(Wave { start: now, nodes });
            }
            start = stage.go_on();
        }
        Self {
            waves,
            record: stage.record,
        }
    }

    /// What has no job of its own, and in which phase it ends or stays.
    pub(crate) fn never(&self) -> impl Iterator<Item = NodeId> {
        let nodes = self.record.nodes.iter();
        nodes
            .filter(|(_, record)| record.attempt == 0 && record.phase() != NodePhase::Succeeded)
            .map(|(node, _)| node)
    }
}

#[cfg(test)]
mod tests;
