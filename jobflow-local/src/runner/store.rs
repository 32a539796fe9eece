//! What a run keeps beside its journals: its input and settings, written once.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{Input, RunError, Settings};
use crate::rundir::RunDir;

/// What is written of a run when it begins.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshotted<'a> {
    /// The objects.
    pub input: &'a Input,
    /// How it is run.
    pub settings: &'a Settings,
}

#[derive(Deserialize)]
struct Loaded {
    input: Input,
    settings: Settings,
}

pub(super) fn save(folder: &RunDir, name: &str, saved: &Snapshotted<'_>) -> Result<(), RunError> {
    let path = folder.path().join(name);
    let text = serde_json::to_vec(saved).map_err(io::Error::from)?;
    // Whole or not at all: a run that is killed here has not begun.
    let temporary = path.with_extension("tmp");
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(&temporary);
    let written = opened
        .and_then(|mut file| file.write_all(&text))
        .and_then(|()| fs::rename(&temporary, &path));
    written.map_err(|source| RunError::Saved { path, source })
}

pub(super) fn load(folder: &Path, name: &str) -> Result<(Input, Settings), RunError> {
    let path = folder.join(name);
    let read = fs::read(&path).and_then(|text| serde_json::from_slice(&text).map_err(io::Error::from));
    let Loaded { input, settings } = read.map_err(|source| RunError::Saved { path, source })?;
    Ok((input, settings))
}
