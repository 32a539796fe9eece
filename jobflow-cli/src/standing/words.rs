//! Reasons in words.

use jobflow_core::record::NodeRecord;
use jobflow_core::report::Why;
use jobflow_core::{NodeId, NodePhase, Reason, Time};

use crate::table::span;

/// The names of nodes; none of one that isn't there.
pub(crate) type Names<'a> = &'a dyn Fn(NodeId) -> Option<String>;

/// One line on a node; empty where the phase says it all.
pub(crate) fn words(
    node: NodeId,
    at: &NodeRecord,
    planned: Option<Why>,
    names: Names<'_>,
    now: Time,
) -> String {
    let waits = planned
        .filter(|_| !at.phase().is_end())
        .map(|why| planned_words(why, names, now));
    let reason = at.reason.map(|reason| reason_words(reason).to_owned());
    let cause = at.cause.filter(|cause| cause.node != node);
    let cause = cause
        .and_then(|cause| names(cause.node))
        .map(|name| format!("because of {name}"));
    let message = at.message.as_deref().map(str::to_owned);
    let said = match at.phase() {
        NodePhase::Waiting | NodePhase::Blocked | NodePhase::Submitting | NodePhase::BackingOff => {
            waits.or(reason)
        }
        NodePhase::Queued | NodePhase::Running | NodePhase::Stopping | NodePhase::Paused => reason,
        NodePhase::Succeeded => None,
        NodePhase::Failed | NodePhase::Skipped | NodePhase::Cancelled => reason,
    };
    let parts: Vec<String> = [said, cause, message]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("; ")
}

fn planned_words(why: Why, names: Names<'_>, now: Time) -> String {
    let name = |node: NodeId| names(node).unwrap_or_else(|| "an entry".to_owned());
    match why {
        Why::Targets { unmet: 0 | 1, first } => format!("waits for {}", name(first)),
        Why::Targets { unmet, first } => format!("waits for {} and {} more", name(first), unmet - 1),
        Why::Unanswered { unmet, first, answer } => {
            let answer = answer.map_or_else(|| "is being asked".to_owned(), |answer| answer.to_string());
            let more = match unmet {
                0 | 1 => String::new(),
                unmet => format!(", and for {} more", unmet - 1),
            };
            format!("waits for {}: it {answer}{more}", name(first))
        }
        Why::Gate(gate) => format!("waits for the decision of {}", name(gate)),
        Why::FinallyNotOpen => "waits for all others to end".to_owned(),
        Why::HeldBack(reason) => reason_words(reason).to_owned(),
        Why::Preparing => "is being prepared".to_owned(),
        Why::NextWave => "is next".to_owned(),
        Why::Until(time) => format!("goes on in {}", between(now, time)),
        Why::PodsLeft => "waits for the processes of the attempt before".to_owned(),
        Why::InFlight | Why::Job => String::new(),
        // A reason that a later version adds has no words here yet.
        _ => String::new(),
    }
}

/// How long it is from one time to a later one.
pub(crate) fn between(from: Time, to: Time) -> String {
    span(i64::try_from(to.since(from).0).unwrap_or(i64::MAX))
}

/// A reason as people say it; the word of the status where that says it already.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most words of the status need no others, and later ones can't be known"
)]
pub(crate) fn reason_words(reason: Reason) -> &'static str {
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
