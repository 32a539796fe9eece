//! One job that was seen, folded into the attempt that it belongs to.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::planning::{AttemptEnd, AttemptOutcome, Planning};
use super::settle::note_end;
use crate::facts::{Answer, FactKey};
use crate::gang::JobPhase;
use crate::graph::TimeoutScope;
use crate::key::{JobKey, NodeId};
use crate::node::NodeEvent;
use crate::reason::Reason;
use crate::record::{Clock, Stop, StopCause};
use crate::report::Why;
use crate::snapshot::JobView;
use crate::time::{Span, Time};

/// How long a job may wait before its queue is looked at.
const QUEUE_PATIENCE: Span = Span::from_secs(10);

pub(super) fn fold(planning: &mut Planning<'_>, node: NodeId, view: &JobView) {
    remember(planning, node, view);
    let key = planning.key(node);
    let at = view.changed.unwrap_or(planning.now);
    let stop = planning.record(node).stop;
    match view.phase {
        JobPhase::Completed => end_seen(planning, key, AttemptOutcome::Succeeded, view, at),
        JobPhase::Failed | JobPhase::Terminated if pods_hold(planning, stop, view) => {
            planning.on(node, NodeEvent::Stop, None, at);
            planning.say(node, Why::PodsLeft);
        }
        JobPhase::Failed => end_by(planning, key, stop, Reason::JobFailed, view, at),
        JobPhase::Terminated => end_by(planning, key, stop, Reason::JobTerminated, view, at),
        JobPhase::Aborted if stop.is_some() => step(planning, node, NodeEvent::Stop, None, at),
        JobPhase::Aborted if view.aborts_itself => {
            end_by(planning, key, None, Reason::JobAborted, view, at);
        }
        JobPhase::Aborted => step(
            planning,
            node,
            NodeEvent::Pause,
            Some(Reason::AbortedFromOutside),
            at,
        ),
        JobPhase::Terminating | JobPhase::Aborting => step(planning, node, NodeEvent::Stop, None, at),
        JobPhase::Empty
        | JobPhase::Pending
        | JobPhase::Running
        | JobPhase::Restarting
        | JobPhase::Completing
            if view.deleting =>
        {
            step(planning, node, NodeEvent::Stop, None, at);
        }
        JobPhase::Empty | JobPhase::Pending => queued(planning, node, view, at),
        JobPhase::Running | JobPhase::Restarting | JobPhase::Completing => {
            step(planning, node, NodeEvent::Run, None, at);
        }
    }
}

fn step(planning: &mut Planning<'_>, node: NodeId, event: NodeEvent, reason: Option<Reason>, at: Time) {
    planning.on(node, event, reason, at);
    planning.say(node, Why::Job);
}

/// A job whose queue is missing or closed waits in vain, and says nothing of it.
fn queued(planning: &mut Planning<'_>, node: NodeId, view: &JobView, at: Time) {
    if !waits_in_vain(planning, view) {
        return step(planning, node, NodeEvent::Queue, None, at);
    }
    planning.on(node, NodeEvent::Queue, Some(Reason::QueueUnavailable), at);
    planning.say(node, Why::HeldBack(Reason::QueueUnavailable));
}

/// Whether its queue doesn't take jobs; nobody asks before it has waited for a while.
fn waits_in_vain(planning: &mut Planning<'_>, view: &JobView) -> bool {
    let Some(queue) = &view.queue else { return false };
    let due = view.created + QUEUE_PATIENCE;
    if due > planning.now {
        planning.wake(due);
        return false;
    }
    let question = FactKey::Queue(Arc::clone(queue));
    let Some(fact) = planning.facts.find(&question) else {
        planning.wanted.push(question);
        return false;
    };
    fact.answer == Answer::Queue(false)
}

fn pods_hold(planning: &Planning<'_>, stop: Option<Stop>, view: &JobView) -> bool {
    stop.is_some() && planning.policy.wait_for_pods_gone && view.pods_left
}

