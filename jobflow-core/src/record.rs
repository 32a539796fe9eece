//! What a flow has written down about itself. Whatever a plan would decide otherwise after a restart is here; what
//! can be derived is not.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

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

impl FlowRecord {
    /// Whether the flow has ended, so that entries which are added from then on don't join it.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.phase.is_end() && self.completion_time.is_some()
    }

    /// The nodes that are, or were, of the flow: all but those that came after its end.
    pub fn joined(&self) -> impl Iterator<Item = (NodeId, &NodeRecord)> {
        let ended = self.has_ended();
        let nodes = self.nodes.iter();
        nodes.filter(move |(_, record)| !(ended && record.phase().is_undecided()))
    }
}

/// The record of a node. What only a node has that was started is in [`Details`], reached as if it were here; a
/// waiting node costs a few bytes.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeRecord {
    /// Where it stands.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub state: NodeState,
    /// Why.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub reason: Option<Reason>,
    /// The attempt that was last intended, from 1; 0 when none was.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub attempt: u32,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    details: Option<Arc<Details>>,
}

/// What is known of a node beyond its phase.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct Details {
    /// What was said beside the reason, by a server or a job.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub message: Option<Arc<str>>,
    /// For an end that another node brought about: which, and how that one ended.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub cause: Option<Cause>,
    /// The UID of that attempt's job, once known and while it lives.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub uid: Option<Uid>,
    /// The digest of the entry that the attempt was made from.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub entry_hash: u64,
    /// The template that the attempt was made from.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub template: Option<TemplateVersion>,
    /// When the first attempt was intended.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub start_time: Option<Time>,
    /// When the node ended.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub finish_time: Option<Time>,
    /// The exit code of the first container that ended non-zero in the last attempt; none after success.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub exit_code: Option<i32>,
    /// Since when a pod is known to have run, over all attempts.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub started_since: Option<Time>,
    /// Since when the gang of this attempt is known to have run.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub ran_since: Option<Time>,
    /// How many pods the attempt's job needs to run.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub min_available: u32,
    /// The last counts that weren't empty of this attempt's pods, by task.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub tasks: Option<Arc<[TaskCount]>>,
    /// Conditions on targets that have held and can't be derived from the target's record.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub held: Vec<Held>,
    /// Whether the attempt ended without its job ever having been seen; one that turns up late is a stray.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub jobless: bool,
    /// The stop of the attempt in course.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub stop: Option<Stop>,
    /// When the next attempt is due, while backing off.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub next_retry: Option<Time>,
    /// How many attempts were made after the first, by what they were charged to.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub retries: Retries,
    /// What was decided once and for all.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub decided: Option<Decided>,
    /// The clock of the attempt's timeout.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub attempt_clock: Option<Clock>,
    /// The clock of the node's timeout.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub node_clock: Option<Clock>,
    /// Earlier attempts, the newest last, at most [`NodeRecord::ATTEMPTS`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub attempts: Vec<AttemptRecord>,
}

/// What is known of a node that was never started.
static NONE: Details = Details {
    message: None,
    cause: None,
    uid: None,
    entry_hash: 0,
    template: None,
    start_time: None,
    finish_time: None,
    exit_code: None,
    started_since: None,
    ran_since: None,
    min_available: 0,
    tasks: None,
    held: Vec::new(),
    jobless: false,
    stop: None,
    next_retry: None,
    retries: Retries {
        program: 0,
        infrastructure: 0,
    },
    decided: None,
    attempt_clock: None,
    node_clock: None,
    attempts: Vec::new(),
};

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

impl Deref for NodeRecord {
    type Target = Details;

    fn deref(&self) -> &Details {
        self.details.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for NodeRecord {
    fn deref_mut(&mut self) -> &mut Details {
        Arc::make_mut(self.details.get_or_insert_default())
    }
}

impl PartialEq for NodeRecord {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.details, &other.details) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two) || one == two,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => **self == **other,
        };
        same && (self.state, self.reason, self.attempt) == (other.state, other.reason, other.attempt)
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

#[cfg(feature = "serde")]
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
