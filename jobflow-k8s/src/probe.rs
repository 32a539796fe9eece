//! Asks pods: connects to an address, and says in one word how it answered.
//!
//! Comes in: which probes are wanted, by whom, and the addresses of pods at the moment of each look. Goes out: a
//! [`ProbeAnswer`](jobflow_core::probe::ProbeAnswer) for each look, and nothing else of what a pod said. Deliberately
//! absent: names that would have to be resolved, proxies, redirects, credentials, and what an answer means.
//!
//! One thread is enough for thousands of probes. The schedule is shared fairly between lanes (namespaces), so that
//! pods that hang slow down their own namespace alone.

mod look;
mod permit;
mod prober;
mod request;
mod response;
mod schedule;
#[cfg(feature = "probe-tls")]
mod tls;

pub use look::{MOST_READ, SPEAKS_TLS, look};
pub use permit::Permits;
pub use prober::{Field, Prober};
pub use schedule::{Look, Schedule};
