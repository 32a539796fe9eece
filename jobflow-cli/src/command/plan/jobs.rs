//! The first Job of each entry, as it would be created.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::NodeId;
use jobflow_core::snapshot::{PodCounts, TaskCount};
use jobflow_k8s::fault::Fault;
use jobflow_k8s::parse::Flow;
use jobflow_k8s::render::{Attempt, Rendered, render};
use jobflow_k8s::schema::Schemas;
use jobflow_local::runner::Input;

use crate::rehearsal::Tasks;

/// Jobs by node; none of an entry whose template isn't at hand.
#[derive(Debug)]
pub(super) struct Jobs(BTreeMap<NodeId, Option<Rendered>>);

impl Jobs {
    /// All Jobs that can be built, and what is wrong with the others.
    pub(super) fn of(input: &Input, flow: &Flow) -> (Self, Vec<Fault>) {
        let schemas = Schemas::new();
        let (mut jobs, mut faults) = (BTreeMap::new(), Vec::new());
        for (entry, node) in flow
            .entries
            .iter()
            .zip(0..)
            .map(|(entry, at)| (entry, NodeId(at)))
        {
            let name = entry.template.as_ref().unwrap_or(&entry.name);
            let template = input.templates.get(name).filter(|_| entry.job_spec.is_none());
            if entry.switch.is_some() {
                continue;
            }
            if template.is_none() && entry.job_spec.is_none() {
                jobs.insert(node, None);
                continue;
            }
            match render(&schemas, &input.flow, entry, Attempt::FIRST, template) {
                Ok(rendered) => drop(jobs.insert(node, Some(rendered))),
                Err(more) => faults.extend(more),
            }
        }
        (Self(jobs), faults)
    }

    /// Entries whose template isn't at hand.
    pub(super) fn missing(&self) -> impl Iterator<Item = NodeId> {
        self.0
            .iter()
            .filter(|(_, job)| job.is_none())
            .map(|(node, _)| *node)
    }

    /// The Job of a node.
    pub(super) fn job(&self, node: NodeId) -> Option<&Rendered> {
        self.0.get(&node)?.as_ref()
    }

    /// How many pods each task has.
    pub(super) fn tasks(&self) -> Tasks {
        let known = self
            .0
            .iter()
            .filter_map(|(node, job)| Some((*node, job.as_ref()?)));
        known.map(|(node, job)| (node, tasks(job))).collect()
    }

    /// How many pods a node's Job has.
    pub(super) fn pods(&self, node: NodeId) -> Option<u32> {
        let job = self.job(node)?;
        Some(tasks(job).iter().map(|task| task.replicas).sum())
    }
}

fn tasks(job: &Rendered) -> Arc<[TaskCount]> {
    let tasks = job.view.gang().tasks.into_iter();
    let count = |task: jobflow_core::gang::GangTask| TaskCount {
        task: task.name.as_str().into(),
        replicas: task.replicas,
        counts: PodCounts::default(),
    };
    tasks.map(count).collect()
}
