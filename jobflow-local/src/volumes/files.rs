//! Volumes that are files: ConfigMaps, Secrets, the downward API, and several of them projected into one.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{
    MountPlan,
    source::{relative, text},
};
use crate::pod::{
    environment::resource,
    fields::field,
    template::{FieldRef, ResourceFieldRef},
};

type Files = BTreeMap<PathBuf, VolumeFile>;

const MODE: u32 = 0o644;

/// One file of a volume.
#[derive(Clone, PartialEq, Eq)]
pub struct VolumeFile {
    /// What is in it.
    pub content: Vec<u8>,
    /// Its permissions.
    pub mode: u32,
}

// Written by hand: the content may be secret, and must not reach a log through `{:?}`.
impl fmt::Debug for VolumeFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { content, mode } = self;
        write!(formatter, "VolumeFile({} bytes, {mode:o})", content.len())
    }
}

pub(super) fn config_map(plan: &MountPlan<'_>, value: &Value) -> Result<Files, String> {
    let name = text(value, "name");
    keys(value, "ConfigMap", name, plan.scope.objects.map(name))
}

/// A volume names its Secret by `secretName`, a projection by `name`.
pub(super) fn secret(plan: &MountPlan<'_>, value: &Value) -> Result<Files, String> {
    let name = if value.get("secretName").is_some() {
        text(value, "secretName")
    } else {
        text(value, "name")
    };
    keys(value, "Secret", name, plan.scope.objects.secret(name))
}

fn keys(
    value: &Value,
    kind: &str,
    name: &str,
    data: Option<&BTreeMap<String, Vec<u8>>>,
) -> Result<Files, String> {
    let optional = value.get("optional") == Some(&Value::Bool(true));
    let Some(data) = data else {
        let message =
            format!("there is no {kind} `{name}`: give the file that defines it, or make it optional");
        return if optional { Ok(Files::new()) } else { Err(message) };
    };
    let Some(items) = value.get("items").and_then(Value::as_array) else {
        let file = |content: &Vec<u8>| VolumeFile {
            content: content.clone(),
            mode: mode(value, None),
        };
        return data
            .iter()
            .map(|(key, content)| Ok((relative(key)?, file(content))))
            .collect();
    };
    let mut files = Files::new();
    for item in items {
        match data.get(text(item, "key")) {
            Some(content) => {
                let file = VolumeFile {
                    content: content.clone(),
                    mode: mode(value, Some(item)),
                };
                files.insert(relative(text(item, "path"))?, file);
            }
            None if optional => {}
            None => return Err(format!("{kind} `{name}` has no key `{}`", text(item, "key"))),
        }
    }
    Ok(files)
}

pub(super) fn downward(plan: &MountPlan<'_>, value: &Value) -> Result<Files, String> {
    let mut files = Files::new();
    for item in value.get("items").and_then(Value::as_array).into_iter().flatten() {
        let content = downward_item(plan, item)?.into_bytes();
        files.insert(
            relative(text(item, "path"))?,
            VolumeFile {
                content,
                mode: mode(value, Some(item)),
            },
        );
    }
    Ok(files)
}

fn downward_item(plan: &MountPlan<'_>, item: &Value) -> Result<String, String> {
    let fault = |error: serde_json::Error| error.to_string();
    if let Some(reference) = item.get("fieldRef") {
        return field(
            plan.scope.pod,
            &FieldRef::deserialize(reference).map_err(fault)?.field_path,
        );
    }
    let reference = item
        .get("resourceFieldRef")
        .ok_or("has neither fieldRef nor resourceFieldRef")?;
    resource(
        plan.scope,
        plan.container,
        &ResourceFieldRef::deserialize(reference).map_err(fault)?,
    )
}

pub(super) fn projected(plan: &MountPlan<'_>, value: &Value) -> Result<Files, String> {
    let mut files = Files::new();
    for part in value
        .get("sources")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        for (kind, source) in part.as_object().into_iter().flatten() {
            let mut source = source.clone();
            if let (Some(source), Some(mode)) = (source.as_object_mut(), value.get("defaultMode")) {
                source.insert("defaultMode".to_owned(), mode.clone());
            }
            files.extend(match kind.as_str() {
                "configMap" => config_map(plan, &source)?,
                "secret" => secret(plan, &source)?,
                "downwardAPI" => downward(plan, &source)?,
                other => return Err(format!("a projected {other} does not exist on one machine")),
            });
        }
    }
    Ok(files)
}

fn mode(volume: &Value, item: Option<&Value>) -> u32 {
    let own = item.and_then(|item| item.get("mode"));
    let mode = own.or_else(|| volume.get("defaultMode")).and_then(Value::as_u64);
    mode.and_then(|mode| u32::try_from(mode).ok())
        .map_or(MODE, |mode| mode & 0o777)
}
