//! Values that go into a flow, and small ones that come out of its jobs.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::schema;

/// A value that whoever starts the flow may give.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Parameter {
    /// Its name in expressions: `params.<name>`.
    #[schemars(length(min = 1, max = 63), regex(pattern = schema::IDENTIFIER))]
    pub name: String,
    /// Its type; default `string`.
    #[serde(rename = "type")]
    pub value_type: Option<ValueType>,
    /// The value when no argument is given.
    #[serde(default)]
    #[schemars(schema_with = "schema::any")]
    pub default: Option<Value>,
    /// The only values that are allowed.
    #[serde(rename = "enum")]
    #[serde(default)]
    #[schemars(schema_with = "schema::any_list")]
    pub allowed: Option<Vec<Value>>,
    /// A regular expression that the whole text must match.
    #[schemars(length(max = 1024))]
    pub pattern: Option<String>,
    /// Whether an argument must be given.
    pub required: Option<bool>,
    /// What it is for.
    #[schemars(length(max = 4096))]
    pub description: Option<String>,
}

/// The type of a parameter or an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// Text.
    #[default]
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A JSON object.
    Object,
    /// A JSON array.
    Array,
}

/// A small value from the termination message of a pod; public by definition.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Its name in expressions: `nodes["<entry>"].outputs.<name>`.
    #[schemars(length(min = 1, max = 63), regex(pattern = schema::IDENTIFIER))]
    pub name: String,
    /// The task whose pods write it; may be left out when the job has one task.
    #[schemars(length(max = 63))]
    pub task: Option<String>,
    /// The pod's index (default 0), or `all` for the list of every pod's value.
    #[serde(default)]
    #[schemars(schema_with = "schema::int_or_string")]
    pub index: Option<IntOrString>,
    /// The field of the message, read as a JSON object; without it the whole message is the value.
    #[schemars(length(max = 253))]
    pub key: Option<String>,
    /// Its type; default `string`.
    #[serde(rename = "type")]
    pub value_type: Option<ValueType>,
    /// The value of a node that didn't succeed.
    #[serde(default)]
    #[schemars(schema_with = "schema::any")]
    pub default: Option<Value>,
    /// The only values that are allowed.
    #[serde(rename = "enum")]
    #[serde(default)]
    #[schemars(schema_with = "schema::any_list")]
    pub allowed: Option<Vec<Value>>,
    /// A regular expression that the whole text must match.
    #[schemars(length(max = 1024))]
    pub pattern: Option<String>,
    /// The longest text that is allowed.
    #[schemars(range(min = 1, max = 4096))]
    pub max_length: Option<i64>,
}
