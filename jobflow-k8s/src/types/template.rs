//! Templates of jobs and of flows.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use super::flow::JobFlowSpec;
use super::job::JobSpec;

/// The spec of a Volcano Job, kept as its author wrote it.
///
/// In the CRD its known fields are typed.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "flow.volcano.sh",
    version = "v1alpha1",
    kind = "JobTemplate",
    plural = "jobtemplates",
    singular = "jobtemplate",
    shortname = "jt",
    namespaced,
    status = "JobTemplateStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "The spec of a Volcano Job, to be used by entries of flows.",
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(transparent)]
#[schemars(with = "JobSpec")]
pub struct JobTemplateSpec(pub Map<String, Value>);

/// What is known about the use of a template.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobTemplateStatus {
    /// Names of Jobs made from it, the newest first; bounded.
    pub job_depends_on_list: Option<Vec<String>>,
}

/// The spec of a flow, to be used by `spec.flowTemplate` or as a nested flow.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "flow.volcano.sh",
    version = "v1alpha1",
    kind = "JobFlowTemplate",
    plural = "jobflowtemplates",
    singular = "jobflowtemplate",
    shortname = "jft",
    namespaced,
    status = "JobFlowTemplateStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "The spec of a JobFlow, to be used by other flows.",
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(transparent)]
#[schemars(with = "JobFlowSpec")]
pub struct JobFlowTemplateSpec(pub JobFlowSpec);

/// Nothing is recorded about the use of a flow's template yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobFlowTemplateStatus {}
