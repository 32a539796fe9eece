//! Starts what is ready, within limits: the longest remaining path first, at most [`super::WAVE`] a plan.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::planning::Planning;
use super::{Effect, WAVE, halt, resolve};
use crate::facts::{Answer, FactKey, TemplateVersion};
use crate::graph::TimeoutScope;
use crate::key::{JobKey, NodeId};
use crate::node::NodeEvent;
use crate::phase::NodePhase;
use crate::reason::Reason;
use crate::record::Clock;
use crate::report::Why;
use crate::snapshot::{EffectKind, Ledger, Sighting};

/// What is known of the job that a node would start.
enum Prepared {
    Ready(TemplateVersion),
    Asked,
    NoTemplate,
    Unrenderable(Arc<str>),
}

pub(super) fn release(planning: &mut Planning<'_>) {
    if planning.releases_nothing {
        planning.wake(planning.now);
        return create(planning);
    }
    while !release_ready(planning) {
        halt::fail_over(planning);
        resolve::resolve(planning);
    }
    create(planning);
}

/// One try; false when a job turned out not to be buildable, so that the flow may be failing now.
fn release_ready(planning: &mut Planning<'_>) -> bool {
    let mut ready = core::mem::take(&mut planning.candidates);
    ready.extend(due_again(planning));
    if planning.snapshot.wishes.holds_back() {
        ready
            .iter()
            .for_each(|node| hold_back(planning, *node, Reason::Suspended));
        return true;
    }
    let places = places(planning);
    if ready.len() > places.min(WAVE) {
        ready.sort_unstable_by_key(|node| (Reverse(planning.graph.remaining(*node)), *node));
    }
    let (now, later) = ready.split_at(ready.len().min(places).min(WAVE));
    let prepared: Vec<(NodeId, Prepared)> =
        now.iter().map(|node| (*node, prepare(planning, *node))).collect();
    let broken: Vec<&(NodeId, Prepared)> = prepared
        .iter()
        .filter(|(_, prepared)| matches!(prepared, Prepared::Unrenderable(_)))
        .collect();
    if !broken.is_empty() {
        broken
            .into_iter()
            .for_each(|(node, prepared)| fail(planning, *node, prepared));
        return false;
    }
    start(planning, prepared);
    put_off(planning, later, places);
    true
}

/// Nodes whose next attempt is due, and nodes that a suspension stopped.
fn due_again(planning: &mut Planning<'_>) -> Vec<NodeId> {
    let mut due = Vec::new();
    for index in 0..planning.active.len() {
        let node = planning.active[index];
        match planning.phase(node) {
            NodePhase::BackingOff if is_due(planning, node) => due.push(node),
            NodePhase::Paused if planning.record(node).reason == Some(Reason::Suspended) => {
                if pods_gone(planning, node) {
                    due.push(node);
                }
            }
            NodePhase::BackingOff
            | NodePhase::Paused
            | NodePhase::Waiting
            | NodePhase::Blocked
            | NodePhase::Submitting
            | NodePhase::Queued
            | NodePhase::Running
            | NodePhase::Stopping
            | NodePhase::Succeeded
            | NodePhase::Failed
            | NodePhase::Skipped
            | NodePhase::Cancelled => {}
        }
    }
    due
}

/// An attempt that ended in this plan gives its place to others first: its retry is due in a later plan.
fn is_due(planning: &mut Planning<'_>, node: NodeId) -> bool {
    let at = planning.record(node).next_retry.unwrap_or(planning.now);
    let just_ended = planning.snapshot.record.nodes[node].phase() != NodePhase::BackingOff;
    if at > planning.now || just_ended {
        planning.wake(at);
        planning.say(node, Why::Until(at));
        return false;
    }
    pods_gone(planning, node)
}

fn pods_gone(planning: &mut Planning<'_>, node: NodeId) -> bool {
    let left = matches!(planning.sighting(planning.key(node)), Some(Sighting::Seen(view)) if view.pods_left);
    if left {
        planning.say(node, Why::PodsLeft);
    }
    !left
}

fn places(planning: &Planning<'_>) -> usize {
    let Some(most) = planning.policy.parallelism else {
        return usize::MAX;
    };
    let alive = planning
        .active
        .iter()
        .filter(|node| halt::has_job(planning, **node));
    (most as usize).saturating_sub(alive.count())
}

/// Both questions are asked at once, so that a start takes one round of facts.
fn prepare(planning: &mut Planning<'_>, node: NodeId) -> Prepared {
    let attempt = planning.record(node).attempt.saturating_add(1);
    let template = answer(planning, FactKey::Template(node));
    let rendered = answer(
        planning,
        FactKey::Rendered(JobKey {
            node,
            index: 0,
            attempt,
        }),
    );
    match (template, rendered) {
        (Some(Answer::NoTemplate), _) => Prepared::NoTemplate,
        (Some(Answer::Unrenderable(message)), _) | (_, Some(Answer::Unrenderable(message))) => {
            Prepared::Unrenderable(Arc::clone(message))
        }
        (Some(Answer::Template(version)), Some(Answer::Rendered(_))) => Prepared::Ready(version.clone()),
        _ => Prepared::Asked,
    }
}

