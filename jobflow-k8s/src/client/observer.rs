//! What a driver tells while it works: the source of metrics, events and logs. Deliberately absent: names of metrics,
//! wording, and anything that is asked for; an observer can't change what happens.

use std::time::Duration;

use jobflow_core::node::NodeEvent;
use jobflow_core::{FlowPhase, NodePhase, Reason, Time};

/// Which flow is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowRef<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its UID.
    pub uid: &'a str,
}

/// A step of a node that has been written down. Each is told once, by whoever wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeChange<'a> {
    /// The entry.
    pub node: &'a str,
    /// The attempt that it was in; 0 before the first.
    pub attempt: u32,
    /// The phase before.
    pub from: NodePhase,
    /// The phase after.
    pub to: NodePhase,
    /// What happened.
    pub event: NodeEvent,
    /// Why, where there is more to say than the phase.
    pub reason: Option<Reason>,
    /// In words, where a server or a Job gave any.
    pub message: Option<&'a str>,
    /// When; for ends as the Job tells it.
    pub at: Time,
}

/// One answered request, or one that wasn't answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// What was done: `get`, `list`, `create`, `update`, `patch`, `delete`.
    pub verb: &'static str,
    /// To what: `jobflows`, `jobflows/status`, `jobs`, `pods`, `commands`, `jobtemplates`, `jobtemplates/status`.
    pub resource: &'static str,
    /// The status of the answer; none if none came.
    pub code: Option<u16>,
    /// How long it took.
    pub latency: Duration,
}

/// Something that whoever runs the controller, or the author of a flow, should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// The server drops what is written: the definition of JobFlow that is installed isn't ours. Nothing is created.
    SchemaLacksFields,
    /// The spec isn't valid; each fault with its path.
    InvalidSpec(Vec<String>),
    /// The object can't be read at all.
    Unreadable(String),
    /// Planning it made the program panic; it is left alone until it changes.
    Panicked(String),
    /// Its status can't be read; it is left alone until it changes.
    UnreadableStatus(String),
    /// Volcano's controller has started it, and flows of others aren't taken over.
    NotTakenOver,
    /// It was started, and its record is gone.
    LedgerLost,
    /// A Job of it that no attempt stands for is being deleted.
    Stray {
        /// The Job.
        job: String,
        /// Its UID.
        uid: String,
    },
    /// The status has been cut to fit.
    StatusTruncated,
    /// The status can't be made small enough to be stored; the flow makes no Jobs.
    StatusTooLarge,
    /// The server refuses the status, and why.
    StatusRefused(String),
    /// A template can't be frozen now, and why: entries that name it wait.
    NotFrozen(String),
    /// Commands can't be created: Jobs that must end are deleted.
    CommandsUnavailable(String),
}

/// Hears what a driver does. Every method does nothing unless it is implemented, and must return quickly.
#[expect(unused_variables, reason = "the names of arguments are their documentation")]
pub trait Observer: Send + Sync {
    /// A node has changed its phase.
    fn node_changed(&self, flow: FlowRef<'_>, change: NodeChange<'_>) {}

    /// A flow has changed its phase. From none when it is seen for the first time without any.
    fn flow_changed(&self, flow: FlowRef<'_>, from: FlowPhase, to: FlowPhase, at: Time) {}

    /// A flow stands there: told of each flow when it is first read in this run, and whenever its phase has changed.
    fn flow_stands(&self, flow: FlowRef<'_>, phase: FlowPhase) {}

    /// In a dry run: what would be written and done, as often as that changes.
    fn planned(&self, flow: FlowRef<'_>, plan: &jobflow_core::Plan) {}

    /// A request was answered, or given up.
    fn called(&self, call: Call) {}

    /// A flow was looked at and planned.
    fn reconciled(&self, flow: FlowRef<'_>, took: Duration) {}

    /// So many flows wait to be planned.
    fn queued(&self, depth: usize) {}

    /// A Job was created, so long after what released it had been seen.
    fn created(&self, flow: FlowRef<'_>, since_release: Duration) {}

    /// Something was found; told again only after it had ended in between.
    fn found(&self, flow: FlowRef<'_>, finding: &Finding) {}

    /// What was found before isn't so any more.
    fn cleared(&self, flow: FlowRef<'_>) {}

    /// Somebody else wrote the status of a flow that was started here; who, as the server noted it. Told with each sight
    /// of it. It can be forged by whoever may write the flow.
    fn overwritten(&self, flow: FlowRef<'_>, manager: &str) {}

    /// A flow has ended, and nothing is left to do for it: what was known of it is dropped until something changes, or a
    /// time comes.
    fn rests(&self, flow: FlowRef<'_>) {}

    /// A flow is gone.
    fn forgotten(&self, flow: FlowRef<'_>) {}

    /// A watch is alive: its list was read to the end, or an event or a bookmark came.
    fn watch_progressed(&self, resource: &'static str) {}

    /// A watch broke off, and begins again.
    fn watch_failed(&self, resource: &'static str, error: &str) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silent;

impl Observer for Silent {}
