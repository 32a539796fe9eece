//! The driver for a cluster: watches flows, plans them, writes their records, and creates and ends their Jobs.
//!
//! Comes in: a client of a Kubernetes API server, [`Settings`], a [`Term`] in which writes may be sent. Goes out:
//! requests to the server, and what an [`Observer`] is told. Deliberately absent: the lease itself, metrics, events,
//! logs, signals; and every decision, which is the core's.

mod extensions;
mod observer;
mod settings;
mod term;

pub use extensions::{Asker, Extensions, FactSource};
pub use observer::{Call, Finding, FlowRef, NodeChange, Observer, Silent};
pub use settings::Settings;
pub use term::{Term, Unlimited};
