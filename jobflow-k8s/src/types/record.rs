//! The record of a flow: whatever would be decided otherwise after a restart.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::instant::Instant;
use super::schema;

/// The phases of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FlowPhase {
    /// Nothing was submitted yet.
    #[default]
    Pending,
    /// Some node hasn't ended.
    Running,
    /// Ended well; Volcano's spelling.
    Succeed,
    /// Ended, not well.
    Failed,
    /// Is being stopped.
    Terminating,
}

/// The phases of a node.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum NodePhase {
    /// Its dependencies have no verdict yet.
    #[default]
    Waiting,
    /// Ready, but held back.
    Blocked,
    /// Its Job is about to be created.
    Submitting,
    /// Its Job waits for pods.
    Queued,
    /// Its Job runs.
    Running,
    /// Its Job is being stopped.
    Stopping,
    /// Waits for its next attempt.
    BackingOff,
    /// Its Job was stopped and may be resumed.
    Paused,
    /// Ended well.
    Succeeded,
    /// Ended, not well.
    Failed,
    /// Never ran.
    Skipped,
    /// Was stopped.
    Cancelled,
}

/// How many nodes are in each phase.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// All nodes.
    pub total: Option<i64>,
    /// Waiting.
    pub waiting: Option<i64>,
    /// Blocked.
    pub blocked: Option<i64>,
    /// Submitting.
    pub submitting: Option<i64>,
    /// Queued.
    pub queued: Option<i64>,
    /// Running.
    pub running: Option<i64>,
    /// Stopping.
    pub stopping: Option<i64>,
    /// Backing off.
    pub backing_off: Option<i64>,
    /// Paused.
    pub paused: Option<i64>,
    /// Succeeded.
    pub succeeded: Option<i64>,
    /// Failed.
    pub failed: Option<i64>,
    /// Skipped.
    pub skipped: Option<i64>,
    /// Cancelled.
    pub cancelled: Option<i64>,
}

/// What became of a request.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestRecord {
    /// The request's id.
    pub id: String,
    /// Whether it was done.
    pub result: RequestResult,
    /// Why not, or what was done.
    pub message: Option<String>,
    /// When.
    pub time: Option<Instant>,
    /// Who asked, as claimed.
    pub by: Option<String>,
}

/// Whether a request was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RequestResult {
    /// It was done.
    Done,
    /// It made no sense.
    Refused,
}

/// What is recorded of a node.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeRecord {
    /// The entry's name.
    pub name: String,
    /// The phase; left out for `Waiting`.
    pub phase: Option<NodePhase>,
    /// Why, in one word; left out on success.
    pub reason: Option<String>,
    /// Why, in a sentence.
    pub message: Option<String>,
    /// The node that is the reason.
    pub cause: Option<Cause>,
    /// The attempt, counted from 1; left out where it is the usual one: none of a node that waits, is blocked or was
    /// skipped, else the first.
    pub attempt: Option<i64>,
    /// The Job's name, if it isn't `<flow>-<entry>`.
    pub job: Option<String>,
    /// The Job's UID, while it lives.
    pub uid: Option<String>,
    /// The digest of the entry that the attempt was made from; of an ended node only if the entry was edited since.
    pub entry_hash: Option<String>,
    /// The template that the attempt was made from, while it lives.
    pub template: Option<TemplateRecord>,
    /// When the first attempt started; of an ended node only if an expression reads it.
    pub start_time: Option<Instant>,
    /// When the node ended; left out if it never started.
    pub finish_time: Option<Instant>,
    /// The exit code of the first container that ended non-zero.
    pub exit_code: Option<i64>,
    /// Since when a pod is known to have run, over all attempts.
    pub started_since: Option<Instant>,
    /// Since when the gang of this attempt is known to have run.
    pub ran_since: Option<Instant>,
    /// Whether a pod ever ran, of a node that ended without success; left out if its reason tells.
    pub started: Option<bool>,
    /// Whether the gang of the last attempt ran, of a node that ended without success; left out if its reason tells.
    pub ran: Option<bool>,
    /// How many pods the Job needs to run, while it lives; left out for 1.
    pub min_available: Option<i64>,
    /// Whether the attempt ended without its Job ever having been seen; one that turns up late is deleted.
    pub jobless: Option<bool>,
    /// Pods by task.
    pub tasks: Option<BTreeMap<String, TaskRecord>>,
    /// The node's outputs.
    #[serde(default)]
    #[schemars(schema_with = "schema::any_map")]
    pub outputs: Option<BTreeMap<String, Value>>,
    /// Conditions of targets that have held.
    pub held: Option<Vec<Held>>,
    /// Why the node is being stopped.
    pub stop: Option<Stop>,
    /// When the next attempt starts.
    pub next_retry_time: Option<Instant>,
    /// Attempts that were spent.
    pub retries: Option<Retries>,
    /// What `when` and `switch` came to.
    pub decided: Option<Decided>,
    /// The items of a group, pinned.
    pub items: Option<Items>,
    /// Instances of a group by phase, as index sets such as `0-41,43`.
    pub instances: Option<BTreeMap<String, String>>,
    /// Instances of a group that live, in full.
    pub live: Option<Vec<InstanceRecord>>,
    /// Who approved, and when.
    pub approval: Option<ApprovalRecord>,
    /// Clocks of the node by name.
    pub clocks: Option<BTreeMap<String, Clock>>,
    /// What the node waits for.
    pub waiting_for: Option<Vec<String>>,
    /// Attempts before this one; bounded.
    pub attempts: Option<Vec<AttemptRecord>>,
}

