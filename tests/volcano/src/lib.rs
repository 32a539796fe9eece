//! A stand-in for Volcano, for tests against a real API server.
//!
//! Comes in: Jobs, Commands and Queues on an API server, and what the pods of each Job are to do. Goes out: statuses as
//! Volcano writes them, in its order, and pods if they are wished for. Every phase is decided by `jobflow_core::gang`,
//! which is checked against recordings of the real one. Deliberately absent: scheduling by resources, PodGroups, the
//! plugins of a Job, and changes of a Job's spec.
//!
//! What a pod does stands in annotations of its template ([`Course`] tells which), or a test says it in code:
//!
//! ```no_run
//! use jobflow_test_volcano::{Options, Volcano};
//!
//! # async fn show(client: kube::Client) -> Result<(), jobflow_test_volcano::Fault> {
//! let options = Options { speed: 10, ..Options::default() };
//! let volcano = Volcano::start(client, options).await?;
//! // Jobs that are created now run, ten times as fast as their annotations say, until `volcano` is dropped.
//! # drop(volcano);
//! # Ok(())
//! # }
//! ```
//!
//! With [`Processes`], containers of Jobs run as processes of this machine instead, by what `jobflow-local` is made of.

mod admission;
mod clock;
mod course;
mod engine;
mod fault;
mod lead;
mod life;
mod object;
mod options;
mod processes;
mod status;
mod volcano;

pub use admission::Admission;
pub use course::{Course, PodCourse, PodEnd};
pub use fault::Fault;
pub use options::{Asked, Detail, Options, Seen};
pub use processes::{Processes, serve_if_asked};
pub use volcano::Volcano;
