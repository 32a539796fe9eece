//! What stops a flow or a part of it: cancel, deadlines, time-outs, a suspension, the failure policy. A stop is
//! recorded here; what it asks of jobs is in `stops`.

use super::planning::Planning;
use crate::graph::TimeoutScope;
use crate::key::NodeId;
use crate::node::NodeEvent;
use crate::phase::NodePhase;
use crate::policy::FailurePolicy;
use crate::reason::Reason;
use crate::record::{Clock, FlowStop, FlowStopCause, NodeRecord, Stop, StopCause};
use crate::snapshot::CancelMode;

pub(super) fn halt(planning: &mut Planning<'_>) {
    if planning.next.has_ended() {
        return;
    }
    run_clocks(planning);
    stop_flow(planning);
    spread(planning);
    finally_deadline(planning);
    for index in 0..planning.active.len() {
        let node = planning.active[index];
        time_out(planning, node);
        suspend(planning, node);
    }
    fail_over(planning);
    hold_deadline(planning);
}

/// The flow's clock runs from the first plan that isn't suspended, and stands still while nothing may or does run.
fn run_clocks(planning: &mut Planning<'_>) {
    let suspended = planning.snapshot.wishes.holds_back();
    if planning.next.start_time.is_none() && !suspended {
        planning.next.start_time = Some(planning.now);
        planning.soon();
    }
    hold_deadline(planning);
}

/// Nothing runs while a suspension has stopped all jobs, or what was alive has been ended by this very plan.
fn hold_deadline(planning: &mut Planning<'_>) {
    let now = planning.now;
    let suspended = planning.snapshot.wishes.holds_back();
    let (Some(_), Some(start)) = (planning.policy.deadline, planning.next.start_time) else {
        return;
    };
    let alive = planning.active.iter().any(|node| has_job(planning, *node));
    let clock = planning
        .next
        .deadline
        .get_or_insert_with(|| Clock::started(start));
    if clock.hold(suspended && !alive, now) {
        planning.soon();
    }
}

/// Whether a job of the node is alive, or may be; it takes a place then.
pub(super) fn has_job(planning: &Planning<'_>, node: NodeId) -> bool {
    takes_a_place(planning.record(node))
}

/// The same of a record.
pub(crate) fn takes_a_place(record: &NodeRecord) -> bool {
    record.phase().is_live() && !(record.phase() == NodePhase::Paused && record.uid.is_none())
}

fn stop_flow(planning: &mut Planning<'_>) {
    let cancel = planning.snapshot.wishes.cancel.map(|mode| match mode {
        CancelMode::Graceful => FlowStopCause::CancelGraceful,
        CancelMode::Now => FlowStopCause::CancelNow,
    });
    let Some(cause) = cancel.or_else(|| deadline_passed(planning).then_some(FlowStopCause::Deadline)) else {
        return;
    };
    let ends_something =
        planning.open.main > 0 || (cause == FlowStopCause::CancelNow && planning.open.finally > 0);
    if ends_something && outranks(cause, planning.next.stop) {
        planning.next.stop = Some(FlowStop {
            cause,
            since: planning.now,
        });
        planning.must_write();
    }
}

fn deadline_passed(planning: &mut Planning<'_>) -> bool {
    let (Some(clock), Some(span)) = (planning.next.deadline, planning.policy.deadline) else {
        return false;
    };
    if clock.elapsed(planning.now) >= span {
        return true;
    }
    if let Some(at) = clock.reaches(span).filter(|_| planning.open.main > 0) {
        planning.wake(at);
    }
    false
}

/// The first stop stays, unless a later one ends more.
fn outranks(cause: FlowStopCause, recorded: Option<FlowStop>) -> bool {
    let rank = |cause| match cause {
        FlowStopCause::CancelAll => 0,
        FlowStopCause::CancelGraceful | FlowStopCause::Deadline => 1,
        FlowStopCause::CancelNow => 2,
    };
    recorded.is_none_or(|recorded| rank(cause) > rank(recorded.cause))
}

