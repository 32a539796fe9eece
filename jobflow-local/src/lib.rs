//! Runs flows of batch jobs on this machine: each replica of each task is a process group.
//!
//! Comes in: pod templates as data, a run's folder. Goes out: processes, their bounded logs, and two journals that
//! say what happened. Deliberately absent: any rule about flows or jobs (those are in `jobflow-core`), and any
//! notion of a cluster.
//!
//! Two processes take part. The one that decides is a [`client`]; one [`executor`] a run is the parent of every
//! task, so that the first may die and come back without a task noticing.

pub mod client;
pub mod enter;
pub mod executor;
pub mod host;
pub mod kit;
pub mod pod;
pub mod process;
mod questions;
pub mod resources;
pub mod rundir;
pub mod runner;
pub mod task;
pub mod volumes;
