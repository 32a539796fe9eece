//! What a flow has written down about itself. Whatever a plan would decide otherwise after a restart is here; what
//! can be derived is not.

use alloc::sync::Arc;
use alloc::vec::Vec;

mod clock;
mod nodes;

pub use clock::Clock;
pub use nodes::Nodes;

use crate::facts::TemplateVersion;
use crate::key::{NodeId, Uid};
use crate::node::NodeState;
use crate::phase::{FlowPhase, NodePhase};
use crate::reason::Reason;
use crate::snapshot::TaskCount;
use crate::time::Time;

/// The record of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FlowRecord {
    /// The phase, as derived from the rest when it was written.
    pub phase: FlowPhase,
    /// A record a node, in the order of the graph's entries.
    pub nodes: Nodes,
    /// When the flow was first planned while not suspended.
    pub start_time: Option<Time>,
    /// When it ended.
    pub completion_time: Option<Time>,
    /// The first cause of its failure.
    pub cause: Option<Cause>,
    /// The stop that is at work, or was.
    pub stop: Option<FlowStop>,
    /// The clock of the flow's deadline; present only where there is one.
    pub deadline: Option<Clock>,
    /// When everything outside `finally` had ended.
    pub finally_since: Option<Time>,
    /// Whether the record was rebuilt after a loss.
    pub ledger_lost: bool,
}

/// The record of a node.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeRecord {
    /// Where it stands.
    pub state: NodeState,
    /// Why.
    pub reason: Option<Reason>,
    /// What was said beside the reason, by a server or a job.
    pub message: Option<Arc<str>>,
    /// For an end that another node brought about: which, and how that one ended.
    pub cause: Option<Cause>,
    /// The attempt that was last intended, from 1; 0 when none was.
    pub attempt: u32,
    /// The UID of that attempt's job, once known and while it lives.
    pub uid: Option<Uid>,
    /// The digest of the entry that the attempt was made from.
    pub entry_hash: u64,
    /// The template that the attempt was made from.
    pub template: Option<TemplateVersion>,
    /// When the first attempt was intended.
    pub start_time: Option<Time>,
    /// When the node ended.
    pub finish_time: Option<Time>,
    /// The exit code of the first container that ended non-zero in the last attempt; none after success.
    pub exit_code: Option<i32>,
    /// Since when a pod is known to have run, over all attempts.
    pub started_since: Option<Time>,
    /// Since when the gang of this attempt is known to have run.
    pub ran_since: Option<Time>,
    /// How many pods the attempt's job needs to run.
    pub min_available: u32,
    /// The last counts that weren't empty of this attempt's pods, by task.
    pub tasks: Option<Arc<[TaskCount]>>,
    /// Conditions on targets that have held and can't be derived from the target's record.
    pub held: Vec<Held>,
    /// Whether the attempt ended without its job ever having been seen; one that turns up late is a stray.
    pub jobless: bool,
    /// The stop of the attempt in course.
    pub stop: Option<Stop>,
    /// When the next attempt is due, while backing off.
    pub next_retry: Option<Time>,
    /// How many attempts were made after the first, by what they were charged to.
    pub retries: Retries,
    /// What was decided once and for all.
    pub decided: Option<Decided>,
    /// The clock of the attempt's timeout.
    pub attempt_clock: Option<Clock>,
    /// The clock of the node's timeout.
    pub node_clock: Option<Clock>,
    /// Earlier attempts, the newest last, at most [`NodeRecord::ATTEMPTS`].
    pub attempts: Vec<AttemptRecord>,
}

impl NodeRecord {
    /// How many earlier attempts are kept.
    pub const ATTEMPTS: usize = 4;

    /// Where it stands.
    #[must_use]
    pub const fn phase(&self) -> NodePhase {
        self.state.phase()
    }

    /// The reason of an end, for those who judge it.
    #[must_use]
    pub fn is_skipped_benignly(&self) -> bool {
        self.phase() == NodePhase::Skipped && self.reason.is_some_and(Reason::is_benign)
    }
}

/// Which node brought something about, and how it stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cause {
    /// The first node on the way that wasn't skipped.
    pub node: NodeId,
    /// Why that one ended as it did.
    pub reason: Reason,
}

/// A condition that has held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Held {
    /// The target.
    pub target: NodeId,
    /// Which of the rules on it.
    pub rule: u32,
    /// The attempt of the target that it held of.
    pub attempt: u32,
    /// Since when.
    pub since: Time,
}

/// The stop of one attempt: recorded before its effect, and decisive for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stop {
    /// Why.
    pub cause: StopCause,
    /// Since when.
    pub since: Time,
}

/// Why an attempt is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum StopCause {
    /// The flow was cancelled.
    Cancel,
    /// A deadline of the flow passed.
    Deadline,
    /// Another node failed, and the policy is `CancelAll`.
    CancelAll,
    /// The attempt's time was up.
    AttemptTimeout,
    /// The node's time was up.
    NodeTimeout,
    /// A request skips the node.
    SkipRequest,
    /// The flow is suspended, its running jobs too.
    SuspendRunning,
}

/// The stop of a whole flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FlowStop {
    /// Why.
    pub cause: FlowStopCause,
    /// Since when.
    pub since: Time,
}

/// Why a flow is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FlowStopCause {
    /// Somebody cancelled it; `finally` still runs.
    CancelGraceful,
    /// Somebody cancelled it, `finally` included.
    CancelNow,
    /// Its deadline passed.
    Deadline,
    /// A node failed, and the policy is `CancelAll`.
    CancelAll,
}

/// How many attempts after the first were charged to whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Retries {
    /// To the program.
    pub program: u32,
    /// To the infrastructure.
    pub infrastructure: u32,
}

/// What an entry decided once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Decided {
    /// Its `when` was true.
    When,
    /// Its switch took this case, the default for none.
    Case(Option<u32>),
}

/// What is kept of an attempt that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AttemptRecord {
    /// Which attempt.
    pub attempt: u32,
    /// Why it ended.
    pub reason: Reason,
    /// When it ended.
    pub finish_time: Time,
    /// The exit code, where one was seen.
    pub exit_code: Option<i32>,
}
