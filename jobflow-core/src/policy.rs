//! What holds for a whole flow, as its author and its driver set it.

use crate::time::Span;

/// The settings of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Policy {
    /// The most jobs alive at once; none: no bound.
    pub parallelism: Option<u32>,
    /// What a failure means for the rest.
    pub failure_policy: FailurePolicy,
    /// The longest the flow may take.
    pub deadline: Option<Span>,
    /// The longest that `finally` may take.
    pub finally_deadline: Span,
    /// What becomes of jobs once the flow has succeeded.
    pub retain_on_success: Retain,
    /// What becomes of jobs once the flow has failed.
    pub retain_on_failure: Retain,
    /// How long after its end the flow itself is deleted, where it is an object; none: it stays.
    pub ttl: Option<Span>,
    /// Whether a stopped job has ended only when its pods are gone.
    pub wait_for_pods_gone: bool,
    /// The seed of the jitter, from the flow's UID.
    pub seed: u64,
    /// Losses to the infrastructure that every entry may make good beside its own limit; a driver that was itself
    /// interrupted and resumed grants one for each time.
    pub granted_losses: u32,
    /// Whether a request to end a job is understood; otherwise the job is deleted.
    pub commands: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            parallelism: None,
            failure_policy: FailurePolicy::default(),
            deadline: None,
            finally_deadline: Span::from_secs(3600),
            retain_on_success: Retain::default(),
            retain_on_failure: Retain::default(),
            ttl: None,
            wait_for_pods_gone: false,
            seed: 0,
            granted_losses: 0,
            commands: true,
        }
    }
}

/// What a failure means for the rest of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FailurePolicy {
    /// Nothing new starts but handlers; what runs goes on.
    #[default]
    StopNew,
    /// The same, and what runs is stopped.
    CancelAll,
    /// Whatever doesn't depend on the failure goes on.
    Continue,
}

/// What becomes of the jobs of an ended flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Retain {
    /// They stay.
    #[default]
    Keep,
    /// They are deleted.
    Delete,
}
