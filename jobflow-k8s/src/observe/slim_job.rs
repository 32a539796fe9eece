//! A Job of a watch: who it is, what its tasks are called, and what its status says. Pod templates, plugins, volumes,
//! labels and managed fields are read over, never built.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::Time;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::NamespaceResourceScope;
use serde::Deserialize;

use super::metadata::trimmed;
use super::time;
use crate::job::{JobView, TaskView};
use crate::names::{ANNOTATION_NODE, ANNOTATION_TTL, CREATED_BY_TEMPLATE};
use crate::types::job::{
    JobCondition, JobPhase, JobSpec, JobState, JobStatus, JobTask, PartitionPolicy, Policy, TaskState,
};
use crate::types::{BATCH_GROUP, VERSION};

/// The annotations that are read.
const KEPT: [&str; 3] = [ANNOTATION_NODE, ANNOTATION_TTL, CREATED_BY_TEMPLATE];

/// A Volcano Job as it is watched.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Raw")]
pub struct SlimJob {
    /// Name, namespace, UID, resource version, times, the controller, and the annotations that are read.
    pub metadata: ObjectMeta,
    /// The queue that it waits in; `default` without one.
    pub queue: Box<str>,
    /// How many pods the spec asks for at least; the sum of the tasks' without a number of its own.
    pub min_available: u32,
    /// The tasks, in the order of the spec.
    pub tasks: Box<[SlimTask]>,
    /// Whether a policy, at any level, can abort it.
    pub aborts_itself: bool,
    /// The phase.
    pub phase: JobPhase,
    /// When the phase last changed, as the Job says.
    pub changed: Option<Time>,
    /// The `minAvailable` that counted.
    pub counted_min_available: Option<u32>,
    /// Pods that are pending.
    pub pending: u32,
    /// Pods that run.
    pub running: u32,
    /// Pods that succeeded.
    pub succeeded: u32,
    /// Pods that failed.
    pub failed: u32,
    /// Pods that are going away.
    pub terminating: u32,
    /// Pods about which nothing is known.
    pub unknown: u32,
    /// Restarts, resumes included.
    pub retry_count: u32,
    /// How long it ran; written at the end.
    pub running_duration: Option<Box<str>>,
    /// The last few changes of phase, oldest first.
    pub history: Box<[(JobPhase, Option<Time>)]>,
}

/// A task with its pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlimTask {
    /// The name; `default<i>` without one.
    pub name: Box<str>,
    /// How many pods.
    pub replicas: u32,
    /// How many of them must run at least.
    pub min_available: u32,
    /// Its pods by phase; none if the status doesn't mention the task.
    pub counts: Option<TaskCounts>,
}

/// Pods of a task by phase, as `taskStatusCount` has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskCounts {
    /// Not running yet.
    pub pending: u32,
    /// Running.
    pub running: u32,
    /// Succeeded.
    pub succeeded: u32,
    /// Failed.
    pub failed: u32,
    /// About which nothing is known.
    pub unknown: u32,
}

impl SlimJob {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// The UID.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }

    /// When it was created.
    #[must_use]
    pub fn created(&self) -> Option<Time> {
        self.metadata.creation_timestamp.as_ref().map(time)
    }

    /// Whether it is being deleted.
    #[must_use]
    pub const fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether its status tells of any pod by task. The second write of an end doesn't, any more.
    #[must_use]
    pub fn counts_pods(&self) -> bool {
        self.tasks.iter().any(|task| task.counts.is_some())
    }

    /// This state with the pods by task of the one that was seen before, if it is an end that tells of none: Volcano
    /// writes each end once more without its counts, and both may be taken in together.
    #[must_use]
    pub fn after(self: Arc<Self>, before: &Self) -> Arc<Self> {
        let is_end = matches!(
            self.phase,
            JobPhase::Completed | JobPhase::Failed | JobPhase::Terminated
        );
        if !is_end || self.counts_pods() || !before.counts_pods() {
            return self;
        }
        let mut whole = Self::clone(&self);
        for task in &mut whole.tasks {
            let same = before.tasks.iter().find(|earlier| earlier.name == task.name);
            task.counts = same.and_then(|earlier| earlier.counts);
        }
        Arc::new(whole)
    }
}

impl Resource for SlimJob {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(&(): &()) -> Cow<'_, str> {
        "Job".into()
    }

    fn group(&(): &()) -> Cow<'_, str> {
        BATCH_GROUP.into()
    }

    fn version(&(): &()) -> Cow<'_, str> {
        VERSION.into()
    }

    fn plural(&(): &()) -> Cow<'_, str> {
        "jobs".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// What is read of the object; serde reads over the rest without building it.
