//! The three lists of probes, as Volcano declares them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// An HTTP request to the pods of a task.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpGet {
    /// The task whose pods are asked; empty: every task of every target.
    #[schemars(length(max = 63))]
    pub task_name: Option<String>,
    /// The path of the request.
    #[schemars(length(max = 2048))]
    pub path: Option<String>,
    /// The port.
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<i32>,
    /// A header to send; one with an empty name is none.
    pub http_header: Option<HttpHeader>,
}

/// A header of an HTTP probe.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpHeader {
    /// The header's name.
    #[schemars(length(max = 256))]
    pub name: Option<String>,
    /// The header's value.
    #[schemars(length(max = 4096))]
    pub value: Option<String>,
}

/// A connection to the pods of a task.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TcpSocket {
    /// The task whose pods are asked; empty: every task of every target.
    #[schemars(length(max = 63))]
    pub task_name: Option<String>,
    /// The port.
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<i32>,
}

/// A phase that the pods of a task must have reached.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// The task; empty: every task of every target.
    #[schemars(length(max = 63))]
    pub task_name: Option<String>,
    /// `Pending`, `Running`, `Succeeded` (or `Completed`), `Failed`, `Started`, `Ready` or `Finished`.
    #[schemars(length(max = 63))]
    pub phase: Option<String>,
}
