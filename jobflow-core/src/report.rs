//! Why nothing happens to a node, as ids and numbers. Text is made when somebody looks.

use alloc::vec::Vec;

mod view;

pub use view::{Asked, Explanation, Limit, Stands, View, Wait};

use crate::key::NodeId;
use crate::probe::ProbeAnswer;
use crate::reason::Reason;
use crate::time::Time;

/// The reasons of all nodes that have not ended, in the order in which they were planned.
pub type Report = Vec<(NodeId, Why)>;

/// Why a node stands where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Why {
    /// It waits for targets.
    Targets {
        /// How many targets have not been met.
        unmet: u32,
        /// The first of them.
        first: NodeId,
    },
    /// It waits for targets, the first of which is where it should be but for how its pods answer a probe.
    Unanswered {
        /// How many targets have not been met.
        unmet: u32,
        /// The first of them.
        first: NodeId,
        /// How its pods answered last; none before the first answer.
        answer: Option<ProbeAnswer>,
    },
    /// It waits for a switch to be decided.
    Gate(NodeId),
    /// It is one of `finally`, and something else has not ended.
    FinallyNotOpen,
    /// Its targets are met, and something else holds it back.
    HeldBack(Reason),
    /// A template is read, or a job built.
    Preparing,
    /// More jobs are ready than one plan releases.
    NextWave,
    /// It waits for a time: a delay, or the next attempt.
    Until(Time),
    /// The pods of the attempt before are not gone.
    PodsLeft,
    /// Its job is being created, looked for, or ended.
    InFlight,
    /// It waits for its job.
    Job,
}
