//! Cleans up: the jobs of an ended flow that doesn't keep them, jobs whose own time after their end is up, and the flow
//! itself when its time is.

use super::planning::Planning;
use super::{Effect, WAVE};
use crate::key::JobKey;
use crate::phase::FlowPhase;
use crate::policy::Retain;
use crate::record::FlowRecord;
use crate::snapshot::{EffectKind, JobView, Sighting};
use crate::time::Time;

pub(super) fn retain(planning: &mut Planning<'_>) {
    if flow_has_expired(planning) {
        return planning.effects.push(Effect::DeleteFlow);
    }
    let unwanted = match planning.next.phase {
        FlowPhase::Succeed => planning.policy.retain_on_success == Retain::Delete,
        FlowPhase::Failed => planning.policy.retain_on_failure == Retain::Delete,
        FlowPhase::Pending | FlowPhase::Running | FlowPhase::Terminating => false,
    };
    let mut deletes = 0;
    for (key, sighting) in &planning.snapshot.jobs {
        let Sighting::Seen(view) = sighting else { continue };
        if view.deleting || !(unwanted || has_expired(planning, *key, view)) {
            continue;
        }
        if planning.is_in_flight(*key, EffectKind::Delete) {
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

/// Whether the time of the flow is up. It counts from the end that was written down, and ends with it: a flow that runs
/// again has no time.
fn flow_has_expired(planning: &mut Planning<'_>) -> bool {
    let recorded = &planning.snapshot.record;
    let ended = recorded.completion_time.filter(|_| recorded.phase.is_end());
    let (Some(ttl), Some(ended), true) = (planning.policy.ttl, ended, planning.next.phase.is_end()) else {
        return false;
    };
    let due = ended + ttl;
    if due > planning.now {
        planning.wake(due);
    }
    due <= planning.now
}

/// Whether the time of a job is up. It counts from the end that was written down, so that no outcome is lost with it.
fn has_expired(planning: &mut Planning<'_>, key: JobKey, view: &JobView) -> bool {
    let (Some(ttl), Some(ended)) = (view.ttl, recorded_end(&planning.snapshot.record, key, view)) else {
        return false;
    };
    let due = ended + ttl;
    if due > planning.now {
        planning.wake(due);
    }
    due <= planning.now
}

fn recorded_end(record: &FlowRecord, key: JobKey, view: &JobView) -> Option<Time> {
    let node = record.nodes.get(key.node)?;
    if key.attempt == node.attempt {
        return node.finish_time.filter(|_| node.phase().is_end());
    }
    let earlier = node
        .attempts
        .iter()
        .find(|attempt| attempt.attempt == key.attempt);
    let forgotten = view.changed.filter(|_| key.attempt < node.attempt);
    earlier.map(|attempt| attempt.finish_time).or(forgotten)
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use crate::facts::FactCache;
    use crate::gang::JobPhase;
    use crate::graph::{Entry, FlowGraph};
    use crate::key::{JobKey, NodeId, Uid};
    use crate::node::NodeState;
    use crate::phase::{FlowPhase, NodePhase};
    use crate::plan::{Effect, plan};
    use crate::policy::{Policy, Retain};
    use crate::reason::Reason;
    use crate::record::AttemptRecord;
    use crate::snapshot::{EffectKind, JobView, Ledger, Sighting, Snapshot};
    use crate::time::{Span, Time};

    fn key(attempt: u32) -> JobKey {
        JobKey {
            node: NodeId(0),
            index: 0,
            attempt,
        }
    }

    /// A flow whose only node, in its second attempt, stands so; jobs of both attempts are there, both to be deleted
    /// ten seconds after their ends.
    fn snapshot(phase: NodePhase) -> Snapshot {
        let mut snapshot = Snapshot::unborn(1);
        snapshot.ledger = Ledger::Kept;
        let record = snapshot.record.nodes.change(NodeId(0));
        record.state = NodeState::recorded(phase);
        record.attempt = 2;
        record.attempts = vec![AttemptRecord {
            attempt: 1,
            reason: Reason::JobFailed,
            finish_time: Time(5_000),
            exit_code: None,
        }];
        if phase.is_end() {
            record.finish_time = Some(Time(20_000));
        } else {
            record.uid = Some(Uid::from("2"));
        }
        let ended = if phase.is_end() {
            JobPhase::Completed
        } else {
            JobPhase::Running
        };
        for (attempt, phase) in [(1, JobPhase::Failed), (2, ended)] {
            let mut view = JobView::new(Uid::from(if attempt == 1 { "1" } else { "2" }), phase, Time(0));
            view.ttl = Some(Span::from_secs(10));
            snapshot.jobs.insert(key(attempt), Sighting::Seen(view));
        }
        if phase.is_end() {
            snapshot.record.phase = FlowPhase::Succeed;
        }
        snapshot
    }

    fn deleted(snapshot: &Snapshot, policy: &Policy, now: i64) -> (Vec<u32>, Option<Time>) {
        let graph = FlowGraph::from_names(vec![Entry::job("a")]).unwrap();
        let plan = plan(&graph, policy, snapshot, &FactCache::default(), Time(now));
        let attempts = plan.effects.iter().filter_map(|effect| match effect {
            Effect::Delete { key, .. } => Some(key.attempt),
            Effect::MarkBirth
            | Effect::Create { .. }
            | Effect::Look { .. }
            | Effect::LookAtPods { .. }
            | Effect::Terminate { .. }
            | Effect::DeleteStray(_)
            | Effect::Reread
            | Effect::DeleteFlow => None,
        });
        (attempts.collect(), plan.wake_at)
    }

    /// Whether the flow is deleted at that time, and when it is to be looked at again, if it ended after a second.
    fn expires(phase: FlowPhase, ttl: Option<u64>, now: i64) -> (bool, Option<Time>) {
        let mut snapshot = Snapshot::unborn(1);
        snapshot.ledger = Ledger::Kept;
        snapshot.record.phase = phase;
        snapshot.record.completion_time = phase.is_end().then_some(Time(1_000));
        let ended = match phase {
            FlowPhase::Succeed => NodePhase::Succeeded,
            FlowPhase::Failed => NodePhase::Failed,
            FlowPhase::Pending | FlowPhase::Running | FlowPhase::Terminating => NodePhase::Running,
        };
        snapshot.record.nodes.change(NodeId(0)).state = NodeState::recorded(ended);
        snapshot.record.nodes.change(NodeId(0)).attempt = 1;
        let graph = FlowGraph::from_names(vec![Entry::job("a")]).unwrap();
        let policy = Policy {
            ttl: ttl.map(Span::from_secs),
            ..Policy::default()
        };
        let plan = plan(&graph, &policy, &snapshot, &FactCache::default(), Time(now));
        (plan.effects.contains(&Effect::DeleteFlow), plan.wake_at)
    }

    #[test]
    fn a_flow_goes_when_its_time_after_the_recorded_end_is_up() {
        for phase in [FlowPhase::Succeed, FlowPhase::Failed] {
            assert_eq!(expires(phase, Some(10), 10_999), (false, Some(Time(11_000))));
            assert_eq!(expires(phase, Some(10), 11_000), (true, None));
            assert_eq!(expires(phase, Some(0), 1_000), (true, None));
            assert_eq!(expires(phase, None, 1_000_000), (false, None));
        }
        assert!(!expires(FlowPhase::Running, Some(0), 1_000_000).0);
    }

    #[test]
    fn an_end_that_is_not_written_yet_deletes_nothing() {
        let graph = FlowGraph::from_names(vec![]).unwrap();
        let policy = Policy {
            ttl: Some(Span::ZERO),
            ..Policy::default()
        };
        let mut snapshot = Snapshot::unborn(0);
        let ends = plan(&graph, &policy, &snapshot, &FactCache::default(), Time(1));
        assert_eq!(
            (ends.next.phase, &ends.effects[..]),
            (FlowPhase::Succeed, &[][..])
        );
        snapshot.record = ends.next;
        let after = plan(&graph, &policy, &snapshot, &FactCache::default(), Time(1));
        assert_eq!(after.effects, [Effect::DeleteFlow]);
    }

    #[test]
    fn a_job_goes_when_its_time_after_the_recorded_end_is_up() {
        let running = snapshot(NodePhase::Running);
        let policy = Policy::default();
        assert_eq!(deleted(&running, &policy, 14_999), (vec![], Some(Time(15_000))));
        assert_eq!(deleted(&running, &policy, 15_000), (vec![1], None));
        let ended = snapshot(NodePhase::Succeeded);
        assert_eq!(deleted(&ended, &policy, 29_999), (vec![1], Some(Time(30_000))));
        assert_eq!(deleted(&ended, &policy, 30_000), (vec![1, 2], None));
    }

    #[test]
    fn an_end_that_is_not_recorded_yet_starts_no_time() {
        let mut running = snapshot(NodePhase::Running);
        let Some(Sighting::Seen(view)) = running.jobs.get_mut(&key(2)) else {
            panic!("the job is there");
        };
        view.phase = JobPhase::Completed;
        view.changed = Some(Time(0));
        assert_eq!(deleted(&running, &Policy::default(), 1_000_000).0, [1]);
    }

    #[test]
    fn a_delete_on_its_way_or_done_is_not_asked_for_again() {
        let mut ended = snapshot(NodePhase::Succeeded);
        ended.in_flight.insert((key(1), EffectKind::Delete));
        let Some(Sighting::Seen(view)) = ended.jobs.get_mut(&key(2)) else {
            panic!("the job is there");
        };
        view.deleting = true;
        assert_eq!(deleted(&ended, &Policy::default(), 1_000_000), (vec![], None));
    }

    #[test]
    fn a_flow_that_keeps_no_jobs_deletes_them_at_its_end() {
        let policy = Policy {
            retain_on_success: Retain::Delete,
            ..Policy::default()
        };
        assert_eq!(
            deleted(&snapshot(NodePhase::Running), &policy, 0).0,
            Vec::<u32>::new()
        );
        assert_eq!(deleted(&snapshot(NodePhase::Succeeded), &policy, 0).0, [1, 2]);
    }
}
