//! Tasks of a flow that is written as one list of Volcano tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use super::dependency::Condition;

/// A Volcano task whose `dependsOn` says what it waits for; the rest of its fields are carried as data.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowTask {
    /// The task's name.
    #[schemars(length(max = 63))]
    pub name: Option<String>,
    /// What the task waits for.
    pub depends_on: Option<FlowTaskDependsOn>,
    /// The other fields of a Volcano task.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What a task waits for.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowTaskDependsOn {
    /// Names of tasks.
    #[schemars(length(max = 1000), inner(length(max = 63)))]
    pub name: Option<Vec<String>>,
    /// Whether all of them are waited for or any; default `all`.
    pub iteration: Option<super::job::Iteration>,
    /// What they must have reached; default as Volcano: enough pods succeeded, or running with all containers ready.
    pub condition: Option<Condition>,
}