#[derive(Deserialize)]
struct Raw {
    metadata: ObjectMeta,
    #[serde(default)]
    spec: RawSpec,
    #[serde(default)]
    status: Option<JobStatus>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawSpec {
    queue: Option<String>,
    min_available: Option<i32>,
    tasks: Option<Vec<RawTask>>,
    policies: Option<Vec<Policy>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawTask {
    name: Option<String>,
    replicas: Option<i32>,
    min_available: Option<i32>,
    policies: Option<Vec<Policy>>,
    partition_policy: Option<PartitionPolicy>,
}

impl From<Raw> for SlimJob {
    fn from(
        Raw {
            metadata,
            spec,
            status,
        }: Raw,
    ) -> Self {
        let RawSpec {
            queue,
            min_available,
            tasks,
            policies,
        } = spec;
        let tasks = tasks.unwrap_or_default();
        let aborts_itself =
            aborts(policies.as_deref()) || tasks.iter().any(|task| aborts(task.policies.as_deref()));
        let view = JobView::of(JobSpec {
            queue,
            min_available,
            tasks: Some(tasks.into_iter().map(RawTask::without_pods).collect()),
            ..JobSpec::default()
        });
        let JobStatus {
            state,
            min_available: counted_min_available,
            pending,
            running,
            succeeded,
            failed,
            terminating,
            unknown,
            version: _,
            retry_count,
            running_duration,
            conditions,
            task_status_count,
        } = status.unwrap_or_default();
        let JobState {
            phase,
            last_transition_time,
            reason: _,
            message: _,
        } = state.unwrap_or_default();
        let pods = task_status_count.unwrap_or_default();
        Self {
            metadata: trimmed(metadata, |key| KEPT.contains(&key)),
            queue: view.queue.into_boxed_str(),
            min_available: count(Some(view.min_available)),
            tasks: view
                .tasks
                .into_iter()
                .map(|task| SlimTask::of(task, &pods))
                .collect(),
            aborts_itself,
            phase: phase.unwrap_or_default(),
            changed: last_transition_time.as_ref().map(time),
            counted_min_available: counted_min_available.map(|least| count(Some(least))),
            pending: count(pending),
            running: count(running),
            succeeded: count(succeeded),
            failed: count(failed),
            terminating: count(terminating),
            unknown: count(unknown),
            retry_count: count(retry_count),
            running_duration: running_duration.map(String::into_boxed_str),
            history: history(conditions),
        }
    }
}

impl RawTask {
    fn without_pods(self) -> JobTask {
        JobTask {
            name: self.name,
            replicas: self.replicas,
            min_available: self.min_available,
            partition_policy: self.partition_policy,
            ..JobTask::default()
        }
    }
}

impl SlimTask {
    fn of(task: TaskView, pods: &BTreeMap<String, TaskState>) -> Self {
        let counts = pods.get(&task.name).map(TaskCounts::of);
        Self {
            counts,
            name: task.name.into_boxed_str(),
            replicas: count(Some(task.replicas)),
            min_available: count(Some(task.min_available)),
        }
    }
}

impl TaskCounts {
    fn of(state: &TaskState) -> Self {
        let of = |phase: &str| count(state.phase.as_ref().and_then(|phases| phases.get(phase).copied()));
        Self {
            pending: of("Pending"),
            running: of("Running"),
            succeeded: of("Succeeded"),
            failed: of("Failed"),
            unknown: of("Unknown"),
        }
    }
}

/// Whether one of the policies aborts the Job.
fn aborts(policies: Option<&[Policy]>) -> bool {
    policies
        .into_iter()
        .flatten()
        .any(|policy| policy.action.as_deref() == Some("AbortJob"))
}

/// A number of pods; what can't be one is none.
fn count(number: Option<i32>) -> u32 {
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

/// Volcano keeps one condition a phase; a status that somebody else filled is cut to as many.
fn history(conditions: Option<Vec<JobCondition>>) -> Box<[(JobPhase, Option<Time>)]> {
    const MOST: usize = 16;
    let conditions = conditions.unwrap_or_default();
    let surplus = conditions.len().saturating_sub(MOST);
    conditions
        .into_iter()
        .skip(surplus)
        .map(|condition| {
            let JobCondition {
                status,
                last_transition_time,
            } = condition;
            (
                status.unwrap_or_default(),
                last_transition_time.as_ref().map(time),
            )
        })
        .collect()
}
