//! What a policy may answer to what happened. In: the policies of a task and of its job, one event; out: the first
//! policy that speaks of it. Deliberately absent: carrying an action out.

use alloc::vec::Vec;

use super::names::named;
use crate::time::Span;

named! {
    /// What can happen to a gang, by the names that policies use.
    Event {
        /// In a policy: whatever happens.
        Any = "*",
        /// A pod failed.
        PodFailed = "PodFailed",
        /// A pod is gone that nobody here stopped.
        PodEvicted = "PodEvicted",
        /// A pod was made and doesn't run yet. Speaks only in a policy with a timeout.
        PodPending = "PodPending",
        /// A pod runs. Never asks a policy, but takes delayed actions back.
        PodRunning = "PodRunning",
        /// Some pods run and the rest can't be scheduled.
        JobUnknown = "Unknown",
        /// Every replica of a task succeeded.
        TaskCompleted = "TaskCompleted",
        /// Containers of a task restarted as often as its `maxRetry`.
        TaskFailed = "TaskFailed",
        /// Something else changed. Never asks a policy.
        OutOfSync = "OutOfSync",
        /// A command came. Never asks a policy.
        CommandIssued = "CommandIssued",
        /// The spec changed. Never raised here: the spec is looked at in every step.
        JobUpdated = "JobUpdated",
    }
}

named! {
    /// What can be done to a gang, by the names that policies use.
    Action {
        /// Stop all pods, to be resumed later.
        AbortJob = "AbortJob",
        /// Make all pods anew.
        RestartJob = "RestartJob",
        /// Make the pods of the task anew.
        RestartTask = "RestartTask",
        /// Make the pod anew.
        RestartPod = "RestartPod",
        /// Make the pods of the same partition of the task anew.
        RestartPartition = "RestartPartition",
        /// Stop all pods for good.
        TerminateJob = "TerminateJob",
        /// Stop what still runs: the job is done.
        CompleteJob = "CompleteJob",
        /// Start an aborted job again.
        ResumeJob = "ResumeJob",
        /// Count again; what happens when no policy speaks.
        SyncJob = "SyncJob",
        /// The same, by another name.
        EnqueueJob = "EnqueueJob",
    }
}

named! {
    /// What may be asked of a Job from outside, by a Command object or a person.
    Command {
        /// Stop all pods, to be resumed later.
        Abort = "AbortJob",
        /// Start an aborted job again.
        Resume = "ResumeJob",
        /// Stop all pods for good.
        Terminate = "TerminateJob",
        /// Make all pods anew.
        Restart = "RestartJob",
        /// Stop what still runs: the job is done.
        Complete = "CompleteJob",
    }
}

/// One entry of `policies`, of a job or of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Policy {
    /// `event` and `events` together.
    pub events: Vec<Event>,
    /// Exit code of the first container of a failed pod. 0 never matches.
    pub exit_code: Option<i32>,
    /// What to do.
    pub action: Action,
    /// How long after the event; `None` at once.
    pub timeout: Option<Span>,
}

impl Policy {
    /// The first of `policies` that speaks of an event; those of the task are given before those of the job.
    pub(super) fn find<'a>(
        policies: impl IntoIterator<Item = &'a Self>,
        event: Event,
        exit_code: Option<i32>,
    ) -> Option<&'a Self> {
        policies
            .into_iter()
            .find(|policy| policy.names(event) || policy.matches(exit_code))
    }

    /// A pod that is pending is no event by itself: only staying so for the policy's timeout is.
    fn names(&self, event: Event) -> bool {
        let named = self.events.contains(&event) || self.events.contains(&Event::Any);
        named && (event != Event::PodPending || self.timeout.is_some())
    }

    fn matches(&self, exit_code: Option<i32>) -> bool {
        exit_code.is_some_and(|code| code != 0 && self.exit_code == Some(code))
    }
}

impl Command {
    /// The action that the command asks for.
    #[must_use]
    pub const fn action(self) -> Action {
        match self {
            Self::Abort => Action::AbortJob,
            Self::Resume => Action::ResumeJob,
            Self::Terminate => Action::TerminateJob,
            Self::Restart => Action::RestartJob,
            Self::Complete => Action::CompleteJob,
        }
    }
}
