//! Why a node is where it is, as one word each, and how the words rank when several apply.

use core::fmt;

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Why a node is in its phase. The words are those of the status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Reason { $($(#[$doc])* $name,)* }

        impl Reason {
            /// Every reason, in the order of this list.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word as it is written in status.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }
    };
}

reasons! {
    // ends of a job
    /// The job ended as Failed.
    JobFailed,
    /// The job was terminated, by nobody of ours.
    JobTerminated,
    /// The job was deleted before it ended, by nobody of ours.
    JobDeleted,
    /// A policy of the job's own aborted it.
    JobAborted,
    /// Its time was up.
    Timeout,
    /// The API server refused the job for good.
    CreateRefused,
    /// An object of somebody else has the job's name.
    NameConflict,
    /// The approval was refused, or its time was up.
    Rejected,
    /// An expression of the entry could not be evaluated.
    ExpressionFailed,
    /// The job could not be built from its template and patch.
    RenderFailed,
    /// Fewer instances than `minSucceeded` ended well.
    TooFewSucceeded,

    // skips, benign
    /// Its `when` was false.
    ConditionFalse,
    /// Its branch of a switch was not chosen.
    NotTaken,
    /// What it was for did not come to pass.
    NotNeeded,
    /// A request skipped it.
    SkippedByRequest,
    /// A target was skipped for a benign reason.
    UpstreamSkipped,
    /// An excused failure can never meet its condition.
    UpstreamExcused,

    // skips, not benign
    /// A target failed.
    UpstreamFailed,
    /// A target was cancelled.
    UpstreamCancelled,
    /// A target ended without ever meeting the condition.
    ConditionNeverMet,
    /// The flow was failing, and its policy starts nothing new.
    FlowFailing,

    // cancelled
    /// The flow was cancelled.
    FlowCancelled,
    /// The flow's deadline passed.
    DeadlineExceeded,
    /// A failure ended the flow (`CancelAll`).
    CancelAll,

    // blocked, or held back while submitting
    /// The flow is suspended.
    Suspended,
    /// The flow has as many jobs alive as `parallelism` allows.
    ParallelismLimit,
    /// Waits for a decision.
    AwaitingApproval,
    /// The job's name is still in use by an object that is going away.
    NameTaken,
    /// There is no template of that name.
    TemplateNotFound,
    /// The flow's record was lost, and nothing tells whether this entry ran.
    LedgerLost,
    /// The queue is missing, closed, or not one that takes jobs.
    QueueUnavailable,
    /// The namespace's quota is used up.
    QuotaExceeded,
    /// The controller may not create the job.
    NotPermitted,
    /// The namespace is being deleted.
    NamespaceTerminating,
    /// The API server did not answer, or asked to wait.
    ServerUnavailable,
    /// The answer to the create was lost; whether the job exists is being found out.
    CreateUncertain,

    // of a pause
    /// The job was aborted from outside.
    AbortedFromOutside,

    // of the flow
    /// Something in `finally` failed after all else had ended well.
    FinallyFailed,
    /// The spec is not valid.
    InvalidSpec,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How grave the reason is for which a condition can never hold, or a node was skipped; the graver one is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gravity {
    /// As intended: a branch not taken, a condition that was false.
    Benign,
    /// A target ended, and what was waited for never happened.
    NeverMet,
    /// Something upstream was cancelled.
    Cancelled,
    /// Something upstream failed.
    Failure,
}

impl Reason {
    /// The gravity of a node that was skipped for this reason.
    #[must_use]
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every word but those of skips is a failure's"
    )]
    pub const fn gravity(self) -> Gravity {
        match self {
            Self::ConditionFalse
            | Self::NotTaken
            | Self::NotNeeded
            | Self::SkippedByRequest
            | Self::UpstreamSkipped
            | Self::UpstreamExcused => Gravity::Benign,
            Self::ConditionNeverMet => Gravity::NeverMet,
            Self::UpstreamCancelled | Self::FlowCancelled | Self::DeadlineExceeded | Self::CancelAll => {
                Gravity::Cancelled
            }
            _ => Gravity::Failure,
        }
    }

    /// Whether a node skipped for this reason leaves the flow a success.
    #[must_use]
    pub const fn is_benign(self) -> bool {
        matches!(self.gravity(), Gravity::Benign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benign_reasons_are_these_six() {
        let benign: alloc::vec::Vec<&str> = Reason::ALL
            .iter()
            .filter(|reason| reason.is_benign())
            .map(|reason| reason.as_str())
            .collect();
        assert_eq!(
            benign,
            [
                "ConditionFalse",
                "NotTaken",
                "NotNeeded",
                "SkippedByRequest",
                "UpstreamSkipped",
                "UpstreamExcused"
            ]
        );
    }
}
