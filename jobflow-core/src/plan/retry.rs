//! Turns an attempt that ended into the wait for the next one, or into the end of its node.

use super::planning::{AttemptEnd, AttemptOutcome, Planning};
use crate::gang::JobPhase;
use crate::graph::Entry;
use crate::key::{JobKey, NodeId};
use crate::node::NodeEvent;
use crate::reason::Reason;
use crate::record::{AttemptRecord, NodeRecord, Retries};
use crate::retry::RetryOn;

pub(super) fn retry(planning: &mut Planning<'_>) {
    for (key, end) in core::mem::take(&mut planning.ended) {
        judge_end(planning, key, &end);
    }
}

fn judge_end(planning: &mut Planning<'_>, key: JobKey, end: &AttemptEnd) {
    let node = key.node;
    match end.outcome {
        AttemptOutcome::Succeeded => {
            let record = planning.change(node);
            record.exit_code = None;
            record.message = None;
            planning.on(node, NodeEvent::Succeed, None, end.at);
        }
        AttemptOutcome::Cancelled(reason) => planning.on(node, NodeEvent::Cancel, Some(reason), end.at),
        AttemptOutcome::Skipped(reason) => planning.on(node, NodeEvent::Skip, Some(reason), end.at),
        AttemptOutcome::FailedForGood(reason) => planning.on(node, NodeEvent::Fail, Some(reason), end.at),
        AttemptOutcome::Suspended => suspended(planning, node, end),
        AttemptOutcome::Failed(reason) => match charged(planning, node, reason, end) {
            Some(retries) => back_off(planning, key, reason, retries, end),
            None => planning.on(node, NodeEvent::Fail, Some(reason), end.at),
        },
    }
}

/// Its job was stopped by a suspension: the next attempt is free.
fn suspended(planning: &mut Planning<'_>, node: NodeId, end: &AttemptEnd) {
    planning.on(node, NodeEvent::Pause, Some(Reason::Suspended), end.at);
    let record = planning.change(node);
    forget_attempt(record);
    planning.must_write();
}

/// The counters after this failure, if there is another attempt left for it.
fn charged(planning: &Planning<'_>, node: NodeId, reason: Reason, end: &AttemptEnd) -> Option<Retries> {
    let entry = planning.entry(node);
    let retries = planning.record(node).retries;
    let granted = entry
        .retry
        .infrastructure_limit
        .saturating_add(planning.policy.granted_losses);
    if end.infrastructure && retries.infrastructure < granted {
        return Some(Retries {
            infrastructure: retries.infrastructure + 1,
            ..retries
        });
    }
    let left = retries.program < entry.retry.limit && is_retried(entry, planning.record(node), reason, end);
    left.then_some(Retries {
        program: retries.program.saturating_add(1),
        ..retries
    })
}

fn is_retried(entry: &Entry, record: &NodeRecord, reason: Reason, end: &AttemptEnd) -> bool {
    if entry.retry.on.is_empty() {
        return matches!(
            reason,
            Reason::JobFailed | Reason::JobTerminated | Reason::Timeout
        );
    }
    entry.retry.on.iter().any(|on| matches(on, record, reason, end))
}

fn matches(on: &RetryOn, record: &NodeRecord, reason: Reason, end: &AttemptEnd) -> bool {
    let says = |wanted: &str| {
        wanted == reason.as_str() || end.pod_reasons.iter().any(|pod_reason| &**pod_reason == wanted)
    };
    let never_by_default = !matches!(
        reason,
        Reason::JobFailed | Reason::JobTerminated | Reason::Timeout
    );
    let by_reason = on.reasons.iter().any(|wanted| says(wanted));
    let by_code = record.exit_code.is_some_and(|code| on.exit_codes.contains(&code));
    let by_phase = end
        .job_phase
        .is_some_and(|phase: JobPhase| on.phases.contains(&phase));
    (on.exit_codes.is_empty() || by_code)
        && (on.reasons.is_empty() || by_reason)
        && (on.phases.is_empty() || by_phase)
        && !(never_by_default && on.reasons.is_empty())
}

fn back_off(planning: &mut Planning<'_>, key: JobKey, reason: Reason, retries: Retries, end: &AttemptEnd) {
    let failures = retries.program.saturating_add(retries.infrastructure);
    let wait = planning
        .entry(key.node)
        .retry
        .backoff
        .wait(failures, planning.policy.seed, key);
    planning.on(key.node, NodeEvent::BackOff, Some(reason), end.at);
    let record = planning.change(key.node);
    record.retries = retries;
    record.next_retry = Some(end.at + wait);
    let attempt = AttemptRecord {
        attempt: key.attempt,
        reason,
        finish_time: end.at,
        exit_code: record.exit_code,
    };
    record.attempts.push(attempt);
    let surplus = record.attempts.len().saturating_sub(NodeRecord::ATTEMPTS);
    record.attempts.drain(..surplus);
    forget_attempt(record);
}

/// What held of an attempt that isn't the last is void.
fn forget_attempt(record: &mut NodeRecord) {
    record.uid = None;
    record.stop = None;
    record.ran_since = None;
    record.tasks = None;
    record.attempt_clock = None;
}
