//! The labels, each of a bounded set.

use jobflow_core::{FlowPhase, NodePhase, Reason};
use jobflow_k8s::client::Call;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct FlowLabels {
    phase: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct NodeLabels {
    from: &'static str,
    to: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct EndLabels {
    phase: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct CallLabels {
    verb: &'static str,
    resource: &'static str,
    code: Code,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Timed {
    pub(super) verb: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct WatchLabels {
    pub(super) resource: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct FindingLabels {
    pub(super) finding: &'static str,
    pub(super) scope: Scope,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct EventLabels {
    pub(super) result: EventResult,
}

/// What became of an Event, or of a transition that was to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EventResult {
    /// The server has it.
    Sent,
    /// The server refused it, or didn't answer.
    Failed,
    /// Transitions for which there was no room.
    Dropped,
}

/// Whom a finding concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// All flows.
    Cluster,
    /// Single flows, which are counted.
    Flow,
}

/// The code of an answer; none where no answer came, and for a number that is none of HTTP's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Code(Option<u16>);

impl FlowLabels {
    pub(super) const fn of(phase: FlowPhase) -> Self {
        Self {
            phase: phase.as_str(),
        }
    }
}

impl NodeLabels {
    pub(super) const fn of(from: NodePhase, to: NodePhase) -> Self {
        Self {
            from: from.as_str(),
            to: to.as_str(),
        }
    }
}

impl EndLabels {
    pub(super) fn of(phase: NodePhase, reason: Option<Reason>) -> Self {
        Self {
            phase: phase.as_str(),
            reason: reason.map_or("", Reason::as_str),
        }
    }
}

impl CallLabels {
    pub(super) fn of(call: &Call) -> Self {
        Self {
            verb: call.verb,
            resource: call.resource,
            code: Code(call.code.filter(|code| (100..600).contains(code))),
        }
    }
}

impl EncodeLabelValue for Code {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        match self.0 {
            Some(code) => code.encode(encoder),
            None => "none".encode(encoder),
        }
    }
}

impl EncodeLabelValue for Scope {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        match self {
            Self::Cluster => "cluster",
            Self::Flow => "flow",
        }
        .encode(encoder)
    }
}

impl EncodeLabelValue for EventResult {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
        .encode(encoder)
    }
}
