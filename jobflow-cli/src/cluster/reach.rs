//! A cluster that can be asked.

use std::future::Future;
use std::time::Duration;

use kube::Client;
use tokio::time::timeout;

use super::kubeconfig;
use super::refusal::{late, refusal};
use crate::arguments::cluster::Connection;
use crate::failure::Failure;

/// A client, and where in the cluster it works.
#[derive(Clone)]
pub(crate) struct Cluster {
    /// Asks the server.
    pub(crate) client: Client,
    /// The namespace that is meant.
    pub(crate) namespace: String,
    /// The server's address.
    server: String,
    patience: Option<Duration>,
}

impl Cluster {
    /// Prepares a client; nothing is asked yet.
    pub(crate) async fn reach(connection: &Connection) -> Result<Self, Failure> {
        let config = kubeconfig::config(connection).await?;
        let namespace = connection.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
        let server = config.cluster_url.to_string();
        let intent = format!("prepare a connection to {server}");
        Ok(Self {
            client: Client::try_from(config).map_err(|error| refusal(&intent, &error))?,
            namespace,
            server,
            patience: Some(connection.request_timeout).filter(|time| !time.is_zero()),
        })
    }

    /// Asks one thing; `intent` completes "cannot …".
    pub(crate) async fn ask<T>(
        &self,
        intent: &str,
        call: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, Failure> {
        self.attempt(intent, call)
            .await?
            .map_err(|error| refusal(intent, &error))
    }

    /// Asks one thing, and leaves it to the caller what a refusal means.
    pub(crate) async fn attempt<T>(
        &self,
        intent: &str,
        call: impl Future<Output = kube::Result<T>>,
    ) -> Result<kube::Result<T>, Failure> {
        let Some(patience) = self.patience else {
            return Ok(call.await);
        };
        timeout(patience, call)
            .await
            .map_err(|_| late(intent, &self.server, patience))
    }
}
