//! Whose a Job is, and which of a flow's jobs.
//!
//! Identity is the UID of the controller and the annotation `flow.volcano.sh/node`: never a label, never a part of a
//! name. Names of Jobs are made from the key and compared, not taken apart.

use jobflow_core::key::{JobKey, NodeId};

use super::SlimJob;
use crate::names::{ANNOTATION_NODE, job_name};
use crate::parse::Flow;
use crate::types::FLOW_GROUP;

/// The flow that is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its UID.
    pub uid: &'a str,
    /// Its entries.
    pub flow: &'a Flow,
}

/// Whose a Job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// The flow's, and this one of its jobs.
    Ours(JobKey),
    /// The flow's, but none of its jobs: its entry was removed, or it doesn't say which it is.
    OursUnmarked,
    /// Somebody else's.
    Foreign {
        /// It is going away: being deleted, or its owner no longer exists.
        leaving: bool,
    },
}

/// Finds out whose a Job is; `is_alive` tells whether a JobFlow of that UID still exists.
pub fn ownership(job: &SlimJob, owner: Owner<'_>, is_alive: impl FnOnce(&str) -> bool) -> Ownership {
    let controller = job
        .metadata
        .owner_references
        .iter()
        .flatten()
        .find(|reference| reference.controller == Some(true));
    match controller {
        Some(controller) if !owner.uid.is_empty() && controller.uid == owner.uid => {
            key(job, owner).map_or(Ownership::OursUnmarked, Ownership::Ours)
        }
        Some(controller) => {
            let group = controller.api_version.split('/').next();
            let of_a_flow = controller.kind == "JobFlow" && group == Some(FLOW_GROUP);
            let leaving = job.is_deleting() || (of_a_flow && !is_alive(&controller.uid));
            Ownership::Foreign { leaving }
        }
        None => Ownership::Foreign {
            leaving: job.is_deleting(),
        },
    }
}

/// Which job of the flow it is.
fn key(job: &SlimJob, owner: Owner<'_>) -> Option<JobKey> {
    let annotation = job
        .metadata
        .annotations
        .as_ref()
        .and_then(|all| all.get(ANNOTATION_NODE));
    match annotation {
        Some(text) => marked(job.name(), text, owner),
        None => unmarked(job.name(), owner),
    }
}

/// The key that the annotation names, if the Job bears the name of that key.
fn marked(name: &str, text: &str, owner: Owner<'_>) -> Option<JobKey> {
    let mut parts = text.split('/');
    let (entry, index, attempt) = (parts.next()?, number(parts.next()?)?, number(parts.next()?)?);
    let node = node(owner, entry)?;
    let group = owner.flow.entries.get(node.position())?.for_each.is_some();
    let fits = parts.next().is_none() && attempt > 0 && (group || index == 0);
    let expected = job_name(owner.name, entry, group.then_some(index), attempt);
    (fits && name == expected).then_some(JobKey { node, index, attempt })
}

/// A Job that Volcano's controller made bears no annotation: it is a first attempt of the entry that its whole name
/// is made from.
fn unmarked(name: &str, owner: Owner<'_>) -> Option<JobKey> {
    let entry = name.strip_prefix(owner.name)?.strip_prefix('-')?;
    let node = node(owner, entry)?;
    let group = owner.flow.entries.get(node.position())?.for_each.is_some();
    (!group).then_some(JobKey {
        node,
        index: 0,
        attempt: 1,
    })
}

fn node(owner: Owner<'_>, entry: &str) -> Option<NodeId> {
    owner.flow.graph.find(entry)
}

/// A number as it is written here: digits only, without leading zeros.
fn number(text: &str) -> Option<u32> {
    let canonical =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    text.parse().ok().filter(|_| canonical)
}
