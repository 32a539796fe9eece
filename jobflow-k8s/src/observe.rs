//! What a server shows, as the core takes it.
//!
//! Comes in: Jobs, templates and pods of a watch, decoded into types that hold only what is used; answers to creates.
//! Goes out: views, owners, kinds of refusals. Deliberately absent: network, clock, and any decision about a flow.

mod address;
mod metadata;
mod needs;
mod owner;
mod pod;
mod pods;
mod refusal;
mod slim_job;
mod slim_queue;
mod slim_template;
#[cfg(test)]
mod tests;
mod view;

pub use address::{Address, addresses};
pub use needs::{PodInterests, PodNeeds};
pub use owner::{Owner, Ownership, ownership};
pub use pod::{Container, SlimPod, Termination};
pub use pods::{PodsSeen, account};
pub use refusal::{Answer, is_too_large, refusal, unanswered};
pub use slim_job::{SlimJob, SlimTask, TaskCounts};
pub use slim_queue::SlimQueue;
pub use slim_template::SlimTemplate;
pub use view::job_view;

use jiff::Timestamp;
use jobflow_core::Time;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time as KubeTime;

/// A time of an object in the core's words.
fn time(time: &KubeTime) -> Time {
    Time(Timestamp::as_millisecond(time.0))
}
