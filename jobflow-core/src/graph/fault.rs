//! What can be wrong with the shape of a flow. Entries are given by position, so that a caller can point at them.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use thiserror::Error;

use crate::key::NodeId;

/// One fault. A build reports all of them at once.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GraphFault {
    /// Two entries have one name.
    #[error("entry {name:?} is there twice")]
    DuplicateName {
        /// The name.
        name: Arc<str>,
        /// The entry that had it first.
        first: NodeId,
        /// The entry that repeats it.
        second: NodeId,
    },
    /// A target is no entry of the flow.
    #[error("target {target:?} is no entry of this flow")]
    UnknownTarget {
        /// The entry that names it.
        node: NodeId,
        /// Which of the entry's targets.
        position: usize,
        /// The name as written.
        target: Arc<str>,
    },
    /// A branch of a switch names no entry of the flow.
    #[error("branch entry {target:?} is no entry of this flow")]
    UnknownBranch {
        /// The switch.
        node: NodeId,
        /// Which case; none for the default.
        case: Option<usize>,
        /// Which of the case's entries.
        position: usize,
        /// The name as written.
        target: Arc<str>,
    },
    /// Entries wait for each other in a circle.
    #[error("entries wait for each other: {}", .names.join(" -> "))]
    Cycle {
        /// The entries on the way round, the first one not repeated; each waits for the one before it.
        nodes: Vec<NodeId>,
        /// Their names, the first one repeated at the end.
        names: Vec<String>,
    },
    /// An entry of `finally` and one of the others depend on each other.
    #[error("entry {name:?} and target {target:?} are on different sides of `finally`")]
    AcrossFinally {
        /// The entry.
        node: NodeId,
        /// Which of its targets.
        position: usize,
        /// The entry's name.
        name: Arc<str>,
        /// The target's name.
        target: Arc<str>,
    },
    /// More targets are asked for than there are, or none.
    #[error("at least {at_least} of {targets} targets can not be met")]
    AtLeastOutOfRange {
        /// The entry.
        node: NodeId,
        /// How many are asked for.
        at_least: u32,
        /// How many different targets there are.
        targets: usize,
    },
    /// There are more entries than can be counted.
    #[error("a flow can't have {0} entries")]
    TooManyEntries(usize),
}
