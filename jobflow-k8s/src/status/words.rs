//! Words of the status for the core's values, and back.

use jobflow_core::key::NodeId;
use jobflow_core::record::{Clock, FlowStopCause, StopCause};
use jobflow_core::{FlowPhase, NodePhase, Reason, Span, Time};

use crate::types;

/// The phase of a node as it is written.
pub(super) const fn phase(phase: NodePhase) -> types::NodePhase {
    match phase {
        NodePhase::Waiting => types::NodePhase::Waiting,
        NodePhase::Blocked => types::NodePhase::Blocked,
        NodePhase::Submitting => types::NodePhase::Submitting,
        NodePhase::Queued => types::NodePhase::Queued,
        NodePhase::Running => types::NodePhase::Running,
        NodePhase::Stopping => types::NodePhase::Stopping,
        NodePhase::BackingOff => types::NodePhase::BackingOff,
        NodePhase::Paused => types::NodePhase::Paused,
        NodePhase::Succeeded => types::NodePhase::Succeeded,
        NodePhase::Failed => types::NodePhase::Failed,
        NodePhase::Skipped => types::NodePhase::Skipped,
        NodePhase::Cancelled => types::NodePhase::Cancelled,
    }
}

/// The phase of a node as it was written.
#[must_use]
pub const fn core_phase(phase: types::NodePhase) -> NodePhase {
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

/// The phase of a flow as it is written.
pub(super) const fn flow_phase(phase: FlowPhase) -> types::FlowPhase {
    match phase {
        FlowPhase::Pending => types::FlowPhase::Pending,
        FlowPhase::Running => types::FlowPhase::Running,
        FlowPhase::Terminating => types::FlowPhase::Terminating,
        FlowPhase::Succeed => types::FlowPhase::Succeed,
        FlowPhase::Failed => types::FlowPhase::Failed,
    }
}

/// The phase of a flow as it was written.
#[must_use]
pub const fn core_flow_phase(phase: types::FlowPhase) -> FlowPhase {
    match phase {
        types::FlowPhase::Pending => FlowPhase::Pending,
        types::FlowPhase::Running => FlowPhase::Running,
        types::FlowPhase::Terminating => FlowPhase::Terminating,
        types::FlowPhase::Succeed => FlowPhase::Succeed,
        types::FlowPhase::Failed => FlowPhase::Failed,
    }
}

/// The reason that a word stands for.
pub(super) fn reason(word: &str) -> Option<Reason> {
    Reason::ALL.iter().copied().find(|reason| reason.as_str() == word)
}

const STOPS: [(StopCause, &str); 7] = [
    (StopCause::Cancel, "Cancel"),
    (StopCause::Deadline, "Deadline"),
    (StopCause::CancelAll, "CancelAll"),
    (StopCause::AttemptTimeout, "AttemptTimeout"),
    (StopCause::NodeTimeout, "NodeTimeout"),
    (StopCause::SkipRequest, "SkipRequest"),
    (StopCause::SuspendRunning, "SuspendRunning"),
];

const FLOW_STOPS: [(FlowStopCause, &str); 4] = [
    (FlowStopCause::CancelGraceful, "CancelGraceful"),
    (FlowStopCause::CancelNow, "CancelNow"),
    (FlowStopCause::Deadline, "Deadline"),
    (FlowStopCause::CancelAll, "CancelAll"),
];

/// The word for the stop of an attempt.
pub(super) const fn stop(cause: StopCause) -> &'static str {
    match cause {
        StopCause::Cancel => "Cancel",
        StopCause::Deadline => "Deadline",
        StopCause::CancelAll => "CancelAll",
        StopCause::AttemptTimeout => "AttemptTimeout",
        StopCause::NodeTimeout => "NodeTimeout",
        StopCause::SkipRequest => "SkipRequest",
        StopCause::SuspendRunning => "SuspendRunning",
    }
}

/// The word for the stop of a flow.
pub(super) const fn flow_stop(cause: FlowStopCause) -> &'static str {
    match cause {
        FlowStopCause::CancelGraceful => "CancelGraceful",
        FlowStopCause::CancelNow => "CancelNow",
        FlowStopCause::Deadline => "Deadline",
        FlowStopCause::CancelAll => "CancelAll",
    }
}

/// The stop of an attempt that a word stands for.
pub(super) fn core_stop(word: &str) -> Option<StopCause> {
    STOPS
        .iter()
        .find(|(_, known)| *known == word)
        .map(|(cause, _)| *cause)
}

/// The stop of a flow that a word stands for.
pub(super) fn core_flow_stop(word: &str) -> Option<FlowStopCause> {
    FLOW_STOPS
        .iter()
        .find(|(_, known)| *known == word)
        .map(|(cause, _)| *cause)
}

/// A clock as it is written: what it stood still beyond whole seconds is added to its start, which shows the same
/// time at every moment.
pub(super) fn clock(clock: &Clock) -> types::Clock {
    let seconds = clock.held.as_secs();
    let rest = Span(clock.held.0 - seconds * 1000);
    types::Clock {
        start: Some((clock.start + rest).into()),
        held_seconds: i64::try_from(seconds).ok().filter(|seconds| *seconds > 0),
        held_since: clock.held_since.map(Into::into),
    }
}

/// A clock as it was written; none without a start, or with a negative wait.
pub(super) fn core_clock(clock: &types::Clock) -> Option<Clock> {
    let seconds = u64::try_from(clock.held_seconds.unwrap_or(0)).ok()?;
    Some(Clock {
        start: clock.start?.into(),
        held: Span::from_secs(seconds),
        held_since: clock.held_since.map(Time::from),
    })
}

/// A digest of an entry, in 16 digits.
pub(super) fn hash(hash: u64) -> String {
    format!("{hash:016x}")
}

/// A digest as it was written.
pub(super) fn core_hash(text: &str) -> Option<u64> {
    let plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(text, 16).ok().filter(|_| plain)
}

/// A number as it is written; none for 0.
pub(super) fn number(number: u32) -> Option<i64> {
    (number > 0).then_some(i64::from(number))
}

/// The position of a node as a number that lists can be asked for.
pub(super) const fn position(node: NodeId) -> usize {
    node.position()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_stop_is_read_back() {
        for (cause, word) in STOPS {
            assert_eq!((stop(cause), core_stop(word)), (word, Some(cause)));
        }
        for (cause, word) in FLOW_STOPS {
            assert_eq!((flow_stop(cause), core_flow_stop(word)), (word, Some(cause)));
        }
        for known in Reason::ALL {
            assert_eq!(reason(known.as_str()), Some(*known));
        }
        for known in NodePhase::ALL {
            assert_eq!(core_phase(phase(known)), known);
        }
    }

    #[test]
    fn a_clock_shows_the_same_time_when_it_is_read_back() {
        let kept = Clock {
            start: Time(1_234),
            held: Span(5_678),
            held_since: Some(Time(9_999)),
        };
        let read = core_clock(&clock(&kept)).unwrap();
        assert_eq!(read.elapsed(Time(20_000)), kept.elapsed(Time(20_000)));
        assert_eq!(clock(&read), clock(&kept));
        let runs = Clock {
            held_since: None,
            ..kept
        };
        let read = core_clock(&clock(&runs)).unwrap();
        assert_eq!(read.reaches(Span(60_000)), runs.reaches(Span(60_000)));
    }

    #[test]
    fn a_digest_has_16_digits() {
        assert_eq!(core_hash(&hash(0xff)), Some(0xff));
        assert_eq!(core_hash("ff"), None);
        assert_eq!(core_hash("+0000000000000ff"), None);
    }
}
