//! A job that has failed is judged once its pods were read: they may be seen later than the job itself.

#![expect(
    clippy::unwrap_used,
    reason = "tests say so when something is not as it must be"
)]

use jobflow_core::gang::JobPhase;
use jobflow_core::graph::{Entry, Timeout, TimeoutScope};
use jobflow_core::node::NodeState;
use jobflow_core::plan::{Effect, Urgency};
use jobflow_core::record::{Clock, Stop, StopCause};
use jobflow_core::retry::RetryOn;
use jobflow_core::snapshot::{CancelMode, EffectKind, JobView, Ledger, Sighting};
use jobflow_core::{
    FactCache, FlowGraph, FlowPhase, JobKey, NodeId, NodePhase, Plan, Policy, Snapshot, Span, Time, Uid, plan,
};

const KEY: JobKey = JobKey {
    node: NodeId(0),
    index: 0,
    attempt: 1,
};

/// What comes of the only node of a flow, which is tried again after exit code 3, when its job shows itself like this.
fn planned(phase: JobPhase, change: impl FnOnce(&mut Snapshot, &mut JobView)) -> Plan {
    let mut entry = Entry::job("a");
    entry.retry.limit = 1;
    entry.retry.on = vec![RetryOn {
        exit_codes: vec![3],
        ..RetryOn::default()
    }];
    entry.timeout = Some(Timeout {
        span: Span::from_secs(60),
        scope: TimeoutScope::Attempt,
    });
    let graph = FlowGraph::from_names(vec![entry]).unwrap();
    let mut snapshot = Snapshot::unborn(1);
    snapshot.ledger = Ledger::Kept;
    snapshot.record.phase = FlowPhase::Running;
    let record = snapshot.record.nodes.change(KEY.node);
    record.state = NodeState::recorded(NodePhase::Running);
    record.attempt = KEY.attempt;
    record.uid = Some(Uid::from("1"));
    record.attempt_clock = Some(Clock::started(Time(0)));
    let mut view = JobView::new(Uid::from("1"), phase, Time(0));
    view.pods_unread = true;
    change(&mut snapshot, &mut view);
    snapshot.jobs.insert(KEY, Sighting::Seen(view));
    plan(
        &graph,
        &Policy::default(),
        &snapshot,
        &FactCache::default(),
        Time(100_000),
    )
}

fn phase(plan: &Plan) -> NodePhase {
    plan.next.nodes[KEY.node].phase()
}

fn asks(plan: &Plan) -> bool {
    plan.effects.contains(&Effect::LookAtPods { key: KEY })
}

#[test]
fn a_failure_is_judged_by_what_its_pods_tell_and_not_before() {
    for failed in [JobPhase::Failed, JobPhase::Terminated] {
        let unread = planned(failed, |_, _| {});
        assert_eq!(
            (asks(&unread), phase(&unread)),
            (true, NodePhase::Running),
            "{failed:?}"
        );
        assert_ne!(unread.urgency, Urgency::Now, "nothing was decided");
        let read = planned(failed, |_, view| {
            view.pods_unread = false;
            view.exit_code = Some(3);
        });
        assert_eq!(
            (asks(&read), phase(&read)),
            (false, NodePhase::BackingOff),
            "{failed:?}"
        );
        let nothing = planned(failed, |_, view| view.pods_unread = false);
        assert_eq!(
            (asks(&nothing), phase(&nothing)),
            (false, NodePhase::Failed),
            "{failed:?}"
        );
    }
}

#[test]
fn a_job_that_aborts_itself_is_judged_so_too() {
    let unread = planned(JobPhase::Aborted, |_, view| view.aborts_itself = true);
    assert_eq!((asks(&unread), phase(&unread)), (true, NodePhase::Running));
}

#[test]
fn pods_are_read_once_at_a_time() {
    let plan = planned(JobPhase::Failed, |snapshot, _| {
        snapshot.in_flight.insert((KEY, EffectKind::LookAtPods));
    });
    assert_eq!((asks(&plan), phase(&plan)), (false, NodePhase::Running));
}

#[test]
fn what_ended_otherwise_needs_no_look_at_pods() {
    let completed = planned(JobPhase::Completed, |_, _| {});
    assert_eq!(
        (asks(&completed), phase(&completed)),
        (false, NodePhase::Succeeded)
    );
    let cancelled = planned(JobPhase::Terminated, |snapshot, _| {
        snapshot.record.nodes.change(KEY.node).stop = Some(Stop {
            cause: StopCause::Cancel,
            since: Time(50_000),
        });
    });
    assert_eq!(
        (asks(&cancelled), phase(&cancelled)),
        (false, NodePhase::Cancelled)
    );
}

#[test]
fn a_stop_comes_too_late_for_a_job_that_has_failed_by_itself() {
    let timed_out = planned(JobPhase::Failed, |_, _| {});
    assert_eq!(timed_out.next.nodes[KEY.node].stop, None, "its time is up");
    let cancelled = planned(JobPhase::Failed, |snapshot, _| {
        snapshot.wishes.cancel = Some(CancelMode::Now);
    });
    assert_eq!(cancelled.next.nodes[KEY.node].stop, None);
    assert!(asks(&cancelled));
    let runs = planned(JobPhase::Running, |_, _| {});
    assert_eq!(
        runs.next.nodes[KEY.node].stop.map(|stop| stop.cause),
        Some(StopCause::AttemptTimeout),
        "one that runs is stopped"
    );
}
