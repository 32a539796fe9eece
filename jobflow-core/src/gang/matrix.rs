//! The table of the machine: what each action means in each phase. In: a phase and an action; out: the move.
//! Deliberately absent: counting and stopping, which the move describes.

use super::phase::JobPhase;
use super::policy::Action;

/// What to do with the pods, and what decides about the phase then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Make missing pods, count all, then judge by the rules of the phase.
    Sync,
    /// Stop all pods but those in `keep`.
    Stop { keep: Keep, then: Then },
    /// Stop the pods that the action aims at.
    StopTarget { then: Then },
}

/// Which pods a stop of the whole job leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// None.
    Nothing,
    /// Those that ended.
    Ended,
}

/// How the phase follows from a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It is that one.
    Go(JobPhase),
    /// Restarting, and one retry is spent.
    Restart,
    /// That one once no pod is terminating.
    Await(JobPhase),
    /// By the rules of Restarting.
    JudgeRestart,
    /// It stays.
    Stay,
}

impl Move {
    pub(super) const fn of(phase: JobPhase, action: Action) -> Self {
        match phase {
            JobPhase::Empty | JobPhase::Pending | JobPhase::Running => Self::while_open(action),
            JobPhase::Restarting => Self::while_restarting(action),
            JobPhase::Aborting => Self::unless_resumed(action, Then::Await(JobPhase::Aborted)),
            JobPhase::Aborted => Self::unless_resumed(action, Then::Stay),
            JobPhase::Completing => Self::stop_live(Then::Await(JobPhase::Completed)),
            JobPhase::Terminating => Self::stop_live(Then::Await(JobPhase::Terminated)),
            JobPhase::Completed | JobPhase::Terminated | JobPhase::Failed => Self::stop_live(Then::Stay),
        }
    }

    const fn while_open(action: Action) -> Self {
        match action {
            Action::RestartJob => Self::Stop {
                keep: Keep::Nothing,
                then: Then::Restart,
            },
            Action::RestartTask | Action::RestartPod | Action::RestartPartition => {
                Self::StopTarget { then: Then::Restart }
            }
            Action::AbortJob => Self::stop_live(Then::Go(JobPhase::Aborting)),
            Action::TerminateJob => Self::stop_live(Then::Go(JobPhase::Terminating)),
            Action::CompleteJob => Self::stop_live(Then::Go(JobPhase::Completing)),
            Action::ResumeJob | Action::SyncJob | Action::EnqueueJob => Self::Sync,
        }
    }

    /// A job that restarts hears nothing else: Volcano takes every other action for a restart. (Seen in its source;
    /// so a TerminateJob must be sent again when the phase hasn't moved.)
    const fn while_restarting(action: Action) -> Self {
        match action {
            Action::SyncJob | Action::EnqueueJob => Self::Sync,
            Action::RestartTask | Action::RestartPod | Action::RestartPartition => Self::StopTarget {
                then: Then::JudgeRestart,
            },
            Action::RestartJob
            | Action::AbortJob
            | Action::TerminateJob
            | Action::CompleteJob
            | Action::ResumeJob => Self::Stop {
                keep: Keep::Nothing,
                then: Then::JudgeRestart,
            },
        }
    }

    const fn unless_resumed(action: Action, then: Then) -> Self {
        match action {
            Action::ResumeJob => Self::stop_live(Then::Restart),
            Action::AbortJob
            | Action::RestartJob
            | Action::RestartTask
            | Action::RestartPod
            | Action::RestartPartition
            | Action::TerminateJob
            | Action::CompleteJob
            | Action::SyncJob
            | Action::EnqueueJob => Self::stop_live(then),
        }
    }

    const fn stop_live(then: Then) -> Self {
        Self::Stop {
            keep: Keep::Ended,
            then,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;

    /// A line for each phase and move, with the actions that lead to it.
    fn lines(phase: JobPhase) -> Vec<String> {
        let mut moves: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for action in Action::ALL {
            moves
                .entry(format!("{:?}", Move::of(phase, *action)))
                .or_default()
                .push(action.as_str());
        }
        moves
            .iter()
            .map(|(step, actions)| format!("{phase:?}: {step} <- {}", actions.join(" ")))
            .collect()
    }

    #[test]
    fn the_matrix_is_as_printed() {
        let matrix: Vec<String> = JobPhase::ALL.iter().flat_map(|phase| lines(*phase)).collect();
        insta::assert_snapshot!(matrix.join("\n"));
    }
}
