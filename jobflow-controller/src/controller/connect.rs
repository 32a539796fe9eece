//! What a process finds around itself: the cluster, its namespace, a name of its own.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::RunError;
use crate::arguments::Settings;
use crate::lease::Identity;

/// Where a pod finds the namespace of its service account.
const NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
/// How long a connection may take to come about.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A client that repeats nothing by itself: a lost lease has to stop everything at once.
pub(super) async fn client(settings: &Settings) -> Result<Client, RunError> {
    let connect = |error: Box<dyn std::error::Error + Send + Sync>| RunError::Connect(error);
    let mut config = match &settings.kubeconfig {
        Some(file) => {
            let kubeconfig = Kubeconfig::read_from(file).map_err(|error| connect(error.into()))?;
            let options = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
            config.map_err(|error| connect(error.into()))?
        }
        None if own_namespace().is_some() => Config::incluster().map_err(|error| connect(error.into()))?,
        None => Config::infer().await.map_err(|error| connect(error.into()))?,
    };
    config.connect_timeout = Some(CONNECT_WITHIN);
    crate::connect::connect(config).map_err(|error| connect(error.into()))
}

/// The address under which pods reach the API server; none outside of a cluster.
pub(super) fn api_server() -> Option<IpAddr> {
    std::env::var("KUBERNETES_SERVICE_HOST").ok()?.parse().ok()
}

/// The namespace of the pod that this runs in; none outside of a cluster.
pub(super) fn own_namespace() -> Option<String> {
    let namespace = fs::read_to_string(NAMESPACE).ok()?;
    Some(namespace.trim().to_owned()).filter(|namespace| !namespace.is_empty())
}

/// The namespace of the Lease: as it is said, our own, or the one that the configuration of the client names.
pub(super) fn lease_namespace(settings: &Settings, client: &Client) -> String {
    let said = settings.lease.as_ref().and_then(|lease| lease.namespace.clone());
    said.or_else(own_namespace)
        .unwrap_or_else(|| client.default_namespace().to_owned())
}

/// The name of the host, which is the pod's, and a number that no other process has.
pub(super) fn identity() -> Identity {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Identity::new(host.trim(), random())
}

/// The standard library takes the keys of a hasher from the system's randomness.
pub(super) fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
