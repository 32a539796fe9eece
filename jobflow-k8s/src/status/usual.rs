//! What a record says by leaving it out: the one place that both directions look at.

use jobflow_core::record::NodeRecord;
use jobflow_core::{NodePhase, Reason};

/// The attempt that is left out.
pub(super) const fn attempt(phase: NodePhase) -> u32 {
    match phase {
        NodePhase::Waiting | NodePhase::Blocked | NodePhase::Skipped => 0,
        NodePhase::Submitting
        | NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::BackingOff
        | NodePhase::Paused
        | NodePhase::Succeeded
        | NodePhase::Failed
        | NodePhase::Cancelled => 1,
    }
}

/// How many pods a Job needs to run, of a node that has one.
pub(super) const MIN_AVAILABLE: u32 = 1;

/// Whether the gang of an ended node's last attempt ran: a stopped job mostly did, one that failed if there is an exit
/// code.
pub(super) fn ran(record: &NodeRecord) -> bool {
    match record.phase() {
        _ if record.attempt == 0 || record.jobless => false,
        NodePhase::Cancelled | NodePhase::Skipped => true,
        NodePhase::Failed => {
            let stopped = matches!(
                record.reason,
                Some(Reason::Timeout | Reason::JobTerminated | Reason::JobAborted | Reason::JobDeleted)
            );
            stopped || record.exit_code.is_some()
        }
        NodePhase::Succeeded
        | NodePhase::Waiting
        | NodePhase::Blocked
        | NodePhase::Submitting
        | NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::BackingOff
        | NodePhase::Paused => false,
    }
}

/// Whether a pod of an ended node ever ran, of which it is known whether its gang did.
pub(super) fn started(record: &NodeRecord) -> bool {
    record.ran_since.is_some()
}
