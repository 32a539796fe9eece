//! The part of a PodTemplateSpec that means something without a cluster, laid over the data as it came.
//!
//! Deliberately absent: whatever only a kubelet or a scheduler can do (images, affinity, tolerations, probes other than
//! `readinessProbe`). It stays in the data and is not looked at.

mod readiness;

use std::collections::BTreeMap;

use jobflow_k8s::fault::FieldPath;
use serde::Deserialize;
use serde_json::Value;

use super::PodFault;
pub use readiness::{Check, ContainerPort, Readiness, ReadinessProbe};

/// A pod template.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodTemplate {
    /// Labels and annotations.
    pub metadata: Metadata,
    /// The pod.
    pub spec: PodSpec,
}

/// Labels and annotations of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
}

/// A pod.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// Run one after the other before the others; each must succeed.
    pub init_containers: Vec<Container>,
    /// Run together.
    pub containers: Vec<Container>,
    /// What containers can mount.
    pub volumes: Vec<Volume>,
    /// What happens when a container ends.
    pub restart_policy: RestartPolicy,
    /// The longest life of the pod.
    pub active_deadline_seconds: Option<u32>,
    /// Between SIGTERM and SIGKILL; 30 when missing.
    pub termination_grace_period_seconds: Option<u32>,
    /// Shown to containers that ask for it.
    pub service_account_name: Option<String>,
    /// As it came; see [`super::security`].
    pub security_context: Option<Value>,
}

/// What happens when a container ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum RestartPolicy {
    /// It is started again, whatever its exit code.
    #[default]
    Always,
    /// It is started again unless it succeeded.
    OnFailure,
    /// It is not started again.
    Never,
}

/// One container.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    /// Unique in the pod.
    pub name: String,
    /// The program; its absence is not a fault of the template, for the user may give one.
    pub command: Vec<String>,
    /// What follows the command.
    pub args: Vec<String>,
    /// Where it starts.
    pub working_dir: Option<String>,
    /// Variables, in order.
    pub env: Vec<EnvVar>,
    /// Whole ConfigMaps and Secrets as variables; `env` wins.
    pub env_from: Vec<EnvFrom>,
    /// Which volumes it sees where.
    pub volume_mounts: Vec<VolumeMount>,
    /// Requests and limits.
    pub resources: Resources,
    /// Where the container writes why it ended; `/dev/termination-log` when missing.
    pub termination_message_path: Option<String>,
    /// What is read when it wrote nothing.
    pub termination_message_policy: TerminationMessagePolicy,
    /// As it came; see [`super::security`].
    pub security_context: Option<Value>,
    /// `Always` makes an init container a sidecar.
    pub restart_policy: Option<RestartPolicy>,
    /// The ports at which it listens.
    pub ports: Vec<ContainerPort>,
    /// As it is written; see [`Container::readiness`].
    pub readiness_probe: Option<ReadinessProbe>,
}

/// Where a container's last words come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum TerminationMessagePolicy {
    /// The file only.
    #[default]
    File,
    /// The end of the log, if it failed and wrote no file.
    FallbackToLogsOnError,
}

/// One variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvVar {
    /// Its name.
    pub name: String,
    /// Its value, in which `$(OTHER)` is replaced.
    pub value: Option<String>,
    /// Where its value comes from instead.
    pub value_from: Option<ValueFrom>,
}

/// Where a variable's value comes from: one of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ValueFrom {
    /// A field of the pod.
    pub field_ref: Option<FieldRef>,
    /// A request or limit.
    pub resource_field_ref: Option<ResourceFieldRef>,
    /// A key of a ConfigMap.
    pub config_map_key_ref: Option<KeyRef>,
    /// A key of a Secret.
    pub secret_key_ref: Option<KeyRef>,
}

/// A field of the pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FieldRef {
    /// As `metadata.name`.
    pub field_path: String,
}

/// A request or limit of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceFieldRef {
    /// The container; this one when missing.
    pub container_name: Option<String>,
    /// As `limits.cpu`.
    pub resource: String,
    /// The unit; 1 when missing.
    pub divisor: Option<Value>,
}

/// A key of a ConfigMap or Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct KeyRef {
    /// The object.
    pub name: String,
    /// The key in it.
    pub key: String,
    /// Whether it may be missing.
    pub optional: Option<bool>,
}

/// A whole ConfigMap or Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvFrom {
    /// Put before each name.
    pub prefix: String,
    /// The ConfigMap.
    pub config_map_ref: Option<ObjectRef>,
    /// The Secret.
    pub secret_ref: Option<ObjectRef>,
}

