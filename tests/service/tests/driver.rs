//! The driver for a cluster, on the in-process API service with the stand-in for Volcano: scripts, flows with known
//! ends, what may befall a flow, and every moment at which a driver may be lost.

#![expect(
    clippy::unwrap_used,
    reason = "tests say so when something is not as it must be"
)]

#[path = "driver/cases.rs"]
mod cases;
#[path = "driver/conformance.rs"]
mod conformance;
#[path = "driver/edits.rs"]
mod edits;
#[path = "driver/expiry.rs"]
mod expiry;
#[path = "driver/extensions.rs"]
mod extensions;
#[path = "driver/history.rs"]
mod history;
#[path = "driver/job_queues.rs"]
mod job_queues;
#[path = "driver/play.rs"]
mod play;
#[path = "driver/pods.rs"]
mod pods;
#[path = "driver/rest.rs"]
mod rest;
#[path = "driver/revisions.rs"]
mod revisions;
#[path = "driver/stage.rs"]
mod stage;
#[path = "driver/sweep.rs"]
mod sweep;
#[path = "driver/throttling.rs"]
mod throttling;
