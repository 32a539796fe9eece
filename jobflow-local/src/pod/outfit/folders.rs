//! From an outfit to a task: its folders are made, and the executor can start it.

use std::{
    io,
    path::{Path, PathBuf},
};

use cap_std::fs::Dir;

use super::{Outfit, Site};
use crate::{
    enter::{Bind, EnterPlan},
    task::TaskSpec,
    volumes::VolumeError,
};

/// Why a container's folders can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayOutError {
    /// A volume can't be used.
    #[error(transparent)]
    Volume(#[from] VolumeError),
    /// The pod's own folder can't be made.
    #[error("cannot make the pod's folder")]
    Folder(#[source] io::Error),
    /// What has to be told to the helper can't be written as text.
    #[error("a path is not text")]
    Plan(#[from] serde_json::Error),
}

impl Outfit {
    /// Makes folders and files, and returns what to ask of the executor. May be done again.
    ///
    /// # Errors
    ///
    /// When the disk is full, or a link leads out of the run's folder.
    pub fn lay_out(&self, site: &Site, run: &Dir) -> Result<TaskSpec, LayOutError> {
        for mounted in &self.mounts {
            mounted.lay_out(run)?;
        }
        for folder in [Path::new("home"), &self.names.pod.join("tmp")] {
            run.create_dir_all(folder).map_err(LayOutError::Folder)?;
        }
        let entered = self.isolate || self.security.no_new_privileges;
        let argv = if entered {
            self.entered(site, run)?
        } else {
            self.argv.clone()
        };
        // The helper goes to the container's folder itself: it may exist in its namespace only.
        let cwd = if entered {
            PathBuf::from("/")
        } else {
            self.made_cwd(site, run)?
        };
        Ok(TaskSpec {
            argv,
            env: self.env.clone().into_iter().collect(),
            cwd,
            log: self.names.log.clone(),
            log_limit: site.log_limit,
            umask: None,
            uid: self.security.uid,
            gid: self.security.gid,
        })
    }

    /// A container runtime makes a working folder that is missing, and so do we below the run's.
    fn made_cwd(&self, site: &Site, run: &Dir) -> Result<PathBuf, LayOutError> {
        if let Ok(below) = self.cwd.strip_prefix(&site.run) {
            run.create_dir_all(below).map_err(LayOutError::Folder)?;
        }
        Ok(self.cwd.clone())
    }

    fn entered(&self, site: &Site, run: &Dir) -> Result<Vec<String>, LayOutError> {
        let root = self.names.pod.join("root");
        let mut plan = EnterPlan {
            mounts: Vec::new(),
            root: site.run.join(&root),
            cwd: self.made_cwd(site, run)?,
            no_new_privileges: self.security.no_new_privileges,
            argv: self.argv.clone(),
        };
        if self.isolate {
            run.create_dir_all(&root).map_err(LayOutError::Folder)?;
            run.write(&self.names.message, b"").map_err(LayOutError::Folder)?;
            plan.mounts = self.binds(site);
        }
        let mut argv = site.enter.clone();
        argv.push(serde_json::to_string(&plan)?);
        Ok(argv)
    }

    fn binds(&self, site: &Site) -> Vec<Bind> {
        let of_mount = |mounted: &crate::volumes::Mounted| Bind {
            source: mounted.real_path(&site.run),
            target: mounted.mount_path.clone(),
            read_only: mounted.read_only,
        };
        let message = Bind {
            source: site.run.join(&self.names.message),
            target: self.message_path.clone(),
            read_only: false,
        };
        self.mounts.iter().map(of_mount).chain([message]).collect()
    }
}
