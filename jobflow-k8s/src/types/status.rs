//! The status of a flow: Volcano's part, kept for tools that read it, and ours.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::instant::Instant;
use super::record::{Cause, Clock, FlowPhase, NodeRecord, RequestRecord, Stop, Summary};

/// What is known about a flow. Written by the controller only.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobFlowStatus {
    /// Jobs that wait for their pods.
    pub pending_jobs: Option<Vec<String>>,
    /// Jobs that run.
    pub running_jobs: Option<Vec<String>>,
    /// Jobs that failed or were deleted.
    pub failed_jobs: Option<Vec<String>>,
    /// Jobs that ended well.
    pub completed_jobs: Option<Vec<String>>,
    /// Jobs that were ended.
    pub terminated_jobs: Option<Vec<String>>,
    /// Jobs that were stopped; Volcano's spelling.
    #[serde(rename = "unKnowJobs")]
    pub unknown_jobs: Option<Vec<String>>,
    /// Jobs with their phases and times.
    pub job_status_list: Option<Vec<JobStatusEntry>>,
    /// Phases by the name of the Job; not the standard conditions, see `flowConditions`.
    pub conditions: Option<BTreeMap<String, JobConditionEntry>>,
    /// The phase of the flow.
    pub state: Option<FlowState>,

    /// The generation of the spec that this status is about.
    pub observed_generation: Option<i64>,
    /// Ended and all nodes, as `done/total`.
    pub progress: Option<String>,
    /// When the flow was accepted.
    pub start_time: Option<Instant>,
    /// When the flow ended.
    pub completion_time: Option<Instant>,
    /// Nodes by phase.
    pub summary: Option<Summary>,
    /// `Accepted`, `Progressing`, `Suspended`, `Failing`, `EditPending`, `Complete`, `Failed`, `StatusTruncated`.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub flow_conditions: Option<Vec<Condition>>,
    /// What became of requests.
    pub requests: Option<Vec<RequestRecord>>,
    /// What is recorded of each node; nothing that is default or can be derived.
    pub nodes: Option<Vec<NodeRecord>>,
    /// Why the flow is being stopped.
    pub stop: Option<Stop>,
    /// Clocks of the flow by name.
    pub clocks: Option<BTreeMap<String, Clock>>,
    /// The digest of the arguments that the flow started with.
    pub arguments_digest: Option<String>,
    /// The first cause of the flow's end.
    pub cause: Option<Cause>,
    /// When everything outside `finally` had ended.
    pub finally_since: Option<Instant>,
    /// Whether the record was rebuilt after it was lost.
    pub ledger_lost: Option<bool>,
}

/// The phase of a flow.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowState {
    /// The phase.
    pub phase: Option<FlowPhase>,
}

/// A Job of the flow.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobStatusEntry {
    /// The Job's name.
    pub name: Option<String>,
    /// Its phase.
    pub state: Option<String>,
    /// When it was created.
    pub start_timestamp: Option<Time>,
    /// When it ended.
    pub end_timestamp: Option<Time>,
    /// How often it was restarted.
    pub restart_count: Option<i32>,
    /// Its phases in the past; bounded.
    pub running_histories: Option<Vec<JobRunningHistory>>,
}

/// A phase of a Job in the past.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobRunningHistory {
    /// When it began.
    pub start_timestamp: Option<Time>,
    /// When it ended.
    pub end_timestamp: Option<Time>,
    /// The phase.
    pub state: Option<String>,
}

/// The phase of a Job, with its counts.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobConditionEntry {
    /// The phase.
    pub phase: Option<String>,
    /// When the Job was created.
    pub create_time: Option<Time>,
    /// How long it ran.
    pub running_duration: Option<String>,
    /// Its pods by task and phase.
    pub task_status_count: Option<BTreeMap<String, super::job::TaskState>>,
}
