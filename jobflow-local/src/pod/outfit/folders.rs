//! From an outfit to a task: its folders are made, and the executor can start it.

use std::{
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use cap_std::fs::{Dir, OpenOptions, Permissions};

use super::{Outfit, Site};
use crate::{
    enter::{Bind, EnterPlan},
    task::TaskSpec,
    volumes::{Mounted, Source, VolumeError},
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
            if let (Source::Folder(path), Some(_)) = (&mounted.source, self.security.uid) {
                open_to_all(run, &path.join(&mounted.sub_path), 0o777)?;
            }
        }
        // One by one: in a short task's life, folders are what takes the longest.
        for folder in ["home", "messages", "tmp"].map(Path::new) {
            make(run, folder)?;
        }
        make(run, &self.names.temporary)?;
        let entered = !site.enter.is_empty()
            && (self.isolate || self.security.no_new_privileges || self.security.changes_user());
        let mut task = TaskSpec {
            argv: self.argv.clone(),
            env: self.env.clone().into_iter().collect(),
            cwd: self.made_cwd(site, run)?,
            log: self.names.log.clone(),
            log_limit: site.log_limit,
            umask: None,
            uid: self.security.uid,
            gid: self.security.gid,
        };
        if entered {
            let plan = self.plan(site, run, task.cwd)?;
            task.argv = site.enter.clone();
            task.argv.push(serde_json::to_string(&plan)?);
            // The helper does these itself: where they are may be closed to another user, or in its namespace only.
            task.cwd = PathBuf::from("/");
            (task.uid, task.gid) = (None, None);
        }
        Ok(task)
    }

    /// A container runtime makes a working folder that is missing, and so do we below the run's.
    fn made_cwd(&self, site: &Site, run: &Dir) -> Result<PathBuf, LayOutError> {
        if let Ok(below) = self.cwd.strip_prefix(&site.run) {
            run.create_dir_all(below).map_err(LayOutError::Folder)?;
        }
        Ok(self.cwd.clone())
    }

    fn plan(&self, site: &Site, run: &Dir, cwd: PathBuf) -> Result<EnterPlan, LayOutError> {
        let root = self.names.pod.join("root");
        let mut plan = EnterPlan {
            mounts: Vec::new(),
            root: site.run.join(&root),
            cwd,
            user: self.security.uid,
            group: self.security.gid,
            no_new_privileges: self.security.no_new_privileges,
            argv: self.argv.clone(),
        };
        if self.isolate {
            run.create_dir_all(&root).map_err(LayOutError::Folder)?;
            self.make_message(run)?;
            plan.mounts = self.binds(site);
        }
        Ok(plan)
    }

    /// There must be a file to mount; one that is there already may hold a message.
    fn make_message(&self, run: &Dir) -> Result<(), LayOutError> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let made = run.open_with(&self.names.message, &options);
        made.map_err(LayOutError::Folder)?;
        match self.security.uid {
            Some(_) => open_to_all(run, &self.names.message, 0o666),
            None => Ok(()),
        }
    }

    fn binds(&self, site: &Site) -> Vec<Bind> {
        let of_mount = |mounted: &Mounted| Bind {
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

/// Makes a folder in one that is there.
fn make(run: &Dir, folder: &Path) -> Result<(), LayOutError> {
    match run.create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(LayOutError::Folder(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Lets another user write, as a cluster's empty folders do. The run's folder around it stays private.
fn open_to_all(run: &Dir, path: &Path, mode: u32) -> Result<(), LayOutError> {
    let permissions = Permissions::from_std(std::fs::Permissions::from_mode(mode));
    run.set_permissions(path, permissions)
        .map_err(LayOutError::Folder)
}
