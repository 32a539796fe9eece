//! One job an item.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::schema;

/// One job an item: exactly one of `items`, `itemsFrom`, `range` and `matrix` says which.
// The API server's rules don't see fields with values of any type: it refuses a definition whose rule names `items` or
// `matrix`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "!has(self.itemsFrom) || !has(self.range)",
        "message": "at most one of items, itemsFrom, range and matrix",
    },
]))]
pub struct ForEach {
    /// The items themselves.
    #[serde(default)]
    #[schemars(schema_with = "schema::any_list")]
    pub items: Option<Vec<Value>>,
    /// A CEL expression that gives the items; needs `maxItems`.
    #[schemars(length(max = 2048))]
    pub items_from: Option<String>,
    /// The most items that `itemsFrom` may give.
    #[schemars(range(min = 1, max = 1000))]
    pub max_items: Option<i64>,
    /// The items 0 to n-1.
    #[schemars(range(min = 0, max = 100000))]
    pub range: Option<i64>,
    /// All combinations of the values of each name; `exclude` takes combinations away, `include` adds some.
    #[serde(default)]
    #[schemars(schema_with = "schema::map_of_any_lists")]
    pub matrix: Option<BTreeMap<String, Vec<Value>>>,
    /// Most instances alive at once.
    #[schemars(range(min = 1, max = 100000))]
    pub parallelism: Option<i64>,
    /// How many instances must succeed: a number, or a percentage such as `80%`; default all.
    #[serde(default)]
    #[schemars(schema_with = "schema::int_or_string")]
    pub min_succeeded: Option<IntOrString>,
    /// What happens to the rest once the group's end is decided; default `Keep`.
    pub rest: Option<Rest>,
}

/// What happens to the rest of a group once its end is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Rest {
    /// They run to their end.
    #[default]
    Keep,
    /// They are stopped or skipped.
    Cancel,
}
