//! When a failed job is tried again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// When a failed job is tried again, and how often.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// Attempts after the first; default 0.
    #[schemars(range(min = 0, max = 1000))]
    pub limit: Option<i64>,
    /// Attempts after losses that are not the program's (evictions, lost nodes), spent before `limit`; default 0.
    #[schemars(range(min = 0, max = 1000))]
    pub infrastructure_limit: Option<i64>,
    /// How long to wait before the next attempt.
    pub backoff: Option<Backoff>,
    /// Which ends are tried again; elements are joined by or, fields inside by and; without it: failed, terminated
    /// and timed out.
    #[schemars(length(max = 64))]
    pub on: Option<Vec<RetryOn>>,
}

/// How long to wait before the next attempt.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backoff {
    /// Before the second attempt; default 10.
    #[schemars(range(min = 0, max = 3153600000_i64))]
    pub initial_seconds: Option<i64>,
    /// Each further wait, in percent of the one before; default 200.
    #[schemars(range(min = 100, max = 10000))]
    pub factor_percent: Option<i64>,
    /// The longest wait; default 600.
    #[schemars(range(min = 0, max = 3153600000_i64))]
    pub max_seconds: Option<i64>,
    /// How far a wait may be drawn at random from its length, in percent; default 10.
    #[schemars(range(min = 0, max = 100))]
    pub jitter_percent: Option<i64>,
}

/// An end that is tried again.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryOn {
    /// The exit code is one of these.
    #[schemars(length(min = 1, max = 256))]
    pub exit_codes: Option<Vec<i32>>,
    /// The node's or a container's reason is one of these.
    #[schemars(length(min = 1, max = 64), inner(length(max = 128)))]
    pub reasons: Option<Vec<String>>,
    /// The Job's phase is one of these.
    #[schemars(length(min = 1, max = 16), inner(length(max = 32)))]
    pub phases: Option<Vec<String>>,
}
