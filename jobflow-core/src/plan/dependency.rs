//! The verdict on everything that an entry waits for: its targets under its strategy, and the switches above it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::judge::{Judged, Judgement, is_asked, is_fleeting, judge, with_delay};
use super::planning::Planning;
use crate::condition::{Condition, TargetView};
use crate::facts::{Answer, FactKey};
use crate::graph::{Entry, OnSkipped, Strategy, Target};
use crate::key::NodeId;
use crate::phase::NodePhase;
use crate::probe::ProbeAnswer;
use crate::reason::{Gravity, Reason};
use crate::record::{Cause, Decided, Held, NodeRecord};
use crate::report::Why;
use crate::time::{Span, Time};

/// How soon to plan again while a custom condition waits for the last word on a target that has ended.
const LAST_WORD: Span = Span::from_secs(1);

/// What the dependencies of an entry come to.
pub(super) enum Dependency {
    Pending(Why),
    Satisfied,
    Never { reason: Reason, cause: Cause },
}

/// What was found beside the verdict.
#[derive(Default)]
pub(super) struct Findings {
    /// Conditions that hold now and may not later.
    pub(super) held: Vec<Held>,
    /// When a delay will have passed.
    pub(super) due: Option<Time>,
    /// What probes and custom conditions ask, answered before or not: an answer is good for a while only. They are
    /// asked for as long as plans say so.
    pub(super) wanted: Vec<FactKey>,
    /// The first target that would be met but for its probes, and how its pods answered last.
    unanswered: Option<(NodeId, Option<ProbeAnswer>)>,
}

/// The verdicts on an entry's targets, added up.
#[derive(Default)]
struct Tally {
    holds: u32,
    pending: u32,
    left_out: u32,
    first_pending: Option<NodeId>,
    gate: Option<NodeId>,
    never: Option<(Gravity, Reason, Cause)>,
}

/// The verdict on a node that waits for completions alone, of which none has failed to come about; most nodes of
/// most plans are such, and cost one look a target.
pub(super) fn plainly_pending(planning: &Planning<'_>, node: NodeId) -> Option<Why> {
    let mut unmet = 0;
    let mut first = None;
    for target in planning.graph.plain_targets(node)? {
        let phase = planning.phase(*target);
        if phase.is_end() && phase != NodePhase::Succeeded {
            return None;
        }
        if !phase.is_end() {
            unmet += 1;
            first.get_or_insert(*target);
        }
    }
    first.map(|first| Why::Targets { unmet, first })
}

pub(super) fn verdict(planning: &Planning<'_>, node: NodeId) -> (Dependency, Findings) {
    let entry = planning.entry(node);
    let mut tally = Tally::default();
    let mut findings = Findings::default();
    if let Some(not_taken) = gates(planning, node, &mut tally) {
        return (not_taken, findings);
    }
    let gate_never = tally.never.is_some();
    let leaves_out = entry.strategy == Strategy::All && planning.graph.on_skipped(node) == OnSkipped::Satisfy;
    for target in &entry.targets {
        if leaves_out && planning.record(target.node).is_skipped_benignly() {
            tally.left_out += 1;
            continue;
        }
        match judge_target(planning, node, target, &mut findings) {
            Judgement::Pending => tally.wait_for(target.node),
            Judgement::Holds(_) => tally.holds += 1,
            Judgement::Never { reason, cause } => tally.rule_out(reason, cause),
        }
    }
    (tally.combine(entry, gate_never, &findings), findings)
}

/// Adds the switches above the entry; a branch that wasn't taken decides alone.
fn gates(planning: &Planning<'_>, node: NodeId, tally: &mut Tally) -> Option<Dependency> {
    for gate in planning.graph.gates(node) {
        let record = planning.record(gate.switch);
        match (record.phase(), record.decided) {
            (NodePhase::Succeeded, Some(Decided::Case(case))) if gate.admits(case) => {}
            (NodePhase::Succeeded, _) => {
                let cause = Cause {
                    node: gate.switch,
                    reason: Reason::NotTaken,
                };
                return Some(Dependency::Never {
                    reason: Reason::NotTaken,
                    cause,
                });
            }
            (phase, _) if phase.is_end() => ended_gate(planning, gate.switch, tally),
            _ => tally.gate = Some(gate.switch),
        }
    }
    None
}

/// A switch that ended undecided: none of its branches can run.
fn ended_gate(planning: &Planning<'_>, switch: NodeId, tally: &mut Tally) {
    let judged = Judged {
        node: switch,
        entry: planning.entry(switch),
        record: planning.record(switch),
    };
    let undecided = Condition::Running;
    if let Judgement::Never { reason, cause } = judge(&undecided, judged, planning.facts, planning.now) {
        tally.rule_out(reason, cause);
    }
}

