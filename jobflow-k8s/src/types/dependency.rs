//! What an entry waits for.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::probe::{HttpGet, TaskStatus, TcpSocket};
use super::schema;

/// What an entry waits for; absent, null, `{}` and `targets: []` all mean: nothing.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DependsOn {
    /// Names of the entries that are waited for.
    #[schemars(length(max = 10000), inner(length(max = 63)))]
    pub targets: Option<Vec<String>>,
    /// Probes of the targets; each applies to every target that has a task of its `taskName`.
    pub probe: Option<DependsOnProbe>,
    /// What each of `targets` must have reached; default `Completed`, or `Started` when the entry has a `probe`.
    pub condition: Option<Condition>,
    /// Conditions of single targets, in place of `condition`; several on one target are joined by and.
    #[schemars(length(max = 10000))]
    pub rules: Option<Vec<Rule>>,
    /// How targets are combined; default `All`.
    pub strategy: Option<Strategy>,
    /// How many targets must hold under `strategy: AtLeast`: a number, or a percentage such as `80%`.
    #[serde(default)]
    #[schemars(schema_with = "schema::int_or_string")]
    pub at_least: Option<IntOrString>,
    /// Predicates of kinds that the embedding program registered.
    #[schemars(length(max = 64))]
    pub custom: Option<Vec<Custom>>,
}

/// What a target must have reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Condition {
    /// Succeeded, or failed with `allowFailure`.
    #[default]
    Completed,
    /// Some pod ever ran.
    Started,
    /// Enough pods run or have succeeded.
    Running,
    /// Enough pods are ready or have succeeded.
    Ready,
    /// Failed, for whatever reason.
    Failed,
    /// Ended, in whatever way.
    Finished,
}

/// How the targets of an entry are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Strategy {
    /// Every target must hold.
    #[default]
    All,
    /// One target must hold.
    Any,
    /// `atLeast` targets must hold.
    AtLeast,
}

/// A condition on one target.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The entry that is waited for.
    #[schemars(length(min = 1, max = 63))]
    pub target: String,
    /// What it must have reached; with `task`, what that task's pods must have reached.
    pub condition: Option<RuleCondition>,
    /// A task of the target, whose pods are counted.
    #[schemars(length(max = 63))]
    pub task: Option<String>,
    /// How many pods: a number, or a percentage such as `80%`.
    #[serde(default)]
    #[schemars(schema_with = "schema::int_or_string")]
    pub at_least: Option<IntOrString>,
    /// How many instances of a group: a number, or a percentage such as `80%`.
    #[serde(default)]
    #[schemars(schema_with = "schema::int_or_string")]
    pub instances: Option<IntOrString>,
    /// How long after the condition began to hold.
    #[schemars(range(min = 0, max = 3153600000_i64))]
    pub delay_seconds: Option<i64>,
    /// Instance i waits for instance i of the target.
    pub pairwise: Option<bool>,
}

/// What a single target, or with `task` a task's pods, must have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RuleCondition {
    /// The target succeeded (or failed with `allowFailure`); of a task: its pods succeeded.
    Completed,
    /// Some pod ever ran.
    Started,
    /// Enough pods run or have succeeded.
    Running,
    /// Enough pods are ready or have succeeded.
    Ready,
    /// Failed.
    Failed,
    /// Ended, in whatever way.
    Finished,
    /// Only with `task`: pods are pending.
    Pending,
    /// Only with `task`: pods succeeded.
    Succeeded,
}

/// What a task's pods must have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PodCondition {
    /// Pending.
    Pending,
    /// Running, or succeeded.
    Running,
    /// Succeeded.
    Succeeded,
    /// Failed.
    Failed,
    /// Ever ran.
    Started,
    /// Ready, or succeeded.
    Ready,
    /// Succeeded or failed.
    Finished,
}

impl RuleCondition {
    /// The condition of a whole target; none for those that only speak of pods.
    #[must_use]
    pub const fn of_target(self) -> Option<Condition> {
        match self {
            Self::Completed => Some(Condition::Completed),
            Self::Started => Some(Condition::Started),
            Self::Running => Some(Condition::Running),
            Self::Ready => Some(Condition::Ready),
            Self::Failed => Some(Condition::Failed),
            Self::Finished => Some(Condition::Finished),
            Self::Pending | Self::Succeeded => None,
        }
    }

    /// The condition of a task's pods.
    #[must_use]
    pub const fn of_pods(self) -> PodCondition {
        match self {
            Self::Completed | Self::Succeeded => PodCondition::Succeeded,
            Self::Started => PodCondition::Started,
            Self::Running => PodCondition::Running,
            Self::Ready => PodCondition::Ready,
            Self::Failed => PodCondition::Failed,
            Self::Finished => PodCondition::Finished,
            Self::Pending => PodCondition::Pending,
        }
    }
}

/// A predicate that the embedding program registered.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Custom {
    /// The registered kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// The entry that it looks at.
    #[schemars(length(max = 63))]
    pub target: Option<String>,
    /// Its arguments, as the kind defines them.
    #[serde(default)]
    #[schemars(schema_with = "schema::any")]
    pub args: Option<Value>,
}

/// The probes of an entry's targets, and how they are tuned.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DependsOnProbe {
    /// HTTP requests that must be answered with 2xx or 3xx.
    #[schemars(length(max = 64))]
    pub http_get_list: Option<Vec<HttpGet>>,
    /// Ports that must accept a connection.
    #[schemars(length(max = 64))]
    pub tcp_socket_list: Option<Vec<TcpSocket>>,
    /// Phases that tasks must have reached.
    #[schemars(length(max = 64))]
    pub task_status_list: Option<Vec<TaskStatus>>,
    /// Seconds between two looks; default 10.
    #[schemars(range(min = 1, max = 86400))]
    pub period_seconds: Option<i64>,
    /// Seconds until a look has failed; default 1.
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_seconds: Option<i64>,
    /// How many looks in a row must succeed; default 1.
    #[schemars(range(min = 1, max = 1000))]
    pub success_threshold: Option<i64>,
    /// The scheme of `httpGetList`; default `HTTP`.
    pub scheme: Option<ProbeScheme>,
    /// Whether all running replicas must answer or any; default `All`.
    pub replicas: Option<ProbeReplicas>,
}

/// The scheme of an HTTP probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ProbeScheme {
    /// Plain HTTP.
    #[default]
    Http,
    /// HTTP over TLS; the certificate is not checked.
    Https,
}

/// Which replicas must answer a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProbeReplicas {
    /// All that run.
    #[default]
    All,
    /// One of those that run.
    Any,
}
