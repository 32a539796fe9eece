//! The in-process API service answers as a Kubernetes API server does, and does to requests what a test asks for.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests say so when something is not as it must be"
)]

#[path = "service/faults.rs"]
mod faults;
#[path = "service/fixtures.rs"]
mod fixtures;
#[path = "service/reads.rs"]
mod reads;
#[path = "service/watches.rs"]
mod watches;
#[path = "service/writes.rs"]
mod writes;
