//! A flow of a cluster: as the server stores it, and as far as it can be read.

use jobflow_k8s::types::{FlowPhase, JobFlow};
use kube::api::DynamicObject;
use serde_json::Value;

use super::refusal::gone;
use super::{Cluster, kinds};
use crate::failure::Failure;

/// A flow.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// As it is stored.
    pub(crate) object: DynamicObject,
    /// As it is read, or why it can't be.
    pub(crate) read: Result<Box<JobFlow>, String>,
}

impl Flow {
    /// Reads what a server stores.
    pub(crate) fn of(object: DynamicObject) -> Self {
        let value = serde_json::to_value(&object).unwrap_or(Value::Null);
        let read = serde_json::from_value(value).map(Box::new);
        Self {
            object,
            read: read.map_err(|error| error.to_string()),
        }
    }

    /// Asks for one; that it isn't there is a failure of its own.
    pub(crate) async fn find(cluster: &Cluster, name: &str) -> Result<Self, Failure> {
        let found = Self::look(cluster, name).await?;
        found.ok_or_else(|| {
            gone(name, &cluster.namespace).with_help("see those that are there with: kubectl jobflow list")
        })
    }

    /// Asks for one that may not be there.
    pub(crate) async fn look(cluster: &Cluster, name: &str) -> Result<Option<Self>, Failure> {
        let api = kinds::api(&cluster.client, Some(&cluster.namespace), &kinds::flows());
        let intent = format!("read flow `{name}`");
        match cluster.attempt(&intent, api.get(name)).await? {
            Ok(object) => Ok(Some(Self::of(object))),
            Err(kube::Error::Api(status)) if status.code == 404 && !super::refusal::is_unserved(&status) => {
                Ok(None)
            }
            Err(error) => Err(super::refusal::refusal(&intent, &error)),
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.object.metadata.name.as_deref().unwrap_or_default()
    }

    /// Its namespace.
    pub(crate) fn namespace(&self) -> &str {
        self.object.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// Its UID.
    pub(crate) fn uid(&self) -> &str {
        self.object.metadata.uid.as_deref().unwrap_or_default()
    }

    /// Its phase as the status says it; pending while it says nothing.
    pub(crate) fn phase(&self) -> FlowPhase {
        let phase = self.object.data.pointer("/status/state/phase").cloned();
        phase
            .and_then(|phase| serde_json::from_value(phase).ok())
            .unwrap_or_default()
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.phase(), FlowPhase::Succeed | FlowPhase::Failed)
    }

    /// The flow, or the failure that it can't be read.
    pub(crate) fn readable(&self) -> Result<&JobFlow, Failure> {
        self.read.as_deref().map_err(|error| {
            Failure::could_not_run(format!("cannot read flow `{}`", self.name()))
                .caused_by(error.clone())
                .with_help("it can be shown as it is stored, with `get -o yaml`")
        })
    }
}