/// A ConfigMap or Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ObjectRef {
    /// The object.
    pub name: String,
    /// Whether it may be missing.
    pub optional: Option<bool>,
}

/// Requests and limits, as quantities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Resources {
    /// What is set aside for it.
    pub requests: BTreeMap<String, Value>,
    /// What it may use at most; a missing request is the limit.
    pub limits: BTreeMap<String, Value>,
}

/// One volume: a name and one source.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Volume {
    /// Its name.
    pub name: String,
    /// The source, by its field's name: `emptyDir`, `hostPath`, …
    #[serde(flatten)]
    pub source: BTreeMap<String, Value>,
}

/// Where a container sees a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeMount {
    /// The volume.
    pub name: String,
    /// An absolute path.
    pub mount_path: String,
    /// A path in the volume.
    pub sub_path: Option<String>,
    /// The same, with `$(VAR)` replaced.
    pub sub_path_expr: Option<String>,
    /// Whether nothing may be written to it.
    pub read_only: Option<bool>,
}

impl PodTemplate {
    /// Lays the view over a template's data.
    ///
    /// # Errors
    ///
    /// A fault for a field of the wrong type, or one for each thing without which nothing can run.
    pub fn read(value: &Value) -> Result<Self, Vec<PodFault>> {
        let template = Self::deserialize(&without_nulls(value))
            .map_err(|error| vec![PodFault::new(FieldPath::root(), error.to_string())])?;
        let mut faults = Vec::new();
        if template.spec.containers.is_empty() {
            let path = FieldPath::root().field("spec").field("containers");
            faults.push(PodFault::new(path, "there is no container"));
        }
        let init = template.spec.init_containers.len();
        for (place, (path, container)) in template.all_containers().enumerate() {
            check(&path, place < init, container, &mut faults);
        }
        if faults.is_empty() {
            Ok(template)
        } else {
            Err(faults)
        }
    }

    /// Lists all containers with their paths, those for the start first.
    pub fn all_containers(&self) -> impl Iterator<Item = (FieldPath, &Container)> {
        let placed = |list: &'static str| move |(place, container)| (container_path(list, place), container);
        let init = self.spec.init_containers.iter().enumerate();
        let rest = self.spec.containers.iter().enumerate();
        init.map(placed("initContainers"))
            .chain(rest.map(placed("containers")))
    }
}

fn container_path(list: &str, place: usize) -> FieldPath {
    FieldPath::root().field("spec").field(list).index(place)
}

fn check(path: &FieldPath, init: bool, container: &Container, faults: &mut Vec<PodFault>) {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let name = container.name.as_str();
    if name.is_empty() || name.len() > 63 || !name.bytes().all(plain) {
        faults.push(PodFault::new(
            path.field("name"),
            "a container's name has 1 to 63 lower-case letters, digits and `-`",
        ));
    }
    if container.restart_policy == Some(RestartPolicy::Always) && init {
        let message = "a sidecar (an init container with restartPolicy Always) can't be run here";
        faults.push(PodFault::new(path.field("restartPolicy"), message));
    }
    // An init container has none: the cluster's admission refuses it.
    if let Err(fault) = container.readiness(path) {
        faults.push(fault);
    }
}

/// Null means missing, as an API server has it.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let present = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                present
                    .map(|(key, value)| (key.clone(), without_nulls(value)))
                    .collect(),
            )
        }
        Value::Array(list) => Value::Array(list.iter().map(without_nulls).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_fields_and_nulls_are_passed_over() {
        let value = json!({"metadata": {"creationTimestamp": null}, "spec": {
            "restartPolicy": "Never", "nodeSelector": {"a": "b"}, "volumes": [{"name": "v", "emptyDir": {}}],
            "containers": [{"name": "main", "image": "x", "command": ["true"], "env": null}]}});
        let template = PodTemplate::read(&value).unwrap();
        assert_eq!(template.spec.restart_policy, RestartPolicy::Never);
        assert!(template.spec.volumes[0].source.contains_key("emptyDir"));
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let init = json!([{"name": "i", "restartPolicy": "Always"}]);
        let value =
            json!({"spec": {"initContainers": init, "containers": [{"name": "../x"}, {"name": "b"}]}});
        let faults = PodTemplate::read(&value).unwrap_err();
        let paths: Vec<String> = faults.iter().map(|fault| fault.path.to_string()).collect();
        assert_eq!(
            paths,
            ["spec.initContainers[0].restartPolicy", "spec.containers[0].name"]
        );
        assert!(PodTemplate::read(&json!({"spec": {"containers": 3}})).is_err());
        assert!(PodTemplate::read(&json!({})).is_err());
    }
}
