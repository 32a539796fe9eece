//! Phases as the status writes them, and as the rest of the program knows them.

use jobflow_core::{FlowPhase, NodePhase};
use jobflow_k8s::types;

/// The phase of a flow.
pub(crate) const fn flow_phase(phase: types::FlowPhase) -> FlowPhase {
    match phase {
        types::FlowPhase::Pending => FlowPhase::Pending,
        types::FlowPhase::Running => FlowPhase::Running,
        types::FlowPhase::Succeed => FlowPhase::Succeed,
        types::FlowPhase::Failed => FlowPhase::Failed,
        types::FlowPhase::Terminating => FlowPhase::Terminating,
    }
}

/// The phase of a node.
pub(crate) const fn node_phase(phase: types::NodePhase) -> NodePhase {
    match phase {
        types::NodePhase::Waiting => NodePhase::Waiting,
        types::NodePhase::Blocked => NodePhase::Blocked,
        types::NodePhase::Submitting => NodePhase::Submitting,
        types::NodePhase::Queued => NodePhase::Queued,
        types::NodePhase::Running => NodePhase::Running,
        types::NodePhase::Stopping => NodePhase::Stopping,
        types::NodePhase::BackingOff => NodePhase::BackingOff,
        types::NodePhase::Paused => NodePhase::Paused,
        types::NodePhase::Succeeded => NodePhase::Succeeded,
        types::NodePhase::Failed => NodePhase::Failed,
        types::NodePhase::Skipped => NodePhase::Skipped,
        types::NodePhase::Cancelled => NodePhase::Cancelled,
    }
}
