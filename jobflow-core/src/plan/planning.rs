//! A plan in the making: the input, the record as it becomes, and the ways to change it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Change, Effect, Plan, Urgency};
use crate::facts::{FactCache, FactKey};
use crate::graph::{Entry, FlowGraph};
use crate::key::{JobKey, NodeId};
use crate::node::{NodeEvent, Transition};
use crate::phase::NodePhase;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::record::{Cause, FlowRecord, NodeRecord};
use crate::report::{Report, Why};
use crate::snapshot::{EffectKind, Sighting, Snapshot};
use crate::time::Time;

/// How an attempt ended.
#[derive(Clone, Debug)]
pub(super) struct AttemptEnd {
    pub(super) outcome: AttemptOutcome,
    pub(super) at: Time,
    pub(super) infrastructure: bool,
    pub(super) pod_reasons: Vec<Arc<str>>,
    pub(super) job_phase: Option<crate::gang::JobPhase>,
}

/// What an attempt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttemptOutcome {
    Succeeded,
    Failed(Reason),
    /// Failed, and may not be tried again.
    FailedForGood(Reason),
    Cancelled(Reason),
    Skipped(Reason),
    /// Stopped by a suspension.
    Suspended,
}

/// A plan in the making.
pub(super) struct Planning<'a> {
    pub(super) graph: &'a FlowGraph,
    pub(super) policy: &'a Policy,
    pub(super) snapshot: &'a Snapshot,
    pub(super) facts: &'a FactCache,
    pub(super) now: Time,
    pub(super) next: FlowRecord,
    pub(super) changes: Vec<Change>,
    pub(super) effects: Vec<Effect>,
    pub(super) wanted: Vec<FactKey>,
    pub(super) wake_at: Option<Time>,
    pub(super) urgency: Urgency,
    pub(super) report: Report,
    /// Attempts that ended, until `retry` has judged them.
    pub(super) ended: Vec<(JobKey, AttemptEnd)>,
    /// Intents for which a create is due, unless they are withdrawn before the plan is done.
    pub(super) creates: Vec<JobKey>,
    /// Nodes whose dependencies are met and whose job can be released.
    pub(super) candidates: Vec<NodeId>,
    /// Nodes that had a job, or wait for their next attempt, when the plan began.
    pub(super) active: Vec<NodeId>,
    /// What is known of the job of each of these, in the same order.
    pub(super) sightings: Vec<Option<&'a Sighting>>,
    /// How many nodes outside `finally`, and in it, have not ended.
    pub(super) open: Open,
    /// Nodes whose intended job is known not to exist.
    pub(super) absent: Vec<NodeId>,
    /// Nodes whose job has failed, and whose pods have to be read before that is judged.
    pub(super) unread: Vec<NodeId>,
    /// Nothing may be released from this record before it is written.
    pub(super) releases_nothing: bool,
    /// The node for which the flow is failing.
    pub(super) failing: Option<Cause>,
}

/// How many nodes have not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) main: usize,
    pub(super) finally: usize,
}

impl<'a> Planning<'a> {
    pub(super) fn of(
        graph: &'a FlowGraph,
        policy: &'a Policy,
        snapshot: &'a Snapshot,
        facts: &'a FactCache,
        now: Time,
    ) -> Self {
        let mut next = snapshot.record.clone();
        next.nodes.grow(graph.len());
        let mut planning = Self {
            graph,
            policy,
            snapshot,
            facts,
            now,
            next,
            changes: Vec::new(),
            effects: Vec::new(),
            wanted: Vec::new(),
            wake_at: None,
            urgency: Urgency::None,
            report: Report::new(),
            ended: Vec::new(),
            creates: Vec::new(),
            candidates: Vec::new(),
            active: Vec::new(),
            sightings: Vec::new(),
            open: Open::default(),
            absent: Vec::new(),
            unread: Vec::new(),
            releases_nothing: false,
            failing: None,
        };
        planning.survey();
        planning
    }

