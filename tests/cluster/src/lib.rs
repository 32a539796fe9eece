//! A real control plane for tests: etcd, kube-apiserver and kube-controller-manager, as processes of this machine.
//!
//! Comes in: [`Options`]. Goes out: a [`ControlPlane`] with the definitions of jobflow and of Volcano's kinds installed,
//! users with tokens, and clients for them. Everything ends when it is dropped, or when the process that holds it dies
//! by whatever cause. Deliberately absent: nodes, a scheduler, and Volcano.
//!
//! ```no_run
//! use jobflow_test_cluster::{ControlPlane, User};
//! use k8s_openapi::api::core::v1::Pod;
//!
//! # async fn show() -> Result<(), Box<dyn std::error::Error>> {
//! let cluster = ControlPlane::shared()?;
//! let namespace = cluster.namespace("pods").await?;
//! let client = cluster.client(User::Admin).await?;
//! let pods = kube::Api::<Pod>::namespaced(client, &namespace).list(&kube::api::ListParams::default()).await?;
//! assert!(pods.items.is_empty());
//! # Ok(())
//! # }
//! ```

mod arguments;
mod binaries;
mod certificates;
mod control_plane;
mod etcd;
mod fault;
mod group;
mod install;
mod kubeconfig;
mod namespace;
mod options;
mod ports;
mod program;
mod ready;
mod rights;
mod users;

pub use binaries::{Binaries, BuildFault, ETCD_VERSION, HELM_VERSION, KUBERNETES_VERSION, helm};
pub use control_plane::ControlPlane;
pub use fault::Fault;
pub use options::Options;
pub use users::User;
