//! The decision: graph, policy, snapshot, facts and the time in; the next record, effects and reasons out.
//!
//! ```text
//! settle ─► retry ─► halt ─► resolve ⇄ halt ─► release ─► retain ─► conclude
//! ```
//!
//! One pure function. The same input gives the same plan; planning what a plan produced changes nothing.
//! Deliberately absent: anything that writes, waits, or judges the outcome of an effect.

use alloc::sync::Arc;
use alloc::vec::Vec;

mod conclude;
mod dependency;
mod fold;
mod halt;
mod judge;
mod planning;
mod release;
mod resolve;
mod retain;
mod retry;
mod settle;
mod stops;

pub(crate) use dependency::held;
pub(crate) use halt::takes_a_place;
pub(crate) use judge::with_delay;
pub use judge::{Judged, Judgement, Share, judge, share};
use planning::Planning;

use crate::facts::{Answer, FactCache, FactKey};
use crate::graph::FlowGraph;
use crate::key::{JobKey, Uid};
use crate::node::NodeEvent;
use crate::phase::NodePhase;
use crate::policy::Policy;
use crate::record::FlowRecord;
use crate::report::Report;
use crate::snapshot::{Snapshot, Stray};
use crate::time::Time;

/// The most jobs that one plan releases; the next plan releases the next ones.
pub const WAVE: usize = 256;

/// What is to happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The version of the record that this was planned from; the write of `next` is conditional on it.
    pub base: Arc<str>,
    /// What changed from the record to `next`, in the order in which it was decided.
    pub changes: Vec<Change>,
    /// The record to write before any effect.
    pub next: FlowRecord,
    /// Whether the write may wait.
    pub urgency: Urgency,
    /// What to do once the record is written; each may be done twice, or never.
    pub effects: Vec<Effect>,
    /// Facts to find out.
    pub wanted: Vec<FactKey>,
    /// When to plan again at the latest, even if nothing was seen.
    pub wake_at: Option<Time>,
    /// Why each node that has not ended stands where it does.
    pub report: Report,
}

/// One step of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Change {
    /// The node with the attempt that it was in; attempt 0 before the first.
    pub key: JobKey,
    /// The phase before.
    pub from: NodePhase,
    /// The phase after.
    pub to: NodePhase,
    /// What happened.
    pub event: NodeEvent,
    /// When: for ends as the job tells it.
    pub at: Time,
}

/// Whether the write of a record may wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Nothing changed.
    #[default]
    None,
    /// It can ride along with the next urgent write, or go alone a little later.
    Soon,
    /// An intent, an end, a stop, or something that others wait for.
    Now,
}

/// Something to do. Exhaustive on purpose: a driver must know all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Set the flow's birth mark; before any create.
    MarkBirth,
    /// Create the job.
    Create {
        /// Which.
        key: JobKey,
    },
    /// Read the job live.
    Look {
        /// Which.
        key: JobKey,
    },
    /// Read the pods of a job that has failed live: they tell why, and it may depend on that what comes next.
    LookAtPods {
        /// Which.
        key: JobKey,
    },
    /// Ask the job to end.
    Terminate {
        /// Which.
        key: JobKey,
        /// Its UID.
        uid: Uid,
    },
    /// Delete the job, pods first.
    Delete {
        /// Which.
        key: JobKey,
        /// Its UID, as precondition.
        uid: Uid,
    },
    /// Delete an object that no attempt stands for.
    DeleteStray(Stray),
    /// Read the flow again: a job is ahead of its record.
    Reread,
    /// Delete the flow, whose time after its end is up, on condition that nothing of it has changed since it was read;
    /// its jobs go with it.
    DeleteFlow,
}

/// Decides what is to happen to a flow.
///
/// ```
/// use jobflow_core::graph::{Entry, FlowGraph};
/// use jobflow_core::plan::{Effect, plan};
/// use jobflow_core::{FactCache, Policy, Snapshot, Time};
/// use jobflow_core::facts::{Answer, FactKey};
///
/// let graph = FlowGraph::from_names(vec![Entry::job("a"), Entry::job("b").after(["a".into()])]).unwrap();
/// let snapshot = Snapshot::unborn(graph.len());
/// let mut facts = FactCache::default();
/// let asked = plan(&graph, &Policy::default(), &snapshot, &facts, Time(0));
/// for question in asked.wanted {
///     let answer = match question {
///         FactKey::Template(_) => Answer::Template(Default::default()),
///         _ => Answer::Rendered(1),
///     };
///     facts.learn(question, answer, Time(0));
/// }
/// let planned = plan(&graph, &Policy::default(), &snapshot, &facts, Time(0));
/// assert!(matches!(planned.effects[..], [Effect::MarkBirth, Effect::Create { key }] if key.node.0 == 0));
/// ```
#[must_use]
pub fn plan(graph: &FlowGraph, policy: &Policy, snapshot: &Snapshot, facts: &FactCache, now: Time) -> Plan {
    let mut planning = Planning::of(graph, policy, snapshot, facts, now);
    if snapshot.wishes.deleting {
        return planning.finish();
    }
    settle::settle(&mut planning);
    retry::retry(&mut planning);
    halt::halt(&mut planning);
    if snapshot.wishes.frozen {
        planning.hold_everything();
    } else {
        resolve::resolve(&mut planning);
        release::release(&mut planning);
    }
    stops::request(&mut planning);
    conclude::conclude(&mut planning);
    retain::retain(&mut planning);
    planning.finish()
}

/// Decides, and answers on the spot what can be answered without waiting (templates, rendered jobs), so that the
/// order of starts never depends on when a fact was asked for.
///
/// `answer` gives none for a question that takes time; it stays in [`Plan::wanted`].
pub fn plan_with_answers(
    graph: &FlowGraph,
    policy: &Policy,
    snapshot: &Snapshot,
    facts: &mut FactCache,
    mut answer: impl FnMut(&FactKey) -> Option<Answer>,
    now: Time,
) -> Plan {
    loop {
        let plan = plan(graph, policy, snapshot, facts, now);
        let mut learnt = false;
        for key in &plan.wanted {
            if let Some(answer) = answer(key) {
                learnt |= facts.learn(key.clone(), answer, now);
            }
        }
        if !learnt {
            facts.keep_probes(&plan.wanted);
            return plan;
        }
    }
}
