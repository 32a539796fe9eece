//! What stands for a volume, by the kind of its source.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use super::{
    MountPlan, VolumeFile,
    files::{config_map, downward, projected, secret},
};
use crate::pod::template::Volume;

/// What stands for a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A folder below the run's, made when it is missing.
    Folder(PathBuf),
    /// A folder below the run's with these files.
    Files(PathBuf, BTreeMap<PathBuf, VolumeFile>),
    /// A folder of the machine, below a prefix that was allowed.
    Host {
        /// The folder.
        path: PathBuf,
        /// What it must be below.
        prefix: PathBuf,
    },
    /// A folder of the user's.
    User(PathBuf),
}

/// Finds what stands for a volume of a pod template.
pub(super) fn source(plan: &MountPlan<'_>, volume: &Volume) -> Result<Source, String> {
    let name = plain(&volume.name)?;
    let own = || plan.pod_folder.join("volumes").join(&name);
    let Some((kind, value)) = volume.source.iter().next() else {
        return Ok(Source::Folder(own()));
    };
    let files = |files: BTreeMap<PathBuf, VolumeFile>| Source::Files(own(), files);
    match kind.as_str() {
        "emptyDir" => Ok(Source::Folder(own())),
        "hostPath" => host_path(plan, value),
        "persistentVolumeClaim" => claim(plan, text(value, "claimName")),
        "configMap" => config_map(plan, value).map(files),
        "secret" => secret(plan, value).map(files),
        "downwardAPI" => downward(plan, value).map(files),
        "projected" => projected(plan, value).map(files),
        other => Err(format!(
            "a volume of kind {other} does not exist on one machine; give the mount path a folder: --map PATH=DIR"
        )),
    }
}

/// A claim: a folder that all who name it share.
pub(super) fn claim(plan: &MountPlan<'_>, name: &str) -> Result<Source, String> {
    if let Some(folder) = plan.mapped(name) {
        return Ok(Source::User(folder.to_owned()));
    }
    Ok(Source::Folder(Path::new("volumes/claims").join(plain(name)?)))
}

fn host_path(plan: &MountPlan<'_>, value: &Value) -> Result<Source, String> {
    let path = absolute(text(value, "path"))?;
    let allowed = plan
        .options
        .host_prefixes
        .iter()
        .find(|prefix| path.starts_with(prefix));
    if let Some(prefix) = allowed {
        return Ok(Source::Host {
            path,
            prefix: prefix.clone(),
        });
    }
    match text(value, "type") {
        "" | "Directory" | "DirectoryOrCreate" => {
            let below = path.strip_prefix("/").unwrap_or(&path);
            Ok(Source::Folder(Path::new("volumes/host").join(below)))
        }
        other => Err(format!(
            "a hostPath of type {other} needs the machine's own: --allow-host-path {}",
            path.display()
        )),
    }
}

pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A name that may become the name of a folder.
pub(super) fn plain(name: &str) -> Result<PathBuf, String> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
    if name.is_empty() || name.len() > 253 || name.starts_with('.') || !name.bytes().all(is_plain) {
        return Err(format!(
            "{name:?} is no name: lower-case letters, digits, `-` and `.`"
        ));
    }
    Ok(name.into())
}

/// An absolute path without `.` and `..`.
pub(super) fn absolute(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    let mut parts = path.components();
    let rooted = parts.next() == Some(Component::RootDir);
    if !rooted || text.contains('\0') || !parts.all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("{text:?} is no absolute path without `..`"));
    }
    Ok(path.components().collect())
}

/// A path below something: relative, without `..`.
pub(super) fn relative(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    if text.contains('\0')
        || !path
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        return Err(format!("{text:?} is no relative path without `..`"));
    }
    Ok(path
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect())
}
