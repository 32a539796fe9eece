//! The model and every decision of jobflow, free of Kubernetes, clocks, async and IO.
//!
//! Comes in: a graph of entries, a policy, a snapshot of what was seen, and the time. Goes out: a plan: the next
//! record, the effects that follow from it, and the reason for everything that does not happen.
//! Deliberately absent: any way to read a clock, to draw randomness, or to reach a cluster.

#![no_std]

extern crate alloc;

pub mod condition;
pub mod expression;
pub mod facts;
pub mod gang;
pub mod graph;
pub mod key;
pub mod node;
pub mod phase;
pub mod plan;
pub mod policy;
pub mod probe;
pub mod reason;
pub mod record;
pub mod report;
pub mod retry;
pub mod snapshot;
#[cfg(feature = "testing")]
pub mod testing;
pub mod time;
pub mod verdict;

pub use condition::Condition;
pub use facts::FactCache;
pub use graph::FlowGraph;
pub use key::{JobKey, NodeId, Uid};
pub use phase::{FlowPhase, NodePhase};
pub use plan::{Change, Effect, Plan, plan, plan_with_answers};
pub use policy::Policy;
pub use reason::Reason;
pub use record::FlowRecord;
pub use snapshot::Snapshot;
pub use time::{Span, Time};
pub use verdict::Verdict;
