//! What was seen at one moment: the record as read, what people ask for, and what is known of each job.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::gang::JobPhase;
use crate::key::{JobKey, NodeId, Uid};
use crate::record::FlowRecord;
use crate::time::{Span, Time};

/// Everything a plan looks at beside the graph, the policy and the facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The version of the object that the record was read from; a write is conditional on it.
    pub base: Arc<str>,
    /// The record.
    pub record: FlowRecord,
    /// What people ask for.
    pub wishes: Wishes,
    /// How the record came to be here.
    pub ledger: Ledger,
    /// What is known of jobs, by key. A job that is not mentioned was not looked at.
    pub jobs: BTreeMap<JobKey, Sighting>,
    /// Objects that carry this flow's mark without a key of its own that could be read.
    pub strays: Vec<Stray>,
    /// Intents that this process wrote itself in its present term and has not sent a create for: for these alone
    /// a create may go out without a look first.
    pub fresh: BTreeSet<JobKey>,
    /// Effects that were sent and have not been answered.
    pub in_flight: BTreeSet<(JobKey, EffectKind)>,
    /// How and when this process last asked for the end of a job.
    pub stop_requests: BTreeMap<JobKey, (EffectKind, Time)>,
}

/// What people ask of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Start nothing new.
    pub suspend: bool,
    /// Beside `suspend`: stop what runs, too.
    pub suspend_running: bool,
    /// End the flow.
    pub cancel: Option<CancelMode>,
    /// The flow itself is being deleted: nothing is created or written any more.
    pub deleting: bool,
    /// The flow was started, and can't be read any more as it is now: what runs is followed, and nothing is started or
    /// decided that depends on how entries hang together. The graph needs no more than the entries, each by itself.
    pub frozen: bool,
}

/// How a flow is cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CancelMode {
    /// `finally` still runs.
    #[default]
    Graceful,
    /// Nothing runs any more.
    Now,
}

/// How far the record can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ledger {
    /// The flow was never started by us: neither a birth mark nor a record.
    #[default]
    Unborn,
    /// The flow carries its birth mark, and its record is there.
    Kept,
    /// The flow carries its birth mark, but its record is gone.
    Lost,
}

/// What is known of one job.
#[derive(Clone, Debug, PartialEq)]
pub enum Sighting {
    /// It is there, and ours.
    Seen(JobView),
    /// It was there and isn't in the store any more: only a live read may judge.
    Missing,
    /// A live read found nothing of that name, or another UID under it.
    Gone {
        /// The last state that was seen.
        last: Option<JobView>,
        /// When it was read.
        at: Time,
    },
    /// An object of that name is there and isn't ours.
    Foreign {
        /// It is going away: being deleted, or its owner no longer exists.
        leaving: bool,
        /// When it was read.
        at: Time,
    },
    /// A create was answered, and the stores don't show the job yet.
    Created(Uid),
    /// A create was refused, and a live read found no job.
    Refused(Refusal),
    /// A create ended without an answer.
    Uncertain,
}

/// Why a create was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of refusal.
    pub class: RefusalClass,
    /// The server's words.
    pub message: Arc<str>,
    /// When it was said last.
    pub at: Time,
    /// How often in a row, from 1.
    pub count: u32,
    /// The server asked not to be asked again before.
    pub not_before: Option<Time>,
}

/// The kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalClass {
    /// For good: invalid, too large, denied.
    Final,
    /// The queue is missing, closed, or takes no jobs.
    Queue,
    /// The quota is used up.
    Quota,
    /// The namespace is being deleted: nothing more is created.
    NamespaceTerminating,
    /// Not permitted.
    NotPermitted,
    /// The server is busy, out of reach, or said something unknown.
    Passing,
}

/// An object to be deleted: it is ours by owner, and no attempt in the record stands for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stray {
    /// The name of the object.
    pub name: Arc<str>,
    /// Its UID.
    pub uid: Uid,
}

