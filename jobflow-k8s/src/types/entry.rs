//! An entry of a flow.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::dependency::DependsOn;
use super::group::ForEach;
use super::parameter::Output;
use super::patch::Patch;
use super::retry::Retry;
use super::schema;
use super::untyped::JobSpecData;

/// An entry of `flows` or `finally`: what runs, after what, and how.
///
/// At most one of `template`, `jobSpec`, `flow` and `switch` says what runs; none means the template of the same name.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "(has(self.template) ? 1 : 0) + (has(self.jobSpec) ? 1 : 0) + (has(self.flow) ? 1 : 0) + (has(self.switch) ? 1 : 0) <= 1",
        "message": "at most one of template, jobSpec, flow and switch",
    },
]))]
pub struct Entry {
    /// The entry's name, unique over `flows` and `finally`.
    #[schemars(length(min = 1, max = 63), regex(pattern = schema::DNS_SUBDOMAIN))]
    pub name: String,
    /// What the entry waits for.
    pub depends_on: Option<DependsOn>,
    /// How the template is changed.
    pub patch: Option<Patch>,
    /// The name of the JobTemplate; default the entry's own.
    #[schemars(length(min = 1, max = 253), regex(pattern = schema::DNS_SUBDOMAIN))]
    pub template: Option<String>,
    /// The spec of the Job, in place of a template.
    pub job_spec: Option<JobSpecData>,
    /// A flow inside this one.
    pub flow: Option<FlowCall>,
    /// A gate without a job, which decides which other entries run.
    pub switch: Option<Switch>,
    /// A CEL condition; when false the entry is skipped.
    #[schemars(length(max = 2048))]
    pub when: Option<String>,
    /// One job an item.
    pub for_each: Option<ForEach>,
    /// When a failed job is tried again.
    pub retry: Option<Retry>,
    /// How long the job may take.
    #[schemars(range(min = 1, max = 3153600000_i64))]
    pub timeout_seconds: Option<i64>,
    /// Whether `timeoutSeconds` is for each attempt or for all together; default `Attempt`.
    pub timeout_scope: Option<TimeoutScope>,
    /// Whether the entry's own failure is excused, for its dependents and the flow.
    pub allow_failure: Option<bool>,
    /// What a benignly skipped target means for this entry; default `Propagate`.
    pub on_skipped: Option<OnSkipped>,
    /// Small values that the job hands on.
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub outputs: Option<Vec<Output>>,
    /// A person's approval, asked after `when`.
    pub approval: Option<Approval>,
}

/// A flow inside a flow.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowCall {
    /// The name of the JobFlowTemplate.
    #[schemars(length(min = 1, max = 253), regex(pattern = schema::DNS_SUBDOMAIN))]
    pub template: String,
    /// Values of its parameters.
    #[serde(default)]
    #[schemars(schema_with = "schema::any_map")]
    pub arguments: Option<BTreeMap<String, Value>>,
}

/// A gate without a job.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Switch {
    /// A CEL expression whose value is compared with the cases.
    #[schemars(length(min = 1, max = 2048))]
    pub on: String,
    /// The cases; the first match wins.
    #[schemars(length(max = 256))]
    pub cases: Option<Vec<SwitchCase>>,
    /// Entries that run when no case matches.
    #[schemars(length(max = 1000), inner(length(max = 63)))]
    pub default: Option<Vec<String>>,
}

/// One case of a switch.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SwitchCase {
    /// The value that chooses this case.
    #[schemars(schema_with = "schema::any")]
    pub value: Value,
    /// Entries that run when it is chosen.
    #[schemars(length(max = 1000), inner(length(max = 63)))]
    pub then: Option<Vec<String>>,
}

/// What a time limit counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TimeoutScope {
    /// Each attempt, from the creation of its Job.
    #[default]
    Attempt,
    /// All attempts, queueing and waiting included.
    Node,
}

/// What a benignly skipped target means for an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OnSkipped {
    /// The entry is skipped too.
    #[default]
    Propagate,
    /// The target is left out.
    Satisfy,
}

/// A person's approval before an entry starts.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// What is asked.
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
    /// How long to wait for an answer; without it for ever.
    #[schemars(range(min = 1, max = 3153600000_i64))]
    pub timeout_seconds: Option<i64>,
    /// What happens then; default `Reject`.
    pub on_timeout: Option<OnTimeout>,
}

/// What happens when nobody answered in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OnTimeout {
    /// The node fails.
    #[default]
    Reject,
    /// The node starts.
    Approve,
    /// The node is skipped.
    Skip,
}
