//! Whether a server keeps what is written. A definition of JobFlow that lacks our fields (Volcano's own, or an older
//! one of ours) answers 200 and drops them.

use crate::types::JobFlowStatus;

/// Whether an answer carries the records that were sent, unchanged.
///
/// Only then is an intent in force. What Volcano's definition knows too, and what is only displayed, may differ.
#[must_use]
pub fn carries(sent: &JobFlowStatus, answered: &JobFlowStatus) -> bool {
    let JobFlowStatus {
        pending_jobs: _,
        running_jobs: _,
        failed_jobs: _,
        completed_jobs: _,
        terminated_jobs: _,
        unknown_jobs: _,
        job_status_list: _,
        conditions: _,
        state,
        observed_generation,
        progress: _,
        start_time,
        completion_time,
        summary: _,
        flow_conditions: _,
        requests,
        nodes,
        stop,
        clocks,
        arguments_digest,
        cause,
        finally_since,
        ledger_lost,
    } = sent;
    *nodes == answered.nodes
        && *state == answered.state
        && *observed_generation == answered.observed_generation
        && *start_time == answered.start_time
        && *completion_time == answered.completion_time
        && *requests == answered.requests
        && *stop == answered.stop
        && *clocks == answered.clocks
        && *arguments_digest == answered.arguments_digest
        && *cause == answered.cause
        && *finally_since == answered.finally_since
        && *ledger_lost == answered.ledger_lost
}
