//! Folds what was seen of jobs into attempts. An attempt may end here; a node doesn't.

use alloc::sync::Arc;

use super::Effect;
use super::fold;
use super::planning::{AttemptEnd, AttemptOutcome, Planning};
use crate::key::{JobKey, NodeId, Uid};
use crate::node::NodeEvent;
use crate::phase::NodePhase;
use crate::reason::Reason;
use crate::record::Stop;
use crate::report::Why;
use crate::snapshot::{EffectKind, JobView, Ledger, Refusal, RefusalClass, Sighting};
use crate::time::{Span, Time};

/// How long a name that is in use is left alone before it is looked at again.
const NAME_TAKEN_PERIOD: Span = Span::from_secs(5);

pub(super) fn settle(planning: &mut Planning<'_>) {
    match planning.snapshot.ledger {
        Ledger::Unborn => adopt(planning),
        Ledger::Lost => rebuild(planning),
        Ledger::Kept => {}
    }
    for index in 0..planning.active.len() {
        let node = planning.active[index];
        let sighting = planning.sightings.get(index).copied();
        let sighting = sighting.unwrap_or_else(|| planning.sighting(planning.key(node)));
        settle_node(planning, node, sighting);
    }
    strays(planning);
}

fn settle_node(planning: &mut Planning<'_>, node: NodeId, sighting: Option<&Sighting>) {
    match planning.phase(node) {
        NodePhase::Paused if planning.record(node).reason == Some(Reason::Suspended) => {}
        NodePhase::Submitting
        | NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::Paused => {
            settle_attempt(planning, node, sighting);
        }
        NodePhase::Blocked => name_taken(planning, node),
        NodePhase::Waiting
        | NodePhase::BackingOff
        | NodePhase::Succeeded
        | NodePhase::Failed
        | NodePhase::Skipped
        | NodePhase::Cancelled => {}
    }
}

fn settle_attempt(planning: &mut Planning<'_>, node: NodeId, sighting: Option<&Sighting>) {
    let key = planning.key(node);
    let uid = planning.record(node).uid.as_ref();
    match sighting {
        Some(Sighting::Seen(view)) if uid.is_none_or(|uid| *uid == view.uid) => {
            fold::fold(planning, node, view);
        }
        Some(Sighting::Seen(_) | Sighting::Missing) => planning.look(key),
        Some(Sighting::Gone { last, at }) => gone(planning, key, last.as_ref(), *at),
        Some(Sighting::Foreign { leaving, at }) => foreign(planning, key, *leaving, *at),
        Some(Sighting::Created(uid)) => created(planning, node, uid),
        Some(Sighting::Refused(refusal)) => refused(planning, key, refusal),
        Some(Sighting::Uncertain) => {
            planning.explain(node, Reason::CreateUncertain, None);
            planning.look(key);
        }
        None if uid.is_some() || planning.phase(node) == NodePhase::Paused => planning.say(node, Why::Job),
        None => unsent(planning, key),
    }
}

/// An intent of which nothing was seen: only one that this process wrote itself may be acted on unseen.
fn unsent(planning: &mut Planning<'_>, key: JobKey) {
    if planning.snapshot.fresh.contains(&key) {
        planning.absent.push(key.node);
        planning.creates.push(key);
    } else {
        planning.look(key);
    }
}

fn created(planning: &mut Planning<'_>, node: NodeId, uid: &Uid) {
    if planning.record(node).uid.is_none() {
        planning.change(node).uid = Some(uid.clone());
        planning.on(node, NodeEvent::Queue, None, planning.now);
    }
    planning.say(node, Why::Job);
}

/// A live read found nothing.
fn gone(planning: &mut Planning<'_>, key: JobKey, last: Option<&JobView>, at: Time) {
    if let Some(view) = last.filter(|view| view.phase.is_final()) {
        return fold::fold(planning, key.node, view);
    }
    let record = planning.record(key.node);
    let existed = record.uid.is_some() || last.is_some();
    match record.stop {
        Some(stop) if existed || at >= stop.since => {
            planning.change(key.node).jobless |= !existed;
            fold::end_stopped(planning, key, stop, at);
        }
        Some(_) => planning.look(key),
        None if existed => fold::end(planning, key, AttemptOutcome::Failed(Reason::JobDeleted), at),
        None => never_created(planning, key),
    }
}

/// The job is known not to exist: it is created, from the entry as it is now.
fn never_created(planning: &mut Planning<'_>, key: JobKey) {
    planning.absent.push(key.node);
    planning.intend(key);
}

fn foreign(planning: &mut Planning<'_>, key: JobKey, leaving: bool, at: Time) {
    let node = key.node;
    let record = planning.record(node);
    if record.uid.is_some() {
        return match record.stop {
            Some(stop) => fold::end_stopped(planning, key, stop, at),
            None => fold::end(planning, key, AttemptOutcome::Failed(Reason::JobDeleted), at),
        };
    }
    planning.change(node).jobless = true;
    if let Some(stop) = planning.record(node).stop {
        return fold::end_stopped(planning, key, stop, at);
    }
    if !leaving {
        return fold::end(planning, key, AttemptOutcome::Failed(Reason::NameConflict), at);
    }
    planning.on(node, NodeEvent::Block, Some(Reason::NameTaken), planning.now);
    planning.change(node).attempt = key.attempt - 1;
    planning.must_write();
    await_name(planning, key, at);
}

