//! The JobFlow object and its spec.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::control::{Cancel, JobRetain, JobRetainPolicy, Request};
use super::entry::Entry;
use super::parameter::Parameter;
use super::retry::Retry;
use super::schema;
use super::status::JobFlowStatus;
use super::task::FlowTask;

/// What a flow runs: entries, each of them a job, and the order between them.
///
/// At most one of `flows`, `tasks` and `flowTemplate` says what runs.
#[skip_serializing_none]
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "flow.volcano.sh",
    version = "v1alpha1",
    kind = "JobFlow",
    plural = "jobflows",
    singular = "jobflow",
    shortname = "jf",
    namespaced,
    status = "JobFlowStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A graph of Volcano Jobs.",
    printcolumn = r#"{"name":"Phase","type":"string","jsonPath":".status.state.phase"}"#,
    printcolumn = r#"{"name":"Progress","type":"string","jsonPath":".status.progress"}"#,
    printcolumn = r#"{"name":"Running","type":"integer","jsonPath":".status.summary.running"}"#,
    printcolumn = r#"{"name":"Failed","type":"integer","jsonPath":".status.summary.failed"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "!has(self.flowTemplate) || !(has(self.flows) || has(self.tasks))",
        "message": "flowTemplate excludes flows and tasks",
    },
    { "rule": "!(has(self.flows) && has(self.tasks))", "message": "at most one of flows and tasks" },
]))]
pub struct JobFlowSpec {
    /// The entries.
    #[schemars(
        length(max = 10000),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub flows: Option<Vec<Entry>>,
    /// What happens to jobs when the flow has succeeded; default `retain`.
    pub job_retain_policy: Option<JobRetainPolicy>,
    /// Start nothing new while true.
    pub suspend: Option<bool>,
    /// Beside `suspend`: stop running jobs too; they run again, as a free new attempt, on resume.
    pub suspend_running: Option<bool>,
    /// End the flow.
    pub cancel: Option<Cancel>,
    /// One-time actions, each done exactly once.
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"])
    )]
    pub requests: Option<Vec<Request>>,
    /// Most jobs of this flow alive at once.
    #[schemars(range(min = 1, max = 100000))]
    pub parallelism: Option<i64>,
    /// What a failure means for the rest; default `StopNew`.
    pub failure_policy: Option<FailurePolicy>,
    /// How long the flow may take.
    #[schemars(range(min = 1, max = 3153600000_i64))]
    pub active_deadline_seconds: Option<i64>,
    /// How long the entries of `finally` may take; default 3600.
    #[schemars(range(min = 1, max = 3153600000_i64))]
    pub finally_deadline_seconds: Option<i64>,
    /// Delete the flow, and so its jobs, that long after its end.
    #[schemars(range(min = 0, max = 3153600000_i64))]
    pub ttl_seconds_after_finished: Option<i64>,
    /// What happens to jobs at the end; overrides `jobRetainPolicy`.
    pub job_retain: Option<JobRetain>,
    /// The default of every entry's `retry`.
    pub retry: Option<Retry>,
    /// Take the spec of this JobFlowTemplate, with this flow's `arguments`.
    #[schemars(length(min = 1, max = 253), regex(pattern = schema::DNS_SUBDOMAIN))]
    pub flow_template: Option<String>,
    /// In place of `flows`: Volcano tasks, cut into the fewest jobs that keep their meaning.
    #[schemars(length(max = 1000))]
    pub tasks: Option<Vec<FlowTask>>,
    /// Values that whoever starts the flow may give.
    #[schemars(
        length(max = 256),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub parameters: Option<Vec<Parameter>>,
    /// Values of `parameters` by name.
    #[serde(default)]
    #[schemars(schema_with = "schema::any_map")]
    pub arguments: Option<BTreeMap<String, Value>>,
    /// Entries that run after all others have ended, whatever the outcome.
    #[schemars(
        length(max = 1000),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub finally: Option<Vec<Entry>>,
    /// Whether each attempt reads its template anew, or each template is frozen when first seen; default `Live`.
    pub template_binding: Option<TemplateBinding>,
    /// The queue of jobs whose patch and template set none.
    #[schemars(length(min = 1, max = 253))]
    pub queue: Option<String>,
    /// The priority class of jobs whose patch and template set none.
    #[schemars(length(min = 1, max = 253))]
    pub priority_class_name: Option<String>,
    /// A stopped job has ended only when its pods are gone.
    pub wait_for_pods_gone: Option<bool>,
}

/// What a failure means for the rest of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FailurePolicy {
    /// Nothing new is started; running jobs end by themselves.
    #[default]
    StopNew,
    /// The same, and live jobs are stopped.
    CancelAll,
    /// Nothing is held back.
    Continue,
}

/// When a template is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TemplateBinding {
    /// By each attempt anew.
    #[default]
    Live,
    /// Once: it is frozen when first seen.
    Snapshot,
}
