//! The way between Kubernetes objects and the core of jobflow.
//!
//! Comes in: manifests (YAML or JSON) and objects of a server. Goes out: typed objects, faults with their positions,
//! the core's graph and policy, and the Jobs to create. Deliberately absent (without further features): network,
//! clock, async.

pub mod check;
#[cfg(feature = "client")]
pub mod client;
pub mod crd;
#[cfg(feature = "extensions")]
pub mod extensions;
pub mod fault;
pub mod frozen;
pub mod job;
pub mod names;
pub mod observe;
pub mod parse;
pub mod patch;
#[cfg(feature = "probe")]
pub mod probe;
pub mod render;
pub mod schema;
pub mod status;
pub mod types;
pub mod yaml;
