//! What becomes of a change while the flow runs: the rules of an edit.

use std::collections::BTreeMap;

use jobflow_core::{FlowPhase, NodePhase};

use super::{Kind, Standing};

/// What becomes of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Where nothing is known of a run: it depends on whether the entry was submitted.
    Depends(Kind),
    /// It counts from now on.
    Follows,
    /// The attempt goes on as it began; later ones follow.
    NextAttempt {
        /// The phase of the attempt.
        phase: NodePhase,
        /// Which.
        attempt: u32,
    },
    /// It has ended, and stays as it is.
    Ended {
        /// How.
        phase: NodePhase,
    },
    /// The job lives, and runs to its end.
    RunsToItsEnd,
    /// It goes, and no job of it lives.
    Goes,
    /// It joins the flow.
    Joins,
    /// The flow has ended: nothing joins it.
    TooLate,
    /// Each attempt reads its template anew, unless the flow freezes them.
    ReadAnew,
}

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Its phase; none where no run was named.
    pub(crate) phase: Option<FlowPhase>,
    /// Its entries.
    pub(crate) entries: BTreeMap<String, Standing>,
}

impl Progress {
    /// What becomes of a change of an entry.
    pub(crate) fn fate(&self, name: &str, kind: Kind) -> Fate {
        let Some(flow) = self.phase else {
            return Fate::Depends(kind);
        };
        let standing = self.entries.get(name).copied();
        match (kind, standing) {
            (Kind::Added, _) if flow.is_end() => Fate::TooLate,
            (Kind::Added, _) => Fate::Joins,
            (Kind::Removed, Some(standing)) => removed(standing.phase),
            (Kind::Removed, None) => Fate::Goes,
            (Kind::Changed, Some(standing)) => changed(standing),
            (Kind::Changed, None) => Fate::Follows,
        }
    }
}

fn removed(phase: NodePhase) -> Fate {
    if phase.is_end() {
        return Fate::Ended { phase };
    }
    match phase.is_live() {
        true => Fate::RunsToItsEnd,
        false => Fate::Goes,
    }
}

fn changed(Standing { phase, attempt }: Standing) -> Fate {
    if phase.is_end() {
        return Fate::Ended { phase };
    }
    match phase.is_live() {
        true => Fate::NextAttempt { phase, attempt },
        // What waits, also for its next attempt, is submitted as it is by then.
        false => Fate::Follows,
    }
}

impl Fate {
    /// Whether a flow that runs shows `EditPending`.
    pub(crate) const fn is_pending(self, kind: Kind) -> bool {
        matches!(
            (self, kind),
            (Self::NextAttempt { .. } | Self::Ended { .. }, Kind::Changed)
        )
    }

    /// In words.
    pub(crate) fn words(self, kind: Kind) -> String {
        match (self, kind) {
            (Self::Depends(Kind::Added), _) => "joins a flow that has not ended".to_owned(),
            (Self::Depends(Kind::Removed), _) => "goes; once its job lives, that runs to its end".to_owned(),
            (Self::Depends(Kind::Changed), _) => {
                "counts if the entry was not submitted; else the attempt stays as it began, and EditPending names it"
                    .to_owned()
            }
            (Self::Follows, _) => "counts from now on".to_owned(),
            (Self::NextAttempt { phase, attempt }, _) => {
                format!("EditPending: attempt {attempt} is {phase} and stays as it began; another attempt would follow")
            }
            (Self::Ended { phase }, Kind::Removed) => format!("goes; it has ended ({phase})"),
            (Self::Ended { phase }, _) => format!("EditPending: it has ended ({phase}) and stays as it is"),
            (Self::RunsToItsEnd, _) => "goes; its job lives and runs to its end".to_owned(),
            (Self::Goes, _) => "goes; no job of it lives".to_owned(),
            (Self::Joins, _) => "joins the flow".to_owned(),
            (Self::TooLate, _) => "does not join: the flow has ended".to_owned(),
            (Self::ReadAnew, _) => "counts for attempts from now on, unless `templateBinding` is Snapshot".to_owned(),
        }
    }
}