    /// One pass over all phases, so that later steps need none.
    fn survey(&mut self) {
        let mut undecided = 0;
        for (node, record) in self.next.nodes.iter() {
            let phase = record.phase();
            undecided += usize::from(phase.is_undecided());
            let name_taken = phase == NodePhase::Blocked && record.reason == Some(Reason::NameTaken);
            if phase.is_live() || phase == NodePhase::BackingOff || name_taken {
                self.active.push(node);
            }
            if !phase.is_end() {
                *self.open.side(self.graph.is_finally(node)) += 1;
            }
            if self.failing.is_none() {
                self.failing = failure(self.graph, node, record);
            }
        }
        self.report.reserve(undecided + self.active.len());
        self.join_sightings();
    }

    /// Both lists are sorted by node: one walk finds the job of each active node.
    fn join_sightings(&mut self) {
        let mut jobs = self.snapshot.jobs.iter().peekable();
        self.sightings.reserve(self.active.len());
        for node in &self.active {
            let key = JobKey {
                node: *node,
                index: 0,
                attempt: self.next.nodes[*node].attempt,
            };
            while jobs.next_if(|(job, _)| **job < key).is_some() {}
            self.sightings.push(
                jobs.next_if(|(job, _)| **job == key)
                    .map(|(_, sighting)| sighting),
            );
        }
    }