fn answer<'a>(planning: &mut Planning<'a>, key: FactKey) -> Option<&'a Answer> {
    let fact = planning.facts.find(&key);
    if fact.is_none() {
        planning.wanted.push(key);
    }
    fact.map(|fact| &fact.answer)
}

fn fail(planning: &mut Planning<'_>, node: NodeId, prepared: &Prepared) {
    let Prepared::Unrenderable(message) = prepared else {
        return;
    };
    planning.change(node).message = Some(Arc::clone(message));
    planning.on(node, NodeEvent::Fail, Some(Reason::RenderFailed), planning.now);
}

fn start(planning: &mut Planning<'_>, prepared: Vec<(NodeId, Prepared)>) {
    for (node, prepared) in prepared {
        match prepared {
            Prepared::Ready(template) => submit(planning, node, template),
            Prepared::NoTemplate => hold_back(planning, node, Reason::TemplateNotFound),
            Prepared::Asked | Prepared::Unrenderable(_) => planning.say(node, Why::Preparing),
        }
    }
}

fn submit(planning: &mut Planning<'_>, node: NodeId, template: TemplateVersion) {
    let entry = planning.entry(node);
    let now = planning.now;
    let record = planning.change(node);
    record.attempt = record.attempt.saturating_add(1);
    record.entry_hash = entry.hash;
    record.template = (!template.uid.is_empty()).then_some(template);
    record.start_time.get_or_insert(now);
    record.stop = None;
    record.next_retry = None;
    record.message = None;
    record.exit_code = None;
    record.jobless = false;
    record.held = Vec::new();
    if entry
        .timeout
        .is_some_and(|timeout| timeout.scope == TimeoutScope::Node)
    {
        // It stood still while the node was paused, and runs from here on.
        let clock = record.node_clock.get_or_insert_with(|| Clock::started(now));
        clock.hold(false, now);
    }
    planning.on(node, NodeEvent::Submit, None, now);
    let key = planning.key(node);
    planning.creates.push(key);
    planning.say(node, Why::InFlight);
}

/// What is ready and not started now: for want of a place, or because a plan releases only so many.
fn put_off(planning: &mut Planning<'_>, later: &[NodeId], places: usize) {
    let next_wave = places.saturating_sub(WAVE).min(later.len());
    let (wave, limited) = later.split_at(next_wave);
    for node in wave {
        planning.say(*node, Why::NextWave);
        planning.wake(planning.now);
    }
    limited
        .iter()
        .for_each(|node| hold_back(planning, *node, Reason::ParallelismLimit));
}

fn hold_back(planning: &mut Planning<'_>, node: NodeId, reason: Reason) {
    if planning.phase(node).is_undecided() {
        planning.on(node, NodeEvent::Block, Some(reason), planning.now);
    }
    planning.say(node, Why::HeldBack(reason));
}

/// Whether the intent stands for the entry and its template as they are now: if it was made for others, it is made anew,
/// which is written before the job is created. False while the template has to be waited for.
fn is_intended(planning: &mut Planning<'_>, key: JobKey) -> bool {
    let node = key.node;
    let version = match answer(planning, FactKey::Template(node)) {
        Some(Answer::NoTemplate) => {
            planning.explain(node, Reason::TemplateNotFound, None);
            planning.say(node, Why::HeldBack(Reason::TemplateNotFound));
            return false;
        }
        Some(Answer::Template(version)) => Some(version.clone()).filter(|version| !version.uid.is_empty()),
        // One that can't be used is told by the create.
        Some(_) => planning.record(node).template.clone(),
        None => {
            planning.say(node, Why::Preparing);
            return false;
        }
    };
    let hash = planning.entry(node).hash;
    let record = planning.record(node);
    if record.entry_hash != hash || record.template != version {
        let record = planning.change(node);
        record.entry_hash = hash;
        record.template = version;
        planning.must_write();
    }
    true
}

/// Asks for the jobs of all intents that still stand; the birth mark comes before the first.
fn create(planning: &mut Planning<'_>) {
    for key in core::mem::take(&mut planning.creates) {
        let record = planning.record(key.node);
        let stands = record.phase() == NodePhase::Submitting
            && record.stop.is_none()
            && record.uid.is_none()
            && record.attempt == key.attempt
            && !planning.is_halted_intent(key.node);
        if stands && !planning.is_in_flight(key, EffectKind::Create) && is_intended(planning, key) {
            planning.effects.push(Effect::Create { key });
        }
    }
    let creates = planning
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::Create { .. }));
    if creates && planning.snapshot.ledger == Ledger::Unborn {
        planning.effects.insert(0, Effect::MarkBirth);
    }
}
