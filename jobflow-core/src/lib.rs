//! The model and every decision of jobflow, free of Kubernetes, clocks, async and IO.
//!
//! Comes in: a graph of entries, a policy, a snapshot of what was seen, and the time. Goes out: a plan: the next
//! record, the effects that follow from it, and the reason for everything that does not happen.
//! Deliberately absent: any way to read a clock, to draw randomness, or to reach a cluster.

#![no_std]

extern crate alloc;

pub mod gang;
pub mod time;

pub use time::Time;
