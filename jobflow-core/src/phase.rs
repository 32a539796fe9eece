//! The phases of nodes and flows. The phases of a Volcano Job are in [`crate::gang`].

use core::fmt;

/// Where a node stands. Exhaustive on purpose: a new phase must stop every build that decides by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum NodePhase {
    /// What it depends on has not been met yet, or has just been met.
    #[default]
    Waiting,
    /// It could start, but something outside its dependencies holds it back.
    Blocked,
    /// Its job is intended; whether the job exists is not known yet.
    Submitting,
    /// Its job exists and has no running gang yet.
    Queued,
    /// Its job runs.
    Running,
    /// Its job is on the way to an end that was forced.
    Stopping,
    /// An attempt has ended; the next one waits for its time.
    BackingOff,
    /// Its job was aborted from outside, or stopped by a suspension; a resume goes on.
    Paused,
    /// It ended well.
    Succeeded,
    /// It ended badly.
    Failed,
    /// It ended without a job of its own being needed or possible.
    Skipped,
    /// It was ended by a stop of the flow.
    Cancelled,
}

impl NodePhase {
    /// All phases, in the order of a node's life.
    pub const ALL: [Self; 12] = [
        Self::Waiting,
        Self::Blocked,
        Self::Submitting,
        Self::Queued,
        Self::Running,
        Self::Stopping,
        Self::BackingOff,
        Self::Paused,
        Self::Succeeded,
        Self::Failed,
        Self::Skipped,
        Self::Cancelled,
    ];

    /// Whether this is an end: nothing but a Retry request leaves it.
    #[must_use]
    pub const fn is_end(self) -> bool {
        matches!(
            self,
            Self::Succeeded | Self::Failed | Self::Skipped | Self::Cancelled
        )
    }

    /// Whether a job is intended or exists, so that the node holds a place in `parallelism`.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(
            self,
            Self::Submitting | Self::Queued | Self::Running | Self::Stopping | Self::Paused
        )
    }

    /// Whether the node has not been started: nothing of it exists or is intended.
    #[must_use]
    pub const fn is_undecided(self) -> bool {
        matches!(self, Self::Waiting | Self::Blocked)
    }

    /// The name as it is written in status.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Blocked => "Blocked",
            Self::Submitting => "Submitting",
            Self::Queued => "Queued",
            Self::Running => "Running",
            Self::Stopping => "Stopping",
            Self::BackingOff => "BackingOff",
            Self::Paused => "Paused",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Skipped => "Skipped",
            Self::Cancelled => "Cancelled",
        }
    }
}

impl fmt::Display for NodePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where a flow stands, in Volcano's words (`Succeed` is theirs).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FlowPhase {
    /// Nothing has been submitted.
    #[default]
    Pending,
    /// Something has been submitted, and a node has not ended.
    Running,
    /// A cancel, a deadline or `CancelAll` is at work, and a node has not ended.
    Terminating,
    /// Everything ended well, was excused, or was skipped for a benign reason.
    Succeed,
    /// Everything ended, and something badly.
    Failed,
}

impl FlowPhase {
    /// Whether the flow has ended.
    #[must_use]
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Succeed | Self::Failed)
    }

    /// The name as it is written in status.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Terminating => "Terminating",
            Self::Succeed => "Succeed",
            Self::Failed => "Failed",
        }
    }
}

impl fmt::Display for FlowPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
