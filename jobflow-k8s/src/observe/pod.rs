//! A pod of a watch: who owns it, its phase and address, and how its containers ended. Specs, environments, volumes and
//! termination messages are read over, never built.

use std::borrow::Cow;
use std::net::IpAddr;

use jobflow_core::Time;
use jobflow_core::gang::PodPhase;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time as KubeTime};
use kube::Resource;
use kube::core::NamespaceResourceScope;
use serde::Deserialize;

use super::address::Address;
use super::metadata::trimmed;
use super::time;

/// A pod as it is watched.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Raw")]
pub struct SlimPod {
    /// Name, namespace, UID, resource version, times and the controller.
    pub metadata: ObjectMeta,
    /// The phase.
    pub phase: PodPhase,
    /// Why it is in that phase, such as `Evicted`.
    pub reason: Option<Box<str>>,
    /// Whether it runs and all its containers are ready.
    pub ready: bool,
    /// Whether it was told to go for a reason of the cluster's (`DisruptionTarget`).
    pub disrupted: bool,
    /// Where it is reached.
    pub address: Address,
    /// Its containers: those that initialise first, each in the order of the status.
    pub containers: Box<[Container]>,
}

/// A container of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Container {
    /// The name.
    pub name: Box<str>,
    /// Whether it is known to have run.
    pub ran: bool,
    /// How it ended, the time before the last and the last, as far as the status tells.
    pub ends: Vec<Termination>,
}

/// How a container ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Termination {
    /// The exit code.
    pub exit_code: i32,
    /// Why, such as `OOMKilled`.
    pub reason: Option<Box<str>>,
    /// When.
    pub finished: Option<Time>,
}

impl SlimPod {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }
}

impl Resource for SlimPod {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(&(): &()) -> Cow<'_, str> {
        "Pod".into()
    }

    fn group(&(): &()) -> Cow<'_, str> {
        "".into()
    }

    fn version(&(): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn api_version(&(): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural(&(): &()) -> Cow<'_, str> {
        "pods".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[derive(Deserialize)]
struct Raw {
    metadata: ObjectMeta,
    #[serde(default)]
    spec: RawSpec,
    #[serde(default)]
    status: RawStatus,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawSpec {
    host_network: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawStatus {
    phase: Option<String>,
    reason: Option<String>,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
    #[serde(rename = "hostIP")]
    host_ip: Option<String>,
    conditions: Option<Vec<RawCondition>>,
    init_container_statuses: Option<Vec<RawContainer>>,
    container_statuses: Option<Vec<RawContainer>>,
}

#[derive(Deserialize)]
struct RawCondition {
    r#type: String,
    status: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawContainer {
    name: String,
    state: Option<RawState>,
    last_state: Option<RawState>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawState {
    running: Option<Started>,
    terminated: Option<RawTermination>,
}

/// That it runs is all that is read.
#[derive(Default, Deserialize)]
struct Started {}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawTermination {
    exit_code: i32,
    reason: Option<String>,
    started_at: Option<KubeTime>,
    finished_at: Option<KubeTime>,
}

impl From<Raw> for SlimPod {
    fn from(
        Raw {
            metadata,
            spec,
            status,
        }: Raw,
    ) -> Self {
        let address = address(&spec, &status);
        let RawStatus {
            phase,
            reason,
            pod_ip: _,
            host_ip: _,
            conditions,
            init_container_statuses,
            container_statuses,
        } = status;
        let holds = |wanted: &str| {
            conditions
                .iter()
                .flatten()
                .any(|condition| condition.r#type == wanted && condition.status == "True")
        };
        let phase = phase
            .as_deref()
            .and_then(PodPhase::parse)
            .unwrap_or(PodPhase::Pending);
        let leaving = metadata.deletion_timestamp.is_some();
        Self {
            phase,
            address,
            reason: reason
                .filter(|reason| !reason.is_empty())
                .map(String::into_boxed_str),
            ready: phase == PodPhase::Running && !leaving && holds("Ready"),
            disrupted: holds("DisruptionTarget"),
            containers: init_container_statuses
                .into_iter()
                .chain(container_statuses)
                .flatten()
                .map(Container::from)
                .collect(),
            metadata: trimmed(metadata, |_| false),
        }
    }
}

/// An address counts only if it is the pod's own, whatever form it is written in.
fn address(spec: &RawSpec, status: &RawStatus) -> Address {
    let read = |text: &Option<String>| {
        text.as_deref()?
            .parse::<IpAddr>()
            .ok()
            .map(|ip| ip.to_canonical())
    };
    match read(&status.pod_ip) {
        None => Address::None,
        Some(_) if spec.host_network == Some(true) => Address::OfNode,
        own if own == read(&status.host_ip) => Address::OfNode,
        Some(own) => Address::Own(own),
    }
}

impl From<RawContainer> for Container {
    fn from(
        RawContainer {
            name,
            state,
            last_state,
        }: RawContainer,
    ) -> Self {
        let (state, last_state) = (state.unwrap_or_default(), last_state.unwrap_or_default());
        let ends: Vec<RawTermination> = last_state
            .terminated
            .into_iter()
            .chain(state.terminated)
            .collect();
        Self {
            name: name.into_boxed_str(),
            ran: state.running.is_some() || ends.iter().any(|end| end.started_at.is_some()),
            ends: ends.into_iter().map(Termination::from).collect(),
        }
    }
}

impl From<RawTermination> for Termination {
    fn from(
        RawTermination {
            exit_code,
            reason,
            started_at: _,
            finished_at,
        }: RawTermination,
    ) -> Self {
        Self {
            exit_code,
            reason: reason
                .filter(|reason| !reason.is_empty())
                .map(String::into_boxed_str),
            finished: finished_at.as_ref().map(time),
        }
    }
}
