//! The driver for a cluster: watches flows, plans them, writes their records, and creates and ends their Jobs.
//!
//! ```text
//!   watches ──► hub: stores, flows, whose turn ──► workers: one machine a flow ──► requests ──► sender ──► server
//!                ▲                                    (flow: all of it without IO)                │
//!                └──────────────────────────────── answers ◄──────────────────────────────────────┘
//! ```
//!
//! Comes in: a client of a Kubernetes API server, [`Settings`], a [`Term`] in which writes may be sent. Goes out:
//! requests to the server, and what an [`Observer`] is told. Deliberately absent: the lease itself, metrics, events,
//! logs, signals; and every decision, which is the core's.

mod call;
mod cell;
pub mod flow;
mod guard;
mod hub;
mod job_queues;
mod observer;
mod pace;
mod pods;
mod probing;
mod progress;
mod queue;
pub mod request;
mod rival;
mod run;
mod settings;
mod term;
mod uses;
mod watch;

use crate::extensions;

pub use call::MANAGER;
pub use extensions::{Asker, Extensions, FactSource};
pub use observer::{Call, Finding, FlowRef, NodeChange, Observer, Silent};
pub use progress::Progress;
pub use run::{Clock, Driver};
pub use settings::Settings;
pub use term::{Term, Unlimited};