    pub(super) fn entry(&self, node: NodeId) -> &'a Entry {
        self.graph.entry(node)
    }

    pub(super) fn record(&self, node: NodeId) -> &NodeRecord {
        &self.next.nodes[node]
    }

    pub(super) fn phase(&self, node: NodeId) -> NodePhase {
        self.next.nodes[node].phase()
    }

    /// The key of the attempt that the node is in.
    pub(super) fn key(&self, node: NodeId) -> JobKey {
        JobKey {
            node,
            index: 0,
            attempt: self.record(node).attempt,
        }
    }

    pub(super) fn sighting(&self, key: JobKey) -> Option<&'a Sighting> {
        self.snapshot.sighting(key)
    }

    /// The record of a node, to change what may be written later.
    pub(super) fn change(&mut self, node: NodeId) -> &mut NodeRecord {
        self.urgency = self.urgency.max(Urgency::Soon);
        self.next.nodes.change(node)
    }

    /// Lets an event happen to a node; a change of phase is listed, and counted where others look.
    pub(super) fn on(&mut self, node: NodeId, event: NodeEvent, reason: Option<Reason>, at: Time) {
        let key = self.key(node);
        let before = self.record(node);
        let from = before.phase();
        let mut state = before.state;
        match state.on(event) {
            Transition::Invalid => return,
            Transition::Same if before.reason == reason => return,
            Transition::Same => {
                self.change(node).reason = reason;
                return;
            }
            Transition::To(_) => {}
        }
        let to = state.phase();
        let record = self.change(node);
        record.state = state;
        record.reason = reason;
        self.changes.push(Change {
            key,
            from,
            to,
            event,
            at,
        });
        if to.is_end() {
            self.end(node, at);
        } else if from.is_end() {
            *self.open.side(self.graph.is_finally(node)) += 1;
        }
        self.hurry(event);
    }

    fn end(&mut self, node: NodeId, at: Time) {
        let open = self.open.side(self.graph.is_finally(node));
        *open = open.saturating_sub(1);
        let record = self.next.nodes.change(node);
        record.finish_time = Some(at);
        record.uid = None;
        record.next_retry = None;
        record.held = Vec::new();
        record.attempt_clock = None;
        record.node_clock = None;
        let failure = failure(self.graph, node, record);
        if self.failing.is_none() {
            self.failing = failure;
        }
    }

    fn hurry(&mut self, event: NodeEvent) {
        let urgency = match event {
            NodeEvent::Submit
            | NodeEvent::BackOff
            | NodeEvent::Succeed
            | NodeEvent::Fail
            | NodeEvent::Skip
            | NodeEvent::Cancel
            | NodeEvent::Reset => Urgency::Now,
            NodeEvent::Block
            | NodeEvent::Unblock
            | NodeEvent::Queue
            | NodeEvent::Run
            | NodeEvent::Stop
            | NodeEvent::Pause => Urgency::Soon,
        };
        self.urgency = self.urgency.max(urgency);
    }

    /// Notes that something changed which may be written later.
    pub(super) fn soon(&mut self) {
        self.urgency = self.urgency.max(Urgency::Soon);
    }

    /// Whether the job of an intent is no longer wanted.
    pub(super) fn is_halted_intent(&self, node: NodeId) -> bool {
        let before = self
            .snapshot
            .record
            .nodes
            .get(node)
            .is_some_and(|record| record.phase() == NodePhase::Submitting);
        before && self.is_halted_by_failure(node)
    }

    /// Notes that this must be written before anything goes on.
    pub(super) fn must_write(&mut self) {
        self.urgency = Urgency::Now;
    }

    /// Sets the reason, and drops a message that belonged to another one.
    pub(super) fn explain(&mut self, node: NodeId, reason: Reason, message: Option<&Arc<str>>) {
        let record = self.record(node);
        if record.reason != Some(reason) || record.message.as_ref() != message {
            let record = self.change(node);
            record.reason = Some(reason);
            record.message = message.cloned();
        }
    }

    pub(super) fn wake(&mut self, at: Time) {
        self.wake_at = Some(self.wake_at.map_or(at, |earlier| earlier.min(at)));
    }

    pub(super) fn say(&mut self, node: NodeId, why: Why) {
        self.report.push((node, why));
    }

    pub(super) fn is_in_flight(&self, key: JobKey, kind: EffectKind) -> bool {
        self.snapshot.in_flight.contains(&(key, kind))
    }

    /// Asks for a live read, unless one is on its way.
    pub(super) fn look(&mut self, key: JobKey) {
        self.say(key.node, Why::InFlight);
        if !self.is_in_flight(key, EffectKind::Look) && !self.is_in_flight(key, EffectKind::Create) {
            self.effects.push(Effect::Look { key });
        }
    }

    /// Asks for a live read of the pods of a job that has failed, unless one is on its way.
    pub(super) fn look_at_pods(&mut self, key: JobKey) {
        self.say(key.node, Why::InFlight);
        self.unread.push(key.node);
        if !self.is_in_flight(key, EffectKind::LookAtPods) {
            self.effects.push(Effect::LookAtPods { key });
        }
    }

    /// Nothing is started and no dependency judged; open nodes stay as they are.
    pub(super) fn hold_everything(&mut self) {
        self.creates.clear();
        let held: Vec<NodeId> = self
            .next
            .nodes
            .iter()
            .filter(|(_, record)| record.phase().is_undecided() || record.phase() == NodePhase::BackingOff)
            .map(|(node, _)| node)
            .collect();
        for node in held {
            self.say(node, Why::HeldBack(Reason::InvalidSpec));
        }
    }

    /// The job is to be created, from the entry as it is now.
    pub(super) fn intend(&mut self, key: JobKey) {
        if self.snapshot.wishes.frozen {
            return self.say(key.node, Why::HeldBack(Reason::InvalidSpec));
        }
        self.creates.push(key);
        let hash = self.entry(key.node).hash;
        if self.record(key.node).entry_hash != hash {
            self.change(key.node).entry_hash = hash;
            self.must_write();
        }
    }

    /// Whether the policy holds this node back because the flow is failing.
    pub(super) fn is_halted_by_failure(&self, node: NodeId) -> bool {
        let policy = self.policy.failure_policy;
        self.failing.is_some()
            && policy != crate::policy::FailurePolicy::Continue
            && !self.graph.is_finally(node)
            && !self.graph.is_handler(node)
    }

    pub(super) fn finish(self) -> Plan {
        let mut urgency = self.urgency;
        if urgency == Urgency::Soon && self.next == self.snapshot.record {
            urgency = Urgency::None;
        }
        Plan {
            base: Arc::clone(&self.snapshot.base),
            changes: self.changes,
            next: self.next,
            urgency,
            effects: self.effects,
            wanted: self.wanted,
            wake_at: self.wake_at,
            report: self.report,
        }
    }
}

impl Open {
    const fn side(&mut self, finally: bool) -> &mut usize {
        if finally {
            &mut self.finally
        } else {
            &mut self.main
        }
    }
}

/// The failure that makes a flow failing, if this node is one.
fn failure(graph: &FlowGraph, node: NodeId, record: &NodeRecord) -> Option<Cause> {
    if record.phase() != NodePhase::Failed || graph.entry(node).allow_failure || graph.is_finally(node) {
        return None;
    }
    Some(Cause {
        node,
        reason: record.reason.unwrap_or(Reason::JobFailed),
    })
}