/// What is recorded of an instance of a group while it lives.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceRecord {
    /// Its index.
    pub index: i64,
    /// The phase.
    pub phase: Option<NodePhase>,
    /// Why, in one word.
    pub reason: Option<String>,
    /// Why, in a sentence.
    pub message: Option<String>,
    /// The attempt, counted from 1; left out for the first.
    pub attempt: Option<i64>,
    /// The Job's UID.
    pub uid: Option<String>,
    /// The digest of the entry that the attempt was made from.
    pub entry_hash: Option<String>,
    /// The template that the attempt was made from.
    pub template: Option<TemplateRecord>,
    /// When the attempt started.
    pub start_time: Option<Instant>,
    /// Why the instance is being stopped.
    pub stop: Option<Stop>,
    /// When the next attempt starts.
    pub next_retry_time: Option<Instant>,
    /// Attempts that were spent.
    pub retries: Option<Retries>,
    /// Clocks of the instance by name.
    pub clocks: Option<BTreeMap<String, Clock>>,
}

/// The node that is the reason of an end.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// The node.
    pub node: Option<String>,
    /// Its reason; left out if it is the one in that node's record.
    pub reason: Option<String>,
}

/// The template that an attempt was made from.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateRecord {
    /// Its UID.
    pub uid: Option<String>,
    /// Its generation.
    pub generation: Option<i64>,
}

/// The pods of a task; what is left out is 0.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRecord {
    /// How many pods the task has.
    pub replicas: Option<i64>,
    /// Not running yet.
    pub pending: Option<i64>,
    /// Running.
    pub running: Option<i64>,
    /// Of those running, how many are ready.
    pub ready: Option<i64>,
    /// Succeeded.
    pub succeeded: Option<i64>,
    /// Failed.
    pub failed: Option<i64>,
}

/// A condition of a target that has held.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// The target.
    pub target: String,
    /// Which of the rules on it; left out for the first.
    pub rule: Option<i64>,
    /// Its attempt, to which this is bound; left out for the first.
    pub attempt: Option<i64>,
    /// Since when.
    pub since: Option<Instant>,
}

/// A stop that was recorded before its effect.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stop {
    /// Why.
    pub cause: Option<String>,
    /// Since when.
    pub since: Option<Instant>,
}

/// Attempts that were spent.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retries {
    /// On failures of the program.
    pub program: Option<i64>,
    /// On losses that are not the program's.
    pub infrastructure: Option<i64>,
}

/// What `when` and `switch` came to.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The value of `when`.
    pub when: Option<bool>,
    /// The index of the case that matched; -1 for the default.
    pub case: Option<i64>,
}

/// The items of a group, pinned.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Items {
    /// How many.
    pub count: Option<i64>,
    /// Their digest.
    pub digest: Option<String>,
}

/// Who approved, and when.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRecord {
    /// Who, as claimed.
    pub by: Option<String>,
    /// When.
    pub at: Option<Instant>,
}

/// A clock that can stand still.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Clock {
    /// When it started.
    pub start: Option<Instant>,
    /// How long it stood still, in whole seconds; what is left is added to the start.
    pub held_seconds: Option<i64>,
    /// Since when it stands still.
    pub held_since: Option<Instant>,
}

/// An attempt before the present one.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRecord {
    /// Its number, counted from 1.
    pub attempt: Option<i64>,
    /// How it ended.
    pub reason: Option<String>,
    /// The exit code of the first container that ended non-zero.
    pub exit_code: Option<i64>,
    /// When it started.
    pub start_time: Option<Instant>,
    /// When it ended.
    pub finish_time: Option<Instant>,
}
