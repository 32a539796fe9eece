//! What a recorded stop asks of a job: an orderly end first, again every 30 s, and after 2 min its deletion.

use super::Effect;
use super::planning::Planning;
use crate::gang::JobPhase;
use crate::key::{JobKey, NodeId, Uid};
use crate::record::Stop;
use crate::snapshot::{EffectKind, JobView, Sighting};
use crate::time::Span;

/// How long a job has to show that it heard.
const AGAIN: Span = Span::from_secs(30);

/// How long a job has to end in order.
const PATIENCE: Span = Span::from_secs(120);

pub(super) fn request(planning: &mut Planning<'_>) {
    for index in 0..planning.active.len() {
        let node = planning.active[index];
        let record = planning.record(node);
        if record.phase().is_live()
            && let (Some(stop), Some(uid)) = (record.stop, record.uid.clone())
        {
            request_end(planning, node, stop, uid);
        }
    }
}

fn request_end(planning: &mut Planning<'_>, node: NodeId, stop: Stop, uid: Uid) {
    let key = planning.key(node);
    let (phase, deleting) = match planning.sighting(key) {
        Some(Sighting::Seen(JobView { phase, deleting, .. })) => (*phase, *deleting),
        Some(
            Sighting::Missing
            | Sighting::Gone { .. }
            | Sighting::Foreign { .. }
            | Sighting::Created(_)
            | Sighting::Refused(_)
            | Sighting::Uncertain,
        )
        | None => (JobPhase::Empty, false),
    };
    if deleting || phase.is_final() {
        return;
    }
    let overdue = stop.since + PATIENCE <= planning.now;
    if phase == JobPhase::Aborted || overdue || !planning.policy.commands {
        return ask(planning, key, EffectKind::Delete, Effect::Delete { key, uid });
    }
    planning.wake(stop.since + PATIENCE);
    if phase != JobPhase::Terminating {
        ask(
            planning,
            key,
            EffectKind::Terminate,
            Effect::Terminate { key, uid },
        );
    }
}

/// Asks, unless the same was asked a moment ago.
fn ask(planning: &mut Planning<'_>, key: JobKey, kind: EffectKind, effect: Effect) {
    let again = planning
        .snapshot
        .stop_requests
        .get(&key)
        .map(|(asked, at)| (*asked, *at + AGAIN));
    match again {
        Some((asked, due)) if asked == kind && due > planning.now => planning.wake(due),
        Some(_) | None if planning.is_in_flight(key, kind) => {}
        Some(_) | None => planning.effects.push(effect),
    }
}