/// A node whose next job's name was in use.
fn name_taken(planning: &mut Planning<'_>, node: NodeId) {
    let attempt = planning.record(node).attempt.saturating_add(1);
    let key = JobKey {
        attempt,
        ..planning.key(node)
    };
    match planning.sighting(key) {
        Some(Sighting::Foreign { leaving: true, at }) => await_name(planning, key, *at),
        Some(Sighting::Foreign { leaving: false, at }) => {
            planning.on(node, NodeEvent::Fail, Some(Reason::NameConflict), *at);
        }
        Some(Sighting::Gone { .. }) => planning.on(node, NodeEvent::Unblock, None, planning.now),
        Some(
            Sighting::Seen(_)
            | Sighting::Missing
            | Sighting::Created(_)
            | Sighting::Refused(_)
            | Sighting::Uncertain,
        )
        | None => planning.look(key),
    }
}

fn await_name(planning: &mut Planning<'_>, key: JobKey, seen: Time) {
    let due = seen + NAME_TAKEN_PERIOD;
    planning.wake(due);
    if due <= planning.now {
        planning.look(key);
    }
}

fn refused(planning: &mut Planning<'_>, key: JobKey, refusal: &Refusal) {
    let node = key.node;
    if let Some(Stop { since, .. }) = planning.record(node).stop.filter(|stop| refusal.at < stop.since) {
        planning.wake(since);
        return planning.look(key);
    }
    if let Some(stop) = planning.record(node).stop {
        planning.change(node).jobless = true;
        return fold::end_stopped(planning, key, stop, refusal.at);
    }
    if refusal.class == RefusalClass::Final {
        let record = planning.change(node);
        record.message = Some(Arc::clone(&refusal.message));
        record.jobless = true;
        return fold::end(
            planning,
            key,
            AttemptOutcome::Failed(Reason::CreateRefused),
            refusal.at,
        );
    }
    planning.absent.push(node);
    let reason = held_back(refusal.class);
    planning.explain(node, reason, Some(&refusal.message));
    planning.say(node, Why::HeldBack(reason));
    if refusal.class != RefusalClass::NamespaceTerminating {
        try_again(planning, key, refusal);
    }
}

fn try_again(planning: &mut Planning<'_>, key: JobKey, refusal: &Refusal) {
    let doubled = 1_u64 << refusal.count.saturating_sub(1).min(9);
    let wait = Span::from_secs(doubled.min(300));
    let due = refusal
        .not_before
        .map_or(refusal.at + wait, |asked| asked.max(refusal.at + wait));
    if due > planning.now {
        return planning.wake(due);
    }
    planning.intend(key);
}

const fn held_back(class: RefusalClass) -> Reason {
    match class {
        RefusalClass::Final => Reason::CreateRefused,
        RefusalClass::Queue => Reason::QueueUnavailable,
        RefusalClass::Quota => Reason::QuotaExceeded,
        RefusalClass::NamespaceTerminating => Reason::NamespaceTerminating,
        RefusalClass::NotPermitted => Reason::NotPermitted,
        RefusalClass::Passing => Reason::ServerUnavailable,
    }
}

/// Jobs of a flow that was never started by us: they were made by somebody before us, as first attempts.
fn adopt(planning: &mut Planning<'_>) {
    for (key, sighting) in &planning.snapshot.jobs {
        let Sighting::Seen(view) = sighting else { continue };
        if key.attempt == 1 && planning.record(key.node).attempt == 0 {
            take_over(planning, *key, view);
            planning.releases_nothing = true;
        }
    }
}

/// The record is gone: it is made anew from the jobs that are there, and nothing is created from it in this plan.
fn rebuild(planning: &mut Planning<'_>) {
    planning.releases_nothing = true;
    planning.next.ledger_lost = true;
    planning.must_write();
    for (key, sighting) in planning.snapshot.jobs.iter().rev() {
        let Sighting::Seen(view) = sighting else { continue };
        if planning.record(key.node).attempt == 0 {
            take_over(planning, *key, view);
        }
    }
    for position in 0..planning.graph.len() {
        let node = crate::graph::node_id(position);
        if planning.phase(node) == NodePhase::Waiting {
            planning.on(node, NodeEvent::Block, Some(Reason::LedgerLost), planning.now);
        }
    }
}

fn take_over(planning: &mut Planning<'_>, key: JobKey, view: &JobView) {
    let hash = planning.entry(key.node).hash;
    let record = planning.change(key.node);
    record.attempt = key.attempt;
    record.uid = Some(view.uid.clone());
    record.entry_hash = hash;
    record.start_time = Some(view.created);
    planning.on(key.node, NodeEvent::Submit, None, view.created);
    planning.active.push(key.node);
}

/// Objects that no attempt stands for are deleted; a job ahead of the record shows that the record is old.
fn strays(planning: &mut Planning<'_>) {
    planning
        .effects
        .extend(planning.snapshot.strays.iter().cloned().map(Effect::DeleteStray));
    for (key, sighting) in &planning.snapshot.jobs {
        let Sighting::Seen(view) = sighting else { continue };
        let record = planning.record(key.node);
        if key.attempt > record.attempt && planning.snapshot.ledger == Ledger::Kept {
            planning.effects.push(Effect::Reread);
            continue;
        }
        let late = record.jobless && record.phase().is_end() && key.attempt == record.attempt;
        if late && !view.deleting && !planning.is_in_flight(*key, EffectKind::Delete) {
            planning.effects.push(Effect::Delete {
                key: *key,
                uid: view.uid.clone(),
            });
        }
    }
}

/// Lists an attempt as ended.
pub(super) fn note_end(planning: &mut Planning<'_>, key: JobKey, end: AttemptEnd) {
    planning.ended.push((key, end));
}
