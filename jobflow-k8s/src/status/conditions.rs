//! The standard conditions of a flow, `status.flowConditions`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// The types of the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionType {
    /// The spec is valid, and its record is kept.
    Accepted,
    /// Something of it can still happen.
    Progressing,
    /// Nothing new is started.
    Suspended,
    /// A node failed, and its failure is not excused.
    Failing,
    /// An entry was edited that had been started from what it was before.
    EditPending,
    /// The flow ended well.
    Complete,
    /// The flow ended, not well.
    Failed,
    /// The status would have been too large, and some of it is left out.
    StatusTruncated,
}

impl ConditionType {
    /// The word as it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "Accepted",
            Self::Progressing => "Progressing",
            Self::Suspended => "Suspended",
            Self::Failing => "Failing",
            Self::EditPending => "EditPending",
            Self::Complete => "Complete",
            Self::Failed => "Failed",
            Self::StatusTruncated => "StatusTruncated",
        }
    }
}

/// What is true of a flow now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) of: ConditionType,
    pub(super) holds: bool,
    /// One word.
    pub(super) reason: String,
    /// A sentence; may be empty.
    pub(super) message: String,
}

impl Finding {
    pub(super) fn new(of: ConditionType, holds: bool, reason: &str, message: impl Into<String>) -> Self {
        Self {
            of,
            holds,
            reason: reason.to_owned(),
            message: message.into(),
        }
    }

    /// A condition that is only written once it has held: told as false, it stays away.
    const fn is_quiet(&self) -> bool {
        match self.of {
            ConditionType::Accepted | ConditionType::Progressing => false,
            ConditionType::Suspended
            | ConditionType::Failing
            | ConditionType::EditPending
            | ConditionType::Complete
            | ConditionType::Failed
            | ConditionType::StatusTruncated => !self.holds,
        }
    }
}

/// Joins what is true now with what was written before: the time moves only when the status does, and a condition that
/// never held stays away. Conditions of others are kept.
pub(super) fn merge(
    findings: &[Finding],
    previous: Option<&[Condition]>,
    generation: Option<i64>,
    now: &Time,
) -> Vec<Condition> {
    let before = previous.unwrap_or_default();
    let is_found = |condition: &Condition| {
        findings
            .iter()
            .any(|finding| finding.of.as_str() == condition.type_)
    };
    let found = findings.iter().filter_map(|finding| {
        let old = before
            .iter()
            .find(|condition| condition.type_ == finding.of.as_str());
        (old.is_some() || !finding.is_quiet()).then(|| condition(finding, old, generation, now))
    });
    let kept = before.iter().filter(|condition| !is_found(condition)).cloned();
    found.chain(kept).collect()
}

fn condition(finding: &Finding, old: Option<&Condition>, generation: Option<i64>, now: &Time) -> Condition {
    let status = if finding.holds { "True" } else { "False" };
    let since = old
        .filter(|old| old.status == status)
        .map_or(now, |old| &old.last_transition_time);
    Condition {
        last_transition_time: since.clone(),
        message: finding.message.clone(),
        observed_generation: generation,
        reason: finding.reason.clone(),
        status: status.to_owned(),
        type_: finding.of.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Instant;

    fn at(seconds: i64) -> Time {
        Instant::from(jobflow_core::Time(seconds * 1000)).into()
    }

    #[test]
    fn the_time_moves_only_with_the_status() {
        let holds = |holds| [Finding::new(ConditionType::Progressing, holds, "Running", "")];
        let first = merge(&holds(true), None, Some(1), &at(1));
        let again = merge(&holds(true), Some(&first), Some(2), &at(2));
        assert_eq!(
            (&again[0].last_transition_time, again[0].observed_generation),
            (&at(1), Some(2))
        );
        let over = merge(&holds(false), Some(&again), Some(2), &at(3));
        assert_eq!(
            (&over[0].last_transition_time, over[0].status.as_str()),
            (&at(3), "False")
        );
    }

    #[test]
    fn what_never_held_is_not_written_and_what_held_is_taken_back() {
        let failing = |holds| [Finding::new(ConditionType::Failing, holds, "JobFailed", "")];
        assert_eq!(merge(&failing(false), None, None, &at(1)), []);
        let held = merge(&failing(true), None, None, &at(1));
        assert_eq!(
            merge(&failing(false), Some(&held), None, &at(2))[0].status,
            "False"
        );
    }

    #[test]
    fn conditions_of_others_are_kept() {
        let theirs = Condition {
            last_transition_time: at(1),
            message: String::new(),
            observed_generation: None,
            reason: "Theirs".to_owned(),
            status: "True".to_owned(),
            type_: "example.com/Billed".to_owned(),
        };
        assert_eq!(
            merge(&[], Some(std::slice::from_ref(&theirs)), None, &at(2)),
            [theirs]
        );
    }
}
