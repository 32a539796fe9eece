//! The objects that jobflow reads and writes, as Kubernetes types.
//!
//! Comes in: what an author wrote, or what a server stored. Goes out: the same, unchanged: every optional field says
//! whether it was there, and Volcano Job specs are carried as data ([`JobSpecData`]) so that fields that are not known
//! here survive. Deliberately absent: any default; read-time defaults are applied where a value is used.

pub mod command;
pub mod control;
pub mod dependency;
pub mod entry;
pub mod flow;
pub mod group;
pub mod instant;
pub mod job;
pub mod parameter;
pub mod patch;
pub mod probe;
pub mod record;
pub mod retry;
pub(crate) mod schema;
pub mod status;
pub mod task;
pub mod template;
pub mod untyped;

pub use command::{Command, CommandAction};
pub use control::{Cancel, CancelMode, JobRetain, JobRetainPolicy, Request, Retain, Verb};
pub use dependency::{
    Condition, Custom, DependsOn, DependsOnProbe, PodCondition, ProbeReplicas, ProbeScheme, Rule,
    RuleCondition, Strategy,
};
pub use entry::{Approval, Entry, FlowCall, OnSkipped, OnTimeout, Switch, SwitchCase, TimeoutScope};
pub use flow::{FailurePolicy, JobFlow, JobFlowSpec, TemplateBinding};
pub use group::{ForEach, Rest};
pub use instant::Instant;
pub use job::{Job, JobPhase, JobState, JobStatus};
pub use parameter::{Output, Parameter, ValueType};
pub use patch::Patch;
pub use probe::{HttpGet, HttpHeader, TaskStatus, TcpSocket};
pub use record::{
    ApprovalRecord, AttemptRecord, Cause, Clock, Decided, FlowPhase, Held, Items, NodePhase, NodeRecord,
    RequestRecord, RequestResult, Retries, Stop, Summary, TaskRecord, TemplateRecord,
};
pub use retry::{Backoff, Retry, RetryOn};
pub use status::{FlowState, JobConditionEntry, JobFlowStatus, JobRunningHistory, JobStatusEntry};
pub use task::{FlowTask, FlowTaskDependsOn};
pub use template::{JobFlowTemplate, JobFlowTemplateSpec, JobTemplate, JobTemplateSpec, JobTemplateStatus};
pub use untyped::JobSpecData;

/// The API group of flows and templates.
pub const FLOW_GROUP: &str = "flow.volcano.sh";
/// The API group of Volcano's Job.
pub const BATCH_GROUP: &str = "batch.volcano.sh";
/// The API group of Volcano's Command.
pub const BUS_GROUP: &str = "bus.volcano.sh";
/// The version of all of these groups.
pub const VERSION: &str = "v1alpha1";
