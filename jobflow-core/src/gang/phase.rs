//! Phases of a Job and of its pods, as they stand in a status.

use super::names::named;

named! {
    /// The phase of a Volcano Job, `status.state.phase`.
    #[derive(Default)]
    JobPhase {
        /// No status yet: the controller hasn't looked, or can't (its queue is missing).
        #[default]
        Empty = "",
        /// Waits for admission, or for enough pods to run.
        Pending = "Pending",
        /// At least `minAvailable` pods ran.
        Running = "Running",
        /// Pods are stopped to be made anew.
        Restarting = "Restarting",
        /// Pods are stopped because the job counts as done.
        Completing = "Completing",
        /// Ended well.
        Completed = "Completed",
        /// Pods are stopped because the job was told to end.
        Terminating = "Terminating",
        /// Ended by a command or a policy.
        Terminated = "Terminated",
        /// Pods are stopped; the job may be resumed later.
        Aborting = "Aborting",
        /// Stopped until somebody resumes it.
        Aborted = "Aborted",
        /// Ended badly.
        Failed = "Failed",
    }
}

named! {
    /// The phase of a pod, `status.phase`.
    PodPhase {
        /// Accepted, no container runs yet.
        Pending = "Pending",
        /// At least one container runs.
        Running = "Running",
        /// All containers ended with 0.
        Succeeded = "Succeeded",
        /// A container ended otherwise.
        Failed = "Failed",
        /// The node doesn't answer.
        Unknown = "Unknown",
    }
}

impl JobPhase {
    /// Whether nothing can bring the job back: Completed, Terminated or Failed. An Aborted job can be resumed.
    #[must_use]
    pub const fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Terminated | Self::Failed => true,
            Self::Empty
            | Self::Pending
            | Self::Running
            | Self::Restarting
            | Self::Completing
            | Self::Terminating
            | Self::Aborting
            | Self::Aborted => false,
        }
    }

    /// Whether the gang is at rest: final, or Aborted.
    #[must_use]
    pub const fn is_at_rest(self) -> bool {
        self.is_final() || matches!(self, Self::Aborted)
    }
}

impl PodPhase {
    /// Whether no container runs any more.
    #[must_use]
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}
