//! What a person says to a running flow: cancel, requests, and what is kept after the end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// Ends the flow: live jobs are stopped, nothing new is started.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// `Graceful` (default) still runs the entries of `finally`, `Now` doesn't.
    pub mode: Option<CancelMode>,
    /// Why, in the words of the person who cancels.
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
}

/// Whether a cancelled flow still runs its `finally`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CancelMode {
    /// Entries of `finally` still run.
    #[default]
    Graceful,
    /// Everything is stopped.
    Now,
}

/// A one-time action, done exactly once.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    { "rule": "self == oldSelf", "message": "a request can't be changed, only added or taken away" },
]))]
pub struct Request {
    /// Chosen by the client; names the request in `status.requests`.
    #[schemars(length(min = 1, max = 63))]
    pub id: String,
    /// What to do.
    pub verb: Verb,
    /// Entries (`train`) or instances (`train[3]`); `Retry` without any means all that failed.
    #[schemars(length(max = 256), inner(length(max = 80)))]
    pub nodes: Option<Vec<String>>,
    /// Who asks; a claim, unless an admission policy checks it.
    #[schemars(length(max = 253))]
    pub by: Option<String>,
    /// A note that is shown with the result.
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Verb {
    /// Run failed, cancelled and not benignly skipped nodes again, with everything downstream.
    Retry,
    /// End the nodes as skipped.
    Skip,
    /// Let nodes that wait for approval start.
    Approve,
    /// Fail nodes that wait for approval.
    Reject,
}

/// What happens to jobs when the flow has succeeded: Volcano's own field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum JobRetainPolicy {
    /// Jobs stay.
    #[default]
    Retain,
    /// Jobs are deleted.
    Delete,
}

/// What happens to jobs at the end of the flow; overrides `jobRetainPolicy`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobRetain {
    /// After success.
    pub on_success: Option<Retain>,
    /// After failure.
    pub on_failure: Option<Retain>,
}

/// Whether jobs stay or are deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Retain {
    /// Jobs stay.
    #[default]
    Retain,
    /// Jobs are deleted.
    Delete,
}
