//! Which pods an action aims at.

use super::key::PodKey;
use super::policy::Action;
use super::spec::GangSpec;

/// The reach of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// All pods of the job.
    Job,
    /// All pods of a task.
    Task(u32),
    /// The pods of one partition of a task.
    Partition { task: u32, partition: u32, size: u32 },
    /// One replica, whichever incarnation.
    Pod { task: u32, index: u32 },
    /// A restart of a part, asked for without saying which.
    Nothing,
}

impl Target {
    pub(super) fn of(spec: &GangSpec, action: Action, pod: Option<PodKey>) -> Self {
        let part = |part: fn(&GangSpec, PodKey) -> Self| pod.map_or(Self::Nothing, |key| part(spec, key));
        match action {
            Action::RestartTask => part(|_, key| Self::Task(key.task)),
            Action::RestartPod => part(|_, key| Self::Pod {
                task: key.task,
                index: key.index,
            }),
            Action::RestartPartition => part(Self::partition_of),
            Action::AbortJob
            | Action::RestartJob
            | Action::TerminateJob
            | Action::CompleteJob
            | Action::ResumeJob
            | Action::SyncJob
            | Action::EnqueueJob => Self::Job,
        }
    }

    pub(super) const fn contains(self, key: PodKey) -> bool {
        match self {
            Self::Job => true,
            Self::Task(task) => key.task == task,
            Self::Partition {
                task,
                partition,
                size,
            } => key.task == task && key.index / size == partition,
            Self::Pod { task, index } => key.task == task && key.index == index,
            Self::Nothing => false,
        }
    }

    /// A task without partitions has nothing to restart by them.
    fn partition_of(spec: &GangSpec, key: PodKey) -> Self {
        let PodKey {
            task,
            index,
            incarnation: _,
        } = key;
        let size = spec
            .tasks
            .get(task as usize)
            .and_then(|task| task.partition_size)
            .unwrap_or(0);
        let partition = index.checked_div(size);
        partition.map_or(Self::Nothing, |partition| Self::Partition {
            task,
            partition,
            size,
        })
    }
}
