//! What a pod of a Volcano Job is when it is processes: its template, who it is, what its containers see.
//!
//! Comes in: a pod template as data, the Job it belongs to, ConfigMaps and Secrets from files. Goes out: environments,
//! commands and files, or every fault with its field path. Deliberately absent: processes, and (but for
//! [`outfit::Outfit::lay_out`]) folders: all else is pure.

pub mod addresses;
pub mod config;
pub mod environment;
pub mod expansion;
pub mod fields;
pub mod identity;
pub mod inherited;
pub mod outfit;
pub mod plugins;
pub mod security;
pub mod shape;
pub mod template;

use std::fmt;

use jobflow_k8s::fault::FieldPath;

/// Returns the path of a task's pod template, from the root of its Job.
pub(crate) fn template_path(task: usize) -> FieldPath {
    let tasks = FieldPath::root().field("spec").field("tasks");
    tasks.index(task).field("template")
}

/// Something in a pod template that can't be honoured here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodFault {
    /// The field, from the root of what was read.
    pub path: FieldPath,
    /// What is wrong, and what to do about it.
    pub message: String,
}

impl PodFault {
    /// Describes a fault.
    pub fn new(path: FieldPath, message: impl Into<String>) -> Self {
        Self {
            path,
            message: message.into(),
        }
    }

    /// The same fault, seen from the root of what is around.
    #[must_use]
    pub fn within(self, outer: &FieldPath) -> Self {
        Self {
            path: outer.join(&self.path),
            message: self.message,
        }
    }
}

impl fmt::Display for PodFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, message } = self;
        write!(formatter, "{path}: {message}")
    }
}