/// All rules on one target together.
fn judge_target(
    planning: &Planning<'_>,
    node: NodeId,
    target: &Target,
    findings: &mut Findings,
) -> Judgement {
    let record = planning.record(target.node);
    let judged = Judged {
        node: target.node,
        entry: planning.entry(target.node),
        record,
    };
    let mut all = Judgement::Holds(planning.now);
    let mut unanswered = None;
    let mut waits_otherwise = false;
    for (index, rule) in target.rules.as_slice().iter().enumerate() {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let held = held(planning.record(node), target.node, index, record);
        if held.is_none() {
            ask(&rule.condition, judged, findings);
        }
        let judgement = match held {
            Some(since) => Judgement::Holds(since),
            None => judge(&rule.condition, judged, planning.facts, planning.now),
        };
        if let (None, Judgement::Holds(since), true) = (held, judgement, is_fleeting(&rule.condition)) {
            findings.held.push(Held {
                target: target.node,
                rule: index,
                attempt: record.attempt,
                since,
            });
        }
        let (judgement, due) = with_delay(rule, judgement, planning.now);
        findings.due = findings.due.into_iter().chain(due).min();
        if judgement == Judgement::Pending {
            if record.phase().is_end() && matches!(rule.condition, Condition::Custom(_)) {
                // The same answer as before is no news, and still the last word.
                findings.due = findings.due.into_iter().chain([planning.now + LAST_WORD]).min();
            }
            match last_answer(planning, &rule.condition, judged) {
                Some(answer) => unanswered = unanswered.or(Some(answer)),
                None => waits_otherwise = true,
            }
        }
        all = both(all, judgement);
    }
    if let (Judgement::Pending, false, Some(answer)) = (all, waits_otherwise, unanswered) {
        findings.unanswered.get_or_insert((target.node, answer));
    }
    all
}

/// Notes what a condition that hasn't held yet wants to know.
fn ask(condition: &Condition, judged: Judged<'_>, findings: &mut Findings) {
    let record = judged.record;
    match condition {
        Condition::Probe(probe) if is_asked(probe, record) => findings.wanted.push(FactKey::Probe {
            target: judged.job(),
            probe: Arc::clone(probe),
        }),
        Condition::Custom(custom) => {
            let name = &judged.entry.name;
            let wanted = custom.0.wants(TargetView { name, record });
            findings.wanted.extend(wanted);
        }
        Condition::Probe(_)
        | Condition::Completed
        | Condition::Started
        | Condition::Running
        | Condition::Ready(_)
        | Condition::Failed
        | Condition::Finished
        | Condition::Task(_) => {}
    }
}

/// How pods answered last, if the condition is a probe.
fn last_answer(
    planning: &Planning<'_>,
    condition: &Condition,
    judged: Judged<'_>,
) -> Option<Option<ProbeAnswer>> {
    let Condition::Probe(probe) = condition else {
        return None;
    };
    let fact = planning.facts.find_probe(judged.job(), probe);
    Some(fact.and_then(|fact| match fact.answer {
        Answer::Probe(answer) => Some(answer),
        Answer::Template(_)
        | Answer::NoTemplate
        | Answer::Rendered(_)
        | Answer::Unrenderable(_)
        | Answer::Queue(_)
        | Answer::Custom(_) => None,
    }))
}

/// Since when a condition is known to have held, of the attempt that still counts.
pub(crate) fn held(own: &NodeRecord, target: NodeId, rule: u32, record: &NodeRecord) -> Option<Time> {
    let void = record.phase() == NodePhase::BackingOff
        || (record.phase() == NodePhase::Paused && record.uid.is_none());
    let found = |held: &&Held| held.target == target && held.rule == rule && held.attempt == record.attempt;
    own.held
        .iter()
        .find(found)
        .filter(|_| !void)
        .map(|held| held.since)
}

fn both(one: Judgement, other: Judgement) -> Judgement {
    match (one, other) {
        (Judgement::Never { reason, .. }, Judgement::Never { reason: worse, .. })
            if worse.gravity() > reason.gravity() =>
        {
            other
        }
        (Judgement::Never { .. }, _) => one,
        (_, Judgement::Never { .. }) | (Judgement::Holds(_), _) => other,
        (Judgement::Pending, Judgement::Pending | Judgement::Holds(_)) => one,
    }
}

impl Tally {
    fn wait_for(&mut self, target: NodeId) {
        self.pending += 1;
        self.first_pending.get_or_insert(target);
    }

    /// Keeps the gravest reason; of equal ones that of the entry first in the spec.
    fn rule_out(&mut self, reason: Reason, cause: Cause) {
        let graver = self.never.is_none_or(|(gravity, _, kept)| {
            (reason.gravity(), core::cmp::Reverse(cause.node)) > (gravity, core::cmp::Reverse(kept.node))
        });
        if graver {
            self.never = Some((reason.gravity(), reason, cause));
        }
    }

    fn combine(&self, entry: &Entry, gate_never: bool, findings: &Findings) -> Dependency {
        let targets = u32::try_from(entry.targets.len()).unwrap_or(u32::MAX);
        let needed = match entry.strategy {
            Strategy::All => targets.saturating_sub(self.left_out),
            Strategy::Any => targets.min(1),
            Strategy::AtLeast(at_least) => at_least,
        };
        let impossible = gate_never || self.holds.saturating_add(self.pending) < needed;
        match self.never {
            Some((gravity, reason, cause)) if impossible && self.settles(gravity) => {
                Dependency::Never { reason, cause }
            }
            _ if !impossible && self.holds >= needed && self.gate.is_none() => Dependency::Satisfied,
            _ => Dependency::Pending(self.why(findings)),
        }
    }

    /// A failure settles at once; anything less waits for every verdict, so that reasons don't depend on order.
    fn settles(&self, gravity: Gravity) -> bool {
        gravity == Gravity::Failure || (self.pending == 0 && self.gate.is_none())
    }

    fn why(&self, findings: &Findings) -> Why {
        match (self.first_pending, self.gate) {
            (Some(first), _) if findings.unanswered.is_some_and(|(target, _)| target == first) => {
                Why::Unanswered {
                    unmet: self.pending,
                    first,
                    answer: findings.unanswered.and_then(|(_, answer)| answer),
                }
            }
            (Some(first), _) => Why::Targets {
                unmet: self.pending,
                first,
            },
            (None, Some(gate)) => Why::Gate(gate),
            (None, None) => Why::Preparing,
        }
    }
}
