//! Reasons in words.

use jobflow_core::Reason;

/// A reason as people say it; the word of the status where that says it already.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most words of the status need no others, and later ones can't be known"
)]
pub(super) fn reason_words(reason: Reason) -> &'static str {
    match reason {
        Reason::JobFailed => "the job failed",
        Reason::JobTerminated => "the job was terminated",
        Reason::JobDeleted => "the job was deleted",
        Reason::JobAborted => "the job aborted itself",
        Reason::Timeout => "its time was up",
        Reason::ConditionFalse => "its condition was false",
        Reason::NotTaken => "its branch was not taken",
        Reason::NotNeeded => "it was not needed",
        Reason::UpstreamSkipped => "a target was skipped",
        Reason::UpstreamFailed => "a target failed",
        Reason::UpstreamCancelled => "a target was cancelled",
        Reason::ConditionNeverMet => "what it waited for never happened",
        Reason::FlowFailing => "the flow was failing",
        Reason::FlowCancelled => "the flow was cancelled",
        Reason::DeadlineExceeded => "the flow's deadline passed",
        Reason::CancelAll => "a failure ended the flow",
        Reason::Suspended => "the flow is suspended",
        Reason::ParallelismLimit => "as many jobs run as may",
        Reason::TemplateNotFound => "there is no such template",
        other => other.as_str(),
    }
}
