//! Volumes as folders of the run, or of the user where the user says so.
//!
//! ```text
//! volumes/claims/NAME        claims, shared by whoever names them       --map NAME=DIR makes it a folder of the user's
//! volumes/jobs/JOB/N         claims that a Job makes for itself         --map /path=DIR does so for a mount path
//! volumes/jobs/JOB/svc       the files of the `svc` plugin
//! volumes/host/PATH          hostPath, unless --allow-host-path says that the real one may be used
//! pods/POD/volumes/NAME      emptyDir, ConfigMaps, Secrets, the downward API
//! ```
//! Comes in: a template's volumes and mounts. Goes out: which folder stands for which mount path, or faults; and, with
//! [`Mounted::lay_out`], the folders. Deliberately absent: making a folder appear at its mount path; that is `enter`.

mod files;
mod lay_out;
mod mounts;
mod reach;
mod source;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use files::VolumeFile;
pub use lay_out::VolumeError;
pub use mounts::{MountPlan, mounts};
pub use reach::{folder_of, mentions, redirected, unreachable};
pub use source::Source;

/// What the user allows and asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeOptions {
    /// Folders of the user's for claims (by name) and mount paths (absolute); those are absolute too.
    pub maps: Vec<(String, PathBuf)>,
    /// Below these, a hostPath is the real one.
    pub host_prefixes: Vec<PathBuf>,
}

/// A folder that a container sees at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted {
    /// Where the manifest says it is.
    pub mount_path: PathBuf,
    /// What it is.
    pub source: Source,
    /// The part of it that is seen; empty for all.
    pub sub_path: PathBuf,
    /// Whether nothing may be written to it.
    pub read_only: bool,
}

impl Mounted {
    /// Returns the real path of what is mounted, given the run's folder.
    pub fn real_path(&self, run: &Path) -> PathBuf {
        let folder = match &self.source {
            Source::Folder(path) | Source::Files(path, _) => run.join(path),
            Source::Host { path, prefix: _ } | Source::User(path) => path.clone(),
        };
        if self.sub_path.as_os_str().is_empty() {
            folder
        } else {
            folder.join(&self.sub_path)
        }
    }
}
