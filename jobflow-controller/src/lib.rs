//! The controller of jobflow: runs JobFlows on a Kubernetes cluster with Volcano.
//!
//! Comes in: arguments. Goes out: Jobs, records of flows, metrics, a log, Events. [`run`] is the whole program, for those
//! who add predicates of their own; [`Controller`] is the same for those who mount it in an operator. Deliberately
//! absent: decisions about flows, which are `jobflow-core`'s, and requests about them, which are `jobflow-k8s`'s.

mod arguments;
mod checks;
pub mod clock;
mod connect;
mod controller;
mod escape;
pub mod events;
mod exit;
pub mod findings;
pub mod health;
pub mod lease;
mod logs;
mod metrics;
mod observer;
mod program;
mod reference;
mod serve;
#[cfg(test)]
mod testing;

pub use arguments::{ArgumentFault, Arguments, LeaseSettings, LogFormat, LogSettings, Refused, Settings};
pub use clap::Parser;
pub use connect::connect;
pub use controller::{Controller, RunError};
pub use jobflow_k8s::client::{Asker, Extensions, FactSource};
pub use program::run;
pub use reference::reference;
