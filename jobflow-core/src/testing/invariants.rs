//! What must be true of every plan, whatever led to it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::condition::Condition;
use crate::facts::FactCache;
use crate::graph::{FlowGraph, Strategy};
use crate::key::NodeId;
use crate::node::NodeEvent;
use crate::phase::NodePhase;
use crate::plan::{Effect, Judged, Judgement, Plan, Urgency, judge, plan as plan_again};
use crate::policy::Policy;
use crate::snapshot::{EffectKind, Snapshot};
use crate::time::Time;

/// A breach of an invariant, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks a plan against the snapshot that it was made from.
#[must_use]
pub fn invariants(
    graph: &FlowGraph,
    policy: &Policy,
    snapshot: &Snapshot,
    facts: &FactCache,
    plan: &Plan,
    now: Time,
) -> Vec<Violation> {
    let mut found = Vec::new();
    ends_stay(snapshot, plan, &mut found);
    creates_are_intended(plan, &mut found);
    limits_hold(policy, snapshot, plan, &mut found);
    starts_are_due(graph, facts, plan, now, &mut found);
    the_end_is_told(snapshot, plan, &mut found);
    again_is_nothing(graph, policy, snapshot, facts, plan, now, &mut found);
    found
}

fn ends_stay(snapshot: &Snapshot, plan: &Plan, found: &mut Vec<Violation>) {
    for (node, before) in snapshot
        .record
        .nodes
        .iter()
        .filter(|(_, before)| before.phase().is_end())
    {
        let reset = plan
            .changes
            .iter()
            .any(|change| change.key.node == node && change.event == NodeEvent::Reset);
        let after = &plan.next.nodes[node];
        if !reset
            && (after.phase(), after.attempt, after.reason) != (before.phase(), before.attempt, before.reason)
        {
            found.push(Violation(format!("node {} changed after its end", node.0)));
        }
    }
}

fn creates_are_intended(plan: &Plan, found: &mut Vec<Violation>) {
    for effect in &plan.effects {
        let Effect::Create { key } = effect else { continue };
        let record = &plan.next.nodes[key.node];
        if record.phase() != NodePhase::Submitting || record.attempt != key.attempt || record.stop.is_some() {
            found.push(Violation(format!("{key} is created without an intent")));
        }
    }
}

fn limits_hold(policy: &Policy, snapshot: &Snapshot, plan: &Plan, found: &mut Vec<Violation>) {
    let Some(most) = policy.parallelism else { return };
    let alive = |record: &crate::record::FlowRecord| {
        record
            .nodes
            .iter()
            .filter(|(_, node)| node.phase().is_live() && node.stop.is_none())
            .count()
    };
    let (before, after) = (alive(&snapshot.record), alive(&plan.next));
    if after > before && after > most as usize {
        found.push(Violation(format!("{after} jobs are alive of {most}")));
    }
}

/// A slow and obvious check that whatever was intended first in this plan had its condition met.
fn starts_are_due(graph: &FlowGraph, facts: &FactCache, plan: &Plan, now: Time, found: &mut Vec<Violation>) {
    let first = |change: &&crate::plan::Change| change.event == NodeEvent::Submit && change.key.attempt == 1;
    for change in plan.changes.iter().filter(first) {
        if !is_due(graph, facts, plan, change.key.node, now) {
            found.push(Violation(format!("{} started before its time", change.key)));
        }
    }
}

fn is_due(graph: &FlowGraph, facts: &FactCache, plan: &Plan, node: NodeId, now: Time) -> bool {
    let entry = graph.entry(node);
    let holds = |target: &crate::graph::Target| {
        let judged = Judged {
            node: target.node,
            entry: graph.entry(target.node),
            record: &plan.next.nodes[target.node],
        };
        let fleeting = |condition: &Condition| {
            matches!(
                condition,
                Condition::Ready(_) | Condition::Task(_) | Condition::Probe(_) | Condition::Custom(_)
            )
        };
        target.rules.as_slice().iter().all(|rule| {
            fleeting(&rule.condition)
                || matches!(judge(&rule.condition, judged, facts, now), Judgement::Holds(_))
        })
    };
    let left_out = |target: &&crate::graph::Target| {
        graph.on_skipped(node) == crate::graph::OnSkipped::Satisfy
            && plan.next.nodes[target.node].is_skipped_benignly()
    };
    match entry.strategy {
        Strategy::All => entry.targets.iter().filter(|target| !left_out(target)).all(holds),
        Strategy::Any => entry.targets.is_empty() || entry.targets.iter().any(holds),
        Strategy::AtLeast(wanted) => {
            entry.targets.iter().filter(|target| holds(target)).count() >= wanted as usize
        }
    }
}

/// What was added to a flow that had ended before doesn't count.
fn the_end_is_told(before: &Snapshot, plan: &Plan, found: &mut Vec<Violation>) {
    let late = |phase: NodePhase| before.record.has_ended() && phase.is_undecided();
    let open = plan
        .next
        .nodes
        .iter()
        .any(|(_, record)| !record.phase().is_end() && !late(record.phase()));
    if open == plan.next.phase.is_end() {
        found.push(Violation(format!(
            "the flow is {} with open nodes: {open}",
            plan.next.phase
        )));
    }
}

/// Planning the state that a plan produced changes nothing, and asks for nothing that isn't on its way.
fn again_is_nothing(
    graph: &FlowGraph,
    policy: &Policy,
    snapshot: &Snapshot,
    facts: &FactCache,
    plan: &Plan,
    now: Time,
    found: &mut Vec<Violation>,
) {
    if plan.wake_at.is_some_and(|at| at <= now) {
        return;
    }
    let mut after = snapshot.clone();
    after.record = plan.next.clone();
    let born = plan.effects.contains(&Effect::MarkBirth) || snapshot.ledger == crate::snapshot::Ledger::Lost;
    if born {
        after.ledger = crate::snapshot::Ledger::Kept;
    }
    after.strays.clear();
    after.in_flight.extend(plan.effects.iter().filter_map(sent));
    let again = plan_again(graph, policy, &after, facts, now);
    let effects = again
        .effects
        .iter()
        .filter(|effect| !matches!(effect, Effect::Reread | Effect::DeleteFlow))
        .count();
    if again.urgency != Urgency::None || effects > 0 || again.next != plan.next {
        found.push(Violation(format!(
            "planning again asks for more: {:?} {:?}",
            again.changes, again.effects
        )));
    }
}

fn sent(effect: &Effect) -> Option<(crate::key::JobKey, EffectKind)> {
    match effect {
        Effect::Create { key } => Some((*key, EffectKind::Create)),
        Effect::Look { key } => Some((*key, EffectKind::Look)),
        Effect::LookAtPods { key } => Some((*key, EffectKind::LookAtPods)),
        Effect::Terminate { key, .. } => Some((*key, EffectKind::Terminate)),
        Effect::Delete { key, .. } => Some((*key, EffectKind::Delete)),
        Effect::MarkBirth | Effect::DeleteStray(_) | Effect::Reread | Effect::DeleteFlow => None,
    }
}
