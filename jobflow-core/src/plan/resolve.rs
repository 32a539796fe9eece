//! One pass over the undecided nodes in topological order, which takes a skip, a false branch or an end to the end of
//! the graph in the same plan. Only this step looks at other nodes' phases, and only at nodes before.

use alloc::sync::Arc;

use super::dependency::{self, Dependency, Findings};
use super::halt;
use super::planning::Planning;
use crate::expression::Scope;
use crate::facts::FactKey;
use crate::graph::Work;
use crate::key::NodeId;
use crate::node::NodeEvent;
use crate::phase::NodePhase;
use crate::reason::Reason;
use crate::record::{Cause, Decided};
use crate::report::Why;

pub(super) fn resolve(planning: &mut Planning<'_>) {
    if planning.next.has_ended() {
        return;
    }
    let said = planning.report.len();
    loop {
        let before = (planning.failing, planning.next.finally_since);
        planning.candidates.clear();
        // What was asked about jobs that are there stays.
        planning
            .wanted
            .retain(|question| matches!(question, FactKey::Queue(_)));
        planning.report.truncate(said);
        pass(planning);
        open_finally(planning);
        if before == (planning.failing, planning.next.finally_since) {
            return;
        }
        halt::fail_over(planning);
    }
}

fn pass(planning: &mut Planning<'_>) {
    let graph = planning.graph;
    for &node in graph.order() {
        if planning.phase(node).is_undecided() {
            decide(planning, node);
        }
    }
}

/// `finally` opens when everything else has ended, whatever the outcome.
fn open_finally(planning: &mut Planning<'_>) {
    if planning.open.main == 0 && planning.open.finally > 0 && planning.next.finally_since.is_none() {
        planning.next.finally_since = Some(planning.now);
        planning.must_write();
    }
}

fn decide(planning: &mut Planning<'_>, node: NodeId) {
    if planning.graph.is_finally(node) && planning.next.finally_since.is_none() {
        return planning.say(node, Why::FinallyNotOpen);
    }
    if planning.phase(node) == NodePhase::Waiting
        && planning.failing.is_none()
        && let Some(why) = dependency::plainly_pending(planning, node)
    {
        return planning.say(node, why);
    }
    let (dependency, findings) = dependency::verdict(planning, node);
    keep(planning, node, findings);
    match dependency {
        Dependency::Never { reason, cause } => skip(planning, node, reason, cause),
        Dependency::Pending(_) | Dependency::Satisfied if planning.is_halted_by_failure(node) => {
            halt::skip_failing(planning, node);
        }
        Dependency::Pending(why) => {
            if planning.record(node).reason != Some(Reason::LedgerLost) {
                planning.on(node, NodeEvent::Unblock, None, planning.now);
            }
            planning.say(node, why);
        }
        Dependency::Satisfied => go_on(planning, node),
    }
}

fn keep(planning: &mut Planning<'_>, node: NodeId, findings: Findings) {
    planning.wanted.extend(findings.wanted);
    if let Some(due) = findings.due {
        planning.wake(due);
    }
    if !findings.held.is_empty() {
        planning.change(node).held.extend(findings.held);
        planning.must_write();
    }
}

fn skip(planning: &mut Planning<'_>, node: NodeId, reason: Reason, cause: Cause) {
    planning.on(node, NodeEvent::Skip, Some(reason), planning.now);
    planning.change(node).cause = Some(cause);
}

/// The dependencies are met: what comes after them, in the order `when`, switch, release.
fn go_on(planning: &mut Planning<'_>, node: NodeId) {
    if let Some(reason @ (Reason::NameTaken | Reason::LedgerLost)) = planning.record(node).reason {
        return planning.say(node, Why::HeldBack(reason));
    }
    let entry = planning.entry(node);
    if let (Some(when), None) = (&entry.when, planning.record(node).decided) {
        match when.0.holds(Scope {
            record: &planning.next,
        }) {
            Ok(true) => planning.change(node).decided = Some(Decided::When),
            Ok(false) => {
                return planning.on(node, NodeEvent::Skip, Some(Reason::ConditionFalse), planning.now);
            }
            Err(message) => return fail(planning, node, &message),
        }
    }
    match &entry.work {
        Work::Job => planning.candidates.push(node),
        Work::Switch(switch) => match switch.on.0.choose(Scope {
            record: &planning.next,
        }) {
            Ok(case) => {
                planning.change(node).decided = Some(Decided::Case(case));
                planning.on(node, NodeEvent::Succeed, None, planning.now);
            }
            Err(message) => fail(planning, node, &message),
        },
    }
}

fn fail(planning: &mut Planning<'_>, node: NodeId, message: &str) {
    planning.change(node).message = Some(Arc::from(message));
    planning.on(
        node,
        NodeEvent::Fail,
        Some(Reason::ExpressionFailed),
        planning.now,
    );
}
