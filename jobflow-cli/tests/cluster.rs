//! `kubectl jobflow` against a real API server. Statuses are written as a controller writes them.
#![expect(clippy::unwrap_used, reason = "what surrounds a test may fail it too")]

#[path = "cluster/kubelet.rs"]
mod kubelet;
#[path = "cluster/world.rs"]
mod world;

#[path = "cluster/applying.rs"]
mod applying;
#[path = "cluster/changing.rs"]
mod changing;
#[path = "cluster/connecting.rs"]
mod connecting;
#[path = "cluster/definitions.rs"]
mod definitions;
#[path = "cluster/explaining.rs"]
mod explaining;
#[path = "cluster/logging.rs"]
mod logging;
#[path = "cluster/looking.rs"]
mod looking;
#[path = "cluster/running.rs"]
mod running;
#[path = "cluster/waiting.rs"]
mod waiting;
