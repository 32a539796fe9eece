//! Names of things inside one flow: nodes, jobs, and the UID that a server gave to a job.

use alloc::sync::Arc;
use core::fmt;

/// A node of the graph: the position of its entry in the spec, entries of `finally` after the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position as an index into lists that have an element a node.
    #[must_use]
    pub const fn position(self) -> usize {
        self.0 as usize
    }
}

/// One job of a flow: which node it belongs to, which instance of a group, which attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JobKey {
    /// The node.
    pub node: NodeId,
    /// The instance of a group, from 0; an entry that is no group has the one index 0.
    pub index: u32,
    /// The attempt, from 1; it only ever grows, so that no name is used twice.
    pub attempt: u32,
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.node.0, self.index, self.attempt)
    }
}

/// The identity that a server (or the local runner) gave to an object; never a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub struct Uid(pub Arc<str>);

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