/// A job as it was last seen.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JobView {
    /// Its UID.
    pub uid: Uid,
    /// Its phase.
    pub phase: JobPhase,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// When it was created.
    pub created: Time,
    /// When its phase last changed, as the job says.
    pub changed: Option<Time>,
    /// The queue that it waits in, where anybody can tell whether that takes jobs.
    #[cfg_attr(feature = "serde", serde(default))]
    pub queue: Option<Arc<str>>,
    /// How many pods it needs to run.
    pub min_available: u32,
    /// Its pods by task; empty when the job says nothing of them (any more).
    pub tasks: Arc<[TaskCount]>,
    /// Whether a pod of it is known to have run, whatever its counts say now.
    pub started: bool,
    /// Whether its history says that the gang ran.
    pub ran: bool,
    /// Whether a policy of its own, at any level, can abort it.
    pub aborts_itself: bool,
    /// Whether pods of it are still there.
    pub pods_left: bool,
    /// Whether only a live read can tell how its pods ended: whoever watches pods may see them later than their job.
    #[cfg_attr(feature = "serde", serde(default))]
    pub pods_unread: bool,
    /// The exit code of the first container that ended non-zero.
    pub exit_code: Option<i32>,
    /// Whether everything that failed in it was lost to the infrastructure.
    pub infrastructure: bool,
    /// Reasons that its pods and containers give, such as `OOMKilled`.
    pub pod_reasons: Vec<Arc<str>>,
    /// What to tell about its end.
    pub message: Option<Arc<str>>,
    /// How long after its recorded end it is deleted; none: it stays.
    #[cfg_attr(feature = "serde", serde(default))]
    pub ttl: Option<Span>,
}

impl JobView {
    /// A job in this phase of which nothing else is known.
    #[must_use]
    pub fn new(uid: Uid, phase: JobPhase, created: Time) -> Self {
        Self {
            uid,
            phase,
            deleting: false,
            created,
            changed: None,
            queue: None,
            min_available: 1,
            tasks: Arc::default(),
            started: false,
            ran: false,
            aborts_itself: false,
            pods_left: false,
            pods_unread: false,
            exit_code: None,
            infrastructure: false,
            pod_reasons: Vec::new(),
            message: None,
            ttl: None,
        }
    }

    /// Its pods, over all tasks.
    #[must_use]
    pub fn total(&self) -> PodCounts {
        self.tasks
            .iter()
            .fold(PodCounts::default(), |sum, task| sum.plus(task.counts))
    }
}

/// The pods of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TaskCount {
    /// The task's name.
    pub task: Arc<str>,
    /// How many pods the task has.
    pub replicas: u32,
    /// Its pods by phase.
    pub counts: PodCounts,
}

/// Numbers of pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PodCounts {
    /// Not running yet.
    pub pending: u32,
    /// Running.
    pub running: u32,
    /// Of those running, how many are ready.
    pub ready: u32,
    /// Succeeded.
    pub succeeded: u32,
    /// Failed.
    pub failed: u32,
}

impl PodCounts {
    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            pending: self.pending.saturating_add(other.pending),
            running: self.running.saturating_add(other.running),
            ready: self.ready.saturating_add(other.ready),
            succeeded: self.succeeded.saturating_add(other.succeeded),
            failed: self.failed.saturating_add(other.failed),
        }
    }

    /// Whether any pod is known to have run.
    #[must_use]
    pub const fn any_ran(self) -> bool {
        self.running > 0 || self.succeeded > 0
    }
}

/// The kinds of effects on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// A create.
    Create,
    /// A live read.
    Look,
    /// A live read of its pods.
    LookAtPods,
    /// A request to end it.
    Terminate,
    /// A delete.
    Delete,
}

impl Wishes {
    /// Whether releases are held back.
    #[must_use]
    pub const fn holds_back(&self) -> bool {
        self.suspend && self.cancel.is_none()
    }
}

impl Snapshot {
    /// The snapshot of a flow of so many nodes that nobody has looked at yet.
    #[must_use]
    pub fn unborn(nodes: usize) -> Self {
        let nodes = crate::record::Nodes::waiting(nodes);
        Self {
            record: FlowRecord {
                nodes,
                ..FlowRecord::default()
            },
            ..Self::default()
        }
    }

    /// What is known of the job of this key.
    #[must_use]
    pub fn sighting(&self, key: JobKey) -> Option<&Sighting> {
        self.jobs.get(&key)
    }

    /// The jobs known of one node.
    pub fn jobs_of(&self, node: NodeId) -> impl Iterator<Item = (&JobKey, &Sighting)> {
        let from = JobKey {
            node,
            index: 0,
            attempt: 0,
        };
        let to = JobKey {
            node,
            index: u32::MAX,
            attempt: u32::MAX,
        };
        self.jobs.range(from..=to)
    }
}
