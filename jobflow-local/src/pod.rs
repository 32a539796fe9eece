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

/// What a fault's path begins with if it is a field of the Job, and not of the pod template.
pub(crate) const OF_JOB: &str = "job ";

/// Something in a pod template that can't be honoured here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodFault {
    /// The field, from the template's root, as `spec.containers[main].env[A]`.
    pub path: String,
    /// What is wrong, and what to do about it.
    pub message: String,
}

impl PodFault {
    /// Describes a fault.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }

    /// The same fault with its path from the root of the Job, given the template's own path.
    #[must_use]
    pub fn within(self, template: &str) -> Self {
        let Self { path, message } = self;
        let path = match path.strip_prefix(OF_JOB) {
            Some(path) => path.to_owned(),
            None => format!("{template}.{path}"),
        };
        Self { path, message }
    }
}

impl fmt::Display for PodFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, message } = self;
        write!(formatter, "{path}: {message}")
    }
}
