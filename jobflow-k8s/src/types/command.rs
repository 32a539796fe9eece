//! Volcano's Command: how a Job is told to stop.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use kube::core::NamespaceResourceScope;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{BUS_GROUP, VERSION};

/// An order to a Job. Volcano deletes it before it acts on it, and acts by name.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// Always `bus.volcano.sh/v1alpha1`.
    pub api_version: String,
    /// Always `Command`.
    pub kind: String,
    /// Name, namespace, owners.
    pub metadata: ObjectMeta,
    /// What to do.
    pub action: Option<CommandAction>,
    /// The Job.
    pub target: Option<OwnerReference>,
    /// Why, in one word.
    pub reason: Option<String>,
    /// Why, in a sentence.
    pub message: Option<String>,
}

/// What a Command asks for; those that are never sent here are left out.
#[expect(clippy::enum_variant_names, reason = "the names are Volcano's")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandAction {
    /// Stop the Job; it may be resumed.
    AbortJob,
    /// Let a stopped Job run again.
    ResumeJob,
    /// End the Job.
    TerminateJob,
}

impl Command {
    /// Builds the order `action` to the Job that `target` names.
    #[must_use]
    pub fn new(metadata: ObjectMeta, action: CommandAction, target: OwnerReference) -> Self {
        Self {
            api_version: format!("{BUS_GROUP}/{VERSION}"),
            kind: "Command".to_owned(),
            metadata,
            action: Some(action),
            target: Some(target),
            reason: None,
            message: None,
        }
    }
}

impl Resource for Command {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Command".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        BUS_GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "commands".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_carries_its_type_and_its_target() {
        let target = OwnerReference {
            api_version: "batch.volcano.sh/v1alpha1".to_owned(),
            kind: "Job".to_owned(),
            name: "flow-a".to_owned(),
            uid: "u".to_owned(),
            ..OwnerReference::default()
        };
        let command = Command::new(ObjectMeta::default(), CommandAction::TerminateJob, target);
        assert_eq!(
            serde_json::to_value(command).unwrap(),
            serde_json::json!({
                "apiVersion": "bus.volcano.sh/v1alpha1",
                "kind": "Command",
                "metadata": {},
                "action": "TerminateJob",
                "target": {
                    "apiVersion": "batch.volcano.sh/v1alpha1",
                    "kind": "Job",
                    "name": "flow-a",
                    "uid": "u",
                },
            })
        );
    }
}
