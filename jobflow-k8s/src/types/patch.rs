//! How an entry changes its template.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::untyped::JobSpecData;

/// How an entry changes its template: a strategic merge.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// What is merged over the template's spec: tasks and containers by name, volumes of the Job by mount path.
    pub job_spec: Option<JobSpecData>,
    /// Paths to take away, such as `tasks[main].template.spec.containers[main].resources`.
    #[schemars(length(max = 1000), inner(length(max = 1024)))]
    pub remove: Option<Vec<String>>,
    /// Whether tasks and containers that the template lacks may be added.
    pub allow_new: Option<bool>,
    /// Labels of the Job.
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations of the Job.
    pub annotations: Option<BTreeMap<String, String>>,
}