/// Takes the flow's stop to its nodes: what has no job ends at once, what has one is stopped.
fn spread(planning: &mut Planning<'_>) {
    let Some(stop) = planning.next.stop else { return };
    let (cause, reason) = match stop.cause {
        FlowStopCause::CancelAll => return,
        FlowStopCause::CancelGraceful | FlowStopCause::CancelNow => {
            (StopCause::Cancel, Reason::FlowCancelled)
        }
        FlowStopCause::Deadline => (StopCause::Deadline, Reason::DeadlineExceeded),
    };
    for position in 0..planning.graph.len() {
        let node = crate::graph::node_id(position);
        if !planning.entry(node).finally || stop.cause == FlowStopCause::CancelNow {
            end_or_stop(planning, node, cause, reason);
        }
    }
}

fn finally_deadline(planning: &mut Planning<'_>) {
    let Some(since) = planning.next.finally_since.filter(|_| planning.open.finally > 0) else {
        return;
    };
    let due = since + planning.policy.finally_deadline;
    if due > planning.now {
        return planning.wake(due);
    }
    for position in 0..planning.graph.len() {
        let node = crate::graph::node_id(position);
        if planning.entry(node).finally {
            end_or_stop(planning, node, StopCause::Deadline, Reason::DeadlineExceeded);
        }
    }
}

fn end_or_stop(planning: &mut Planning<'_>, node: NodeId, cause: StopCause, reason: Reason) {
    let phase = planning.phase(node);
    if phase.is_end() {
        return;
    }
    if has_no_job(planning, node) {
        withdraw(planning, node);
        planning.on(node, NodeEvent::Cancel, Some(reason), planning.now);
    } else {
        record_stop(planning, node, cause);
    }
}

/// Whether nothing of the node is alive, and nothing was sent that could become alive.
fn has_no_job(planning: &Planning<'_>, node: NodeId) -> bool {
    let record = planning.record(node);
    match record.phase() {
        NodePhase::Waiting | NodePhase::Blocked | NodePhase::BackingOff => true,
        NodePhase::Paused => record.uid.is_none(),
        NodePhase::Submitting => planning.snapshot.fresh.contains(&planning.key(node)),
        NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::Succeeded
        | NodePhase::Failed
        | NodePhase::Skipped
        | NodePhase::Cancelled => false,
    }
}

/// Takes back an intent whose job doesn't exist.
fn withdraw(planning: &mut Planning<'_>, node: NodeId) {
    planning.creates.retain(|key| key.node != node);
    if planning.phase(node) == NodePhase::Submitting {
        planning.change(node).jobless = true;
    }
}

/// Records a stop; the first one stays, but for a suspension's. It comes too late for a job that has failed by itself.
fn record_stop(planning: &mut Planning<'_>, node: NodeId, cause: StopCause) {
    if planning.unread.contains(&node) {
        return;
    }
    let recorded = planning.record(node).stop;
    let replaces = recorded
        .is_none_or(|stop| stop.cause == StopCause::SuspendRunning && cause != StopCause::SuspendRunning);
    if replaces {
        let since = planning.now;
        planning.change(node).stop = Some(Stop { cause, since });
        planning.must_write();
    }
}

fn time_out(planning: &mut Planning<'_>, node: NodeId) {
    let Some(timeout) = planning.entry(node).timeout else {
        return;
    };
    let phase = planning.phase(node);
    if phase.is_end() || phase.is_undecided() {
        return;
    }
    let still = hold_clock(planning, node, timeout.scope);
    let record = planning.record(node);
    let clock = match timeout.scope {
        TimeoutScope::Attempt => record.attempt_clock,
        TimeoutScope::Node => record.node_clock,
    };
    let Some(clock) = clock.filter(|_| !still) else {
        return;
    };
    if clock.elapsed(planning.now) < timeout.span {
        if let Some(at) = clock.reaches(timeout.span) {
            planning.wake(at);
        }
        return;
    }
    match timeout.scope {
        TimeoutScope::Attempt => record_stop(planning, node, StopCause::AttemptTimeout),
        TimeoutScope::Node if has_no_job(planning, node) => {
            withdraw(planning, node);
            planning.on(node, NodeEvent::Fail, Some(Reason::Timeout), planning.now);
        }
        TimeoutScope::Node => record_stop(planning, node, StopCause::NodeTimeout),
    }
}

