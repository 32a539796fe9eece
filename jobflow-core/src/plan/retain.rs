//! Cleans up after the end: the jobs of a flow that doesn't keep them.

use super::planning::Planning;
use super::{Effect, WAVE};
use crate::phase::FlowPhase;
use crate::policy::Retain;
use crate::snapshot::{EffectKind, Sighting};

pub(super) fn retain(planning: &mut Planning<'_>) {
    let retain = match planning.next.phase {
        FlowPhase::Succeed => planning.policy.retain_on_success,
        FlowPhase::Failed => planning.policy.retain_on_failure,
        FlowPhase::Pending | FlowPhase::Running | FlowPhase::Terminating => return,
    };
    if retain == Retain::Keep {
        return;
    }
    let mut deletes = 0;
    for (key, sighting) in &planning.snapshot.jobs {
        let Sighting::Seen(view) = sighting else { continue };
        if view.deleting || planning.is_in_flight(*key, EffectKind::Delete) {
            continue;
        }
        if deletes == WAVE {
            return planning.wake(planning.now);
        }
        deletes += 1;
        let delete = Effect::Delete {
            key: *key,
            uid: view.uid.clone(),
        };
        if !planning.effects.contains(&delete) {
            planning.effects.push(delete);
        }
    }
}
