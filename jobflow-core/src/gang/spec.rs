//! What a gang is made of: a Volcano Job spec after read-time defaults. Whoever parses a manifest applies the defaults
//! (task `minAvailable`, job `minAvailable`, `maxRetry`) and resolves names of tasks to their places.

use alloc::string::String;
use alloc::vec::Vec;

use super::names::named;
use super::policy::Policy;

named! {
    /// How the tasks that a task depends on are combined.
    Iteration {
        /// One of them is enough.
        Any = "any",
        /// All of them.
        All = "all",
    }
}

/// A Job spec as far as it decides about pods and phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GangSpec {
    /// Pods that must run (or have run) for the job to be Running.
    pub min_available: u32,
    /// Succeeded pods that make the job Completed while others still run.
    pub min_success: Option<u32>,
    /// Restarts after which the job is Failed.
    pub max_retry: u32,
    /// Policies of the whole job; those of a task come first.
    pub policies: Vec<Policy>,
    /// Tasks in the order of the spec; [`PodKey::task`](super::PodKey::task) is a place in it.
    pub tasks: Vec<GangTask>,
}

/// One task of a Job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GangTask {
    /// Name, as in `taskStatusCount`.
    pub name: String,
    /// How many pods.
    pub replicas: u32,
    /// Pods of the task that must succeed, and those that dependents wait for.
    pub min_available: u32,
    /// Restarts of containers that make a `TaskFailed`; `None` (Volcano's -1) or 0 for no limit.
    pub max_retry: Option<u32>,
    /// Policies of the task.
    pub policies: Vec<Policy>,
    /// What must run before pods of the task are made.
    pub depends_on: Option<DependsOn>,
    /// Pods a partition; `None` or 0 without partitions.
    pub partition_size: Option<u32>,
}

/// Tasks that another one waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DependsOn {
    /// Places in [`GangSpec::tasks`].
    pub tasks: Vec<u32>,
    /// Whether one or all of them must be there.
    pub iteration: Iteration,
}

impl GangSpec {
    /// Pods of all tasks together.
    #[must_use]
    pub fn replicas(&self) -> u32 {
        self.tasks
            .iter()
            .fold(0, |sum, task| sum.saturating_add(task.replicas))
    }

    /// What the tasks need at least, together.
    #[must_use]
    pub fn task_min_available(&self) -> u32 {
        self.tasks
            .iter()
            .fold(0, |sum, task| sum.saturating_add(task.min_available))
    }
}