/// Lets the clock of a paused node stand still; true while it does.
fn hold_clock(planning: &mut Planning<'_>, node: NodeId, scope: TimeoutScope) -> bool {
    let now = planning.now;
    let phase = planning.phase(node);
    let suspended = planning.snapshot.wishes.holds_back() && !phase.is_live();
    let hold = phase == NodePhase::Paused || (scope == TimeoutScope::Node && suspended);
    let record = planning.record(node);
    let clock = match scope {
        TimeoutScope::Attempt => record.attempt_clock,
        TimeoutScope::Node => record.node_clock,
    };
    let Some(mut clock) = clock else { return hold };
    if clock.hold(hold, now) {
        let record = planning.change(node);
        match scope {
            TimeoutScope::Attempt => record.attempt_clock = Some(clock),
            TimeoutScope::Node => record.node_clock = Some(clock),
        }
    }
    hold
}

fn suspend(planning: &mut Planning<'_>, node: NodeId) {
    let wishes = &planning.snapshot.wishes;
    if !wishes.holds_back() || !wishes.suspend_running {
        return;
    }
    let phase = planning.phase(node);
    if matches!(
        phase,
        NodePhase::Submitting | NodePhase::Queued | NodePhase::Running | NodePhase::Stopping
    ) {
        record_stop(planning, node, StopCause::SuspendRunning);
    }
}

/// Applies the failure policy to nodes that have been started. Those that have not are for `resolve`. While the spec
/// can't be read nobody knows which entries are handlers.
pub(super) fn fail_over(planning: &mut Planning<'_>) {
    if planning.snapshot.wishes.frozen {
        return;
    }
    if planning.failing.is_none() || planning.policy.failure_policy == FailurePolicy::Continue {
        return;
    }
    for index in 0..planning.active.len() {
        let node = planning.active[index];
        if planning.is_halted_by_failure(node) {
            give_up(planning, node);
        }
    }
}

fn give_up(planning: &mut Planning<'_>, node: NodeId) {
    let record = planning.record(node);
    let (reason, unsent) = (record.reason, record.uid.is_none() && record.stop.is_none());
    match record.phase() {
        NodePhase::BackingOff => planning.on(node, NodeEvent::Fail, reason, planning.now),
        NodePhase::Submitting if unsent && planning.absent.contains(&node) => skip_failing(planning, node),
        NodePhase::Submitting if unsent => {
            let key = planning.key(node);
            planning.look(key);
            cancel_all(planning, node);
        }
        NodePhase::Paused if unsent => skip_failing(planning, node),
        NodePhase::Submitting
        | NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::Paused => cancel_all(planning, node),
        NodePhase::Waiting
        | NodePhase::Blocked
        | NodePhase::Succeeded
        | NodePhase::Failed
        | NodePhase::Skipped
        | NodePhase::Cancelled => {}
    }
}

/// Ends a node as one that the failing flow doesn't start any more.
pub(super) fn skip_failing(planning: &mut Planning<'_>, node: NodeId) {
    withdraw(planning, node);
    let cause = planning.failing;
    planning.on(node, NodeEvent::Skip, Some(Reason::FlowFailing), planning.now);
    planning.change(node).cause = cause;
}

fn cancel_all(planning: &mut Planning<'_>, node: NodeId) {
    if planning.policy.failure_policy != FailurePolicy::CancelAll {
        return;
    }
    let since = planning.now;
    if planning.next.stop.is_none() {
        planning.next.stop = Some(FlowStop {
            cause: FlowStopCause::CancelAll,
            since,
        });
    }
    record_stop(planning, node, StopCause::CancelAll);
}