/// Keeps what the job's own status may forget, or later plans need.
fn remember(planning: &mut Planning<'_>, node: NodeId, view: &JobView) {
    let total = view.total();
    let record = planning.record(node);
    let gang_runs = matches!(view.phase, JobPhase::Running | JobPhase::Completing)
        && total.running.saturating_add(total.succeeded) >= view.min_available;
    let ran = view.ran || gang_runs;
    let started = gang_runs || total.any_ran() || view.started;
    let news = record.uid.is_none()
        || (!view.tasks.is_empty() && record.tasks.as_ref() != Some(&view.tasks))
        || (started && record.started_since.is_none())
        || (ran && record.ran_since.is_none())
        || record.min_available != view.min_available
        || record.attempt_clock.is_none() && times_attempts(planning, node);
    if !news {
        return;
    }
    let timed = times_attempts(planning, node);
    let now = planning.now;
    let record = planning.change(node);
    record.uid.get_or_insert_with(|| view.uid.clone());
    record.min_available = view.min_available;
    if !view.tasks.is_empty() {
        record.tasks = Some(Arc::clone(&view.tasks));
    }
    if started {
        record.started_since.get_or_insert(now);
    }
    if ran {
        record.ran_since.get_or_insert(now);
    }
    if timed {
        record
            .attempt_clock
            .get_or_insert_with(|| Clock::started(view.created));
    }
}

fn times_attempts(planning: &Planning<'_>, node: NodeId) -> bool {
    planning
        .entry(node)
        .timeout
        .is_some_and(|timeout| timeout.scope == TimeoutScope::Attempt)
}

fn end_by(
    planning: &mut Planning<'_>,
    key: JobKey,
    stop: Option<Stop>,
    reason: Reason,
    view: &JobView,
    at: Time,
) {
    let outcome = stop.map_or(AttemptOutcome::Failed(reason), |stop| stopped(stop.cause));
    if view.pods_unread && has_failed(outcome) {
        return planning.look_at_pods(key);
    }
    end_seen(planning, key, outcome, view, at);
}

/// Whether the exit code of the attempt is judged, or told.
const fn has_failed(outcome: AttemptOutcome) -> bool {
    match outcome {
        AttemptOutcome::Failed(_) | AttemptOutcome::FailedForGood(_) => true,
        AttemptOutcome::Succeeded
        | AttemptOutcome::Cancelled(_)
        | AttemptOutcome::Skipped(_)
        | AttemptOutcome::Suspended => false,
    }
}

fn end_seen(planning: &mut Planning<'_>, key: JobKey, outcome: AttemptOutcome, view: &JobView, at: Time) {
    if outcome != AttemptOutcome::Succeeded {
        let record = planning.change(key.node);
        record.exit_code = view.exit_code;
        record.message = view.message.clone();
    }
    let end = AttemptEnd {
        outcome,
        at,
        infrastructure: view.infrastructure,
        pod_reasons: view.pod_reasons.clone(),
        job_phase: Some(view.phase),
    };
    note_end(planning, key, end);
}

/// Ends an attempt whose job is not there to be looked at.
pub(super) fn end(planning: &mut Planning<'_>, key: JobKey, outcome: AttemptOutcome, at: Time) {
    let end = AttemptEnd {
        outcome,
        at,
        infrastructure: false,
        pod_reasons: Vec::new(),
        job_phase: None,
    };
    note_end(planning, key, end);
}

/// Ends an attempt that was stopped, in the way that the stop decides.
pub(super) fn end_stopped(planning: &mut Planning<'_>, key: JobKey, stop: Stop, at: Time) {
    end(planning, key, stopped(stop.cause), at);
}

/// What a stop makes of an attempt that didn't complete first.
const fn stopped(cause: StopCause) -> AttemptOutcome {
    match cause {
        StopCause::Cancel => AttemptOutcome::Cancelled(Reason::FlowCancelled),
        StopCause::Deadline => AttemptOutcome::Cancelled(Reason::DeadlineExceeded),
        StopCause::CancelAll => AttemptOutcome::Cancelled(Reason::CancelAll),
        StopCause::AttemptTimeout => AttemptOutcome::Failed(Reason::Timeout),
        StopCause::NodeTimeout => AttemptOutcome::FailedForGood(Reason::Timeout),
        StopCause::SkipRequest => AttemptOutcome::Skipped(Reason::SkippedByRequest),
        StopCause::SuspendRunning => AttemptOutcome::Suspended,
    }
}
