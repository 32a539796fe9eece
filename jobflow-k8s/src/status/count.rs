//! Nodes by phase, and how far the flow is.

use jobflow_core::NodePhase;
use jobflow_core::record::FlowRecord;

use crate::types::Summary;

/// How many nodes are in each phase; phases without a node are left out.
pub(super) fn summary(record: &FlowRecord) -> Summary {
    let mut summary = Summary {
        total: i64::try_from(record.joined().count()).ok(),
        ..Summary::default()
    };
    for (_, record) in record.joined() {
        *of(&mut summary, record.phase()).get_or_insert(0) += 1;
    }
    summary
}

fn of(summary: &mut Summary, phase: NodePhase) -> &mut Option<i64> {
    match phase {
        NodePhase::Waiting => &mut summary.waiting,
        NodePhase::Blocked => &mut summary.blocked,
        NodePhase::Submitting => &mut summary.submitting,
        NodePhase::Queued => &mut summary.queued,
        NodePhase::Running => &mut summary.running,
        NodePhase::Stopping => &mut summary.stopping,
        NodePhase::BackingOff => &mut summary.backing_off,
        NodePhase::Paused => &mut summary.paused,
        NodePhase::Succeeded => &mut summary.succeeded,
        NodePhase::Failed => &mut summary.failed,
        NodePhase::Skipped => &mut summary.skipped,
        NodePhase::Cancelled => &mut summary.cancelled,
    }
}

/// Ended and all nodes, as `done/total`.
pub(super) fn progress(record: &FlowRecord) -> String {
    let done = record.joined().filter(|(_, record)| record.phase().is_end());
    format!("{}/{}", done.count(), record.joined().count())
}
