//! Volcano's Job, as far as it is read, and the known fields of its spec.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use super::schema;

/// The known fields of a Job's spec, all optional, as read; unknown ones stay in the data beside it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct JobSpec {
    /// The scheduler of the pods.
    pub scheduler_name: Option<String>,
    /// How many pods must run at least; 0: the sum of the tasks'.
    pub min_available: Option<i32>,
    /// How many pods must succeed for the Job to be Completed.
    #[schemars(range(min = 1))]
    pub min_success: Option<i32>,
    /// Volumes that every pod gets.
    pub volumes: Option<Vec<JobVolume>>,
    /// The tasks.
    pub tasks: Option<Vec<JobTask>>,
    /// What is done on events of the Job.
    pub policies: Option<Vec<Policy>>,
    /// Plugins by name, with their arguments.
    pub plugins: Option<BTreeMap<String, Option<Vec<String>>>>,
    /// How long the Job is expected to run.
    pub running_estimate: Option<String>,
    /// The queue.
    pub queue: Option<String>,
    /// How often the Job is restarted before it fails; 0: 3.
    pub max_retry: Option<i32>,
    /// The controller of flows deletes the Job that long after its recorded end.
    pub ttl_seconds_after_finished: Option<i32>,
    /// The priority class.
    pub priority_class_name: Option<String>,
    /// How close in the network the pods must be.
    pub network_topology: Option<NetworkTopology>,
}

/// A volume that every pod of a Job gets.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobVolume {
    /// Where it is mounted.
    pub mount_path: Option<String>,
    /// The name of its claim.
    pub volume_claim_name: Option<String>,
    /// The claim that is made for it.
    #[serde(default)]
    #[schemars(schema_with = "schema::untyped_object")]
    pub volume_claim: Option<Value>,
}

/// A task of a Job.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct JobTask {
    /// The task's name; `default<i>` without.
    pub name: Option<String>,
    /// How many pods.
    pub replicas: Option<i32>,
    /// How many of them must run at least.
    pub min_available: Option<i32>,
    /// The pod template.
    #[serde(default)]
    #[schemars(schema_with = "schema::pod_template")]
    pub template: Option<Map<String, Value>>,
    /// What is done on events of the task.
    pub policies: Option<Vec<Policy>>,
    /// How the pods are placed on the NUMA nodes of a machine.
    pub topology_policy: Option<TopologyPolicy>,
    /// How often a pod of the task is restarted; 0: 3.
    pub max_retry: Option<i32>,
    /// Tasks of the same Job that must run or have succeeded first.
    pub depends_on: Option<TaskDependsOn>,
    /// How the pods are cut into parts.
    pub partition_policy: Option<PartitionPolicy>,
}

/// What is done on an event, or when a pod ends with an exit code.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// What is done.
    pub action: Option<String>,
    /// On which event.
    pub event: Option<String>,
    /// On which events.
    pub events: Option<Vec<String>>,
    /// On which exit code.
    pub exit_code: Option<i32>,
    /// How long after the event.
    pub timeout: Option<String>,
}

/// What a task of a Job waits for.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskDependsOn {
    /// Names of tasks of the same Job.
    pub name: Option<Vec<String>>,
    /// Whether all of them are waited for or any; default `all`.
    pub iteration: Option<Iteration>,
}

/// Whether all tasks are waited for or any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Iteration {
    /// All of them.
    #[default]
    All,
    /// Any of them.
    Any,
}

/// How pods are placed on the NUMA nodes of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyPolicy {
    /// No wish.
    None,
    /// As close as possible.
    BestEffort,
    /// Close, or not at all.
    Restricted,
    /// On one NUMA node, or not at all.
    SingleNumaNode,
}

/// How the pods of a task are cut into parts.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionPolicy {
    /// How many parts.
    pub total_partitions: Option<i32>,
    /// How many pods a part.
    pub partition_size: Option<i32>,
    /// How many parts must run at least.
    pub min_partitions: Option<i32>,
    /// How close in the network the pods of a part must be.
    pub network_topology: Option<NetworkTopology>,
}

/// How close in the network pods must be.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkTopology {
    /// Whether it must be or should be.
    pub mode: Option<NetworkTopologyMode>,
    /// The highest tier that is allowed.
    pub highest_tier_allowed: Option<i64>,
    /// The name of the highest tier that is allowed.
    pub highest_tier_name: Option<String>,
}

/// Whether a network topology must be or should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkTopologyMode {
    /// It must be.
    Hard,
    /// It should be.
    Soft,
}

/// The spec of a Job as data: what is created is never read back through a type.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "batch.volcano.sh",
    version = "v1alpha1",
    kind = "Job",
    plural = "jobs",
    singular = "job",
    shortname = "vcjob",
    shortname = "vj",
    namespaced,
    status = "JobStatus",
    derive = "PartialEq",
    derive = "Default",
    schema = "disabled",
    doc = "Volcano's Job."
)]
#[serde(transparent)]
pub struct VolcanoJobSpec(pub Map<String, Value>);

/// The status of a Job, as Volcano writes it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobStatus {
    /// The phase, and since when.
    pub state: Option<JobState>,
    /// The `minAvailable` that counted.
    pub min_available: Option<i32>,
    /// Pods that are pending.
    pub pending: Option<i32>,
    /// Pods that run.
    pub running: Option<i32>,
    /// Pods that succeeded.
    pub succeeded: Option<i32>,
    /// Pods that failed.
    pub failed: Option<i32>,
    /// Pods that are going away.
    pub terminating: Option<i32>,
    /// Pods about which nothing is known.
    pub unknown: Option<i32>,
    /// Raised by each restart.
    pub version: Option<i32>,
    /// Restarts, resumes included.
    pub retry_count: Option<i32>,
    /// How long the Job ran; written at the end.
    pub running_duration: Option<String>,
    /// The last few changes of phase.
    pub conditions: Option<Vec<JobCondition>>,
    /// Pods by task and phase.
    pub task_status_count: Option<BTreeMap<String, TaskState>>,
}

/// The phase of a Job.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobState {
    /// The phase; empty before Volcano looked at the Job.
    pub phase: Option<JobPhase>,
    /// Always empty, as Volcano is today.
    pub reason: Option<String>,
    /// Always empty, as Volcano is today.
    pub message: Option<String>,
    /// Since when.
    pub last_transition_time: Option<Time>,
}

/// A change of phase in the past.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobCondition {
    /// The phase.
    pub status: Option<JobPhase>,
    /// Since when.
    pub last_transition_time: Option<Time>,
}

/// Pods of a task by phase.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskState {
    /// Counts by the phase of the pods.
    pub phase: Option<BTreeMap<String, i32>>,
}

/// The phases of a Job; whatever else a server may send one day is `Unknown`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum JobPhase {
    /// Volcano hasn't looked at the Job yet.
    #[default]
    #[serde(rename = "")]
    New,
    /// Waits for its pods.
    Pending,
    /// Enough pods run.
    Running,
    /// Pods are being replaced.
    Restarting,
    /// Ends well; pods are going away.
    Completing,
    /// Ended well.
    Completed,
    /// Is being ended.
    Terminating,
    /// Was ended.
    Terminated,
    /// Is being stopped.
    Aborting,
    /// Was stopped; may be resumed.
    Aborted,
    /// Failed.
    Failed,
    /// None of the phases that are known.
    #[serde(other, skip_serializing)]
    #[schemars(skip)]
    Unknown,
}
