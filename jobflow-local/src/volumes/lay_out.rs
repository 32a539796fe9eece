//! Making the folders. What lies below the run's folder is reached through a handle on it, which no link leaves.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt};
use nix::libc;

use super::{Mounted, Source, VolumeFile};

/// A folder that can't be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VolumeError {
    /// A folder of the machine leads out of what was allowed.
    #[error("{path} is not below {prefix}, once its links are followed")]
    Outside {
        /// The folder.
        path: PathBuf,
        /// What was allowed.
        prefix: PathBuf,
    },
    /// The system refused.
    #[error("cannot use the folder {path} for {mount_path}")]
    System {
        /// The folder.
        path: PathBuf,
        /// Where it is to be seen.
        mount_path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Mounted {
    /// Makes what is missing. May be done again.
    ///
    /// # Errors
    ///
    /// When a folder can't be made, or leads out of where it should be.
    pub fn lay_out(&self, run: &Dir) -> Result<(), VolumeError> {
        let system = |path: &Path| {
            let (path, mount_path) = (path.to_owned(), self.mount_path.clone());
            |source| VolumeError::System {
                path,
                mount_path,
                source,
            }
        };
        match &self.source {
            Source::Folder(path) => {
                let whole = path.join(&self.sub_path);
                run.create_dir_all(&whole).map_err(system(&whole))
            }
            Source::Files(path, files) => write_files(run, path, files).map_err(system(path)),
            Source::User(path) => std::fs::create_dir_all(path.join(&self.sub_path)).map_err(system(path)),
            Source::Host { path, prefix } => {
                let whole = path.join(&self.sub_path);
                let real = whole.canonicalize().map_err(system(&whole))?;
                let allowed = prefix.canonicalize().map_err(system(prefix))?;
                match real.starts_with(allowed) {
                    true => Ok(()),
                    false => Err(VolumeError::Outside {
                        path: whole,
                        prefix: prefix.clone(),
                    }),
                }
            }
        }
    }
}

fn write_files<'a>(
    run: &Dir,
    folder: &Path,
    files: impl IntoIterator<Item = (&'a PathBuf, &'a VolumeFile)>,
) -> io::Result<()> {
    run.create_dir_all(folder)?;
    for (name, VolumeFile { content, mode }) in files {
        let path = folder.join(name);
        if holds(run, &path, content) {
            continue;
        }
        if let Some(parent) = path.parent() {
            run.create_dir_all(parent)?;
        }
        // A new file beside it, then the name: whoever reads sees all of the old or all of the new one.
        let temporary = path.with_added_extension("new");
        let _ = run.remove_file(&temporary);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(*mode);
        run.open_with(&temporary, &options)?.write_all(content)?;
        run.rename(&temporary, run, &path)?;
    }
    Ok(())
}

/// Tells whether a file is as it should be; most are, for the containers of a Job share them.
fn holds(run: &Dir, path: &Path, content: &[u8]) -> bool {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let Ok(file) = run.open_with(path, &options) else {
        return false;
    };
    let length = content.len() as u64;
    let as_long = |metadata: Metadata| metadata.is_file() && metadata.len() == length;
    let mut present = Vec::with_capacity(content.len());
    file.metadata().is_ok_and(as_long)
        && file.take(length + 1).read_to_end(&mut present).is_ok()
        && present == content
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mounted(source: Source, sub_path: &str) -> Mounted {
        Mounted {
            mount_path: "/m".into(),
            source,
            sub_path: sub_path.into(),
            read_only: false,
        }
    }

    fn run() -> (tempfile::TempDir, Dir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        (folder, dir)
    }

    #[test]
    fn folders_and_files_are_made_and_made_again() {
        let (folder, run) = run();
        let file = VolumeFile {
            content: b"x".to_vec(),
            mode: 0o600,
        };
        let files = Source::Files("a/b".into(), [("c/d".into(), file)].into());
        for _ in 0..2 {
            mounted(Source::Folder("v".into()), "s/t").lay_out(&run).unwrap();
            mounted(files.clone(), "").lay_out(&run).unwrap();
        }
        assert!(folder.path().join("v/s/t").is_dir());
        let path = folder.path().join("a/b/c/d");
        assert_eq!(std::fs::read(&path).unwrap(), b"x");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "y").unwrap();
        mounted(files, "").lay_out(&run).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"x");
    }

    #[test]
    fn a_link_planted_by_a_task_leads_nowhere() {
        let (folder, run) = run();
        let outside = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("v")).unwrap();
        symlink(outside.path(), folder.path().join("v/s")).unwrap();
        assert!(mounted(Source::Folder("v".into()), "s/t").lay_out(&run).is_err());
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_of_the_machine_stays_below_what_was_allowed() {
        let (_folder, run) = run();
        let allowed = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::create_dir(allowed.path().join("in")).unwrap();
        symlink(outside.path(), allowed.path().join("out")).unwrap();
        let host = |name| Source::Host {
            path: allowed.path().join(name),
            prefix: allowed.path().to_owned(),
        };
        mounted(host("in"), "").lay_out(&run).unwrap();
        assert!(matches!(
            mounted(host("out"), "").lay_out(&run),
            Err(VolumeError::Outside { .. })
        ));
    }
}
