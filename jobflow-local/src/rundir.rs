//! The folder of a run: where it is, whose it is, what is in it.
//!
//! ```text
//! $JOBFLOW_STATE_DIR/runs/<id>/      0700; the default root is ${XDG_STATE_HOME:-~/.local/state}/jobflow
//!   run.json            whose run it is: flow, user, host, time of its start
//!   token               what each process of the run carries in its environment
//!   run.lock            locked by the `jobflow` that decides
//!   journal.jsonl       what was decided, a line each: the truth
//!   flow.json           a checkpoint of it, at most a second old
//!   executor.*          the executor's journal, lock, socket and complaints
//!   logs/ volumes/ ...  what tasks write
//! ```
//! Deliberately absent: what the lines of the journal mean.

mod checkpoint;
mod id;
mod identity;
mod journal;
mod root;

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

pub use checkpoint::Checkpoint;
pub use id::{BadRunId, RunId};
pub use identity::Identity;
pub use journal::{JournalError, JournalWriter, read_journal};
pub use root::{PrunePolicy, RunEntry, StateRoot, prunable};

use nix::libc;
use serde::{Deserialize, Serialize};

use crate::executor;

/// The name of the journal of decisions in a run's folder.
pub const JOURNAL: &str = "journal.jsonl";
/// The name of the checkpoint in a run's folder.
pub const CHECKPOINT: &str = "flow.json";

const RECORD: &str = "run.json";
const LOCK: &str = "run.lock";

/// Why a run's folder can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunDirError {
    /// There is no such run.
    #[error("there is no run {0}")]
    Missing(RunId),
    /// A run of that name is there already.
    #[error("run {0} exists already")]
    Exists(RunId),
    /// Another process decides for this run.
    #[error("run {0} is in use by another jobflow")]
    InUse(RunId),
    /// It belongs to somebody else.
    #[error("{path} belongs to user {owner}, not to user {user}")]
    OtherUser {
        /// The folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asks.
        user: u32,
    },
    /// It was made on another machine: process numbers in it mean nothing here.
    #[error("{path} was made on host {recorded}, and this is {host}")]
    OtherHost {
        /// The folder.
        path: PathBuf,
        /// Where it was made.
        recorded: String,
        /// Where we are.
        host: String,
    },
    /// Others may look into it or write to it.
    #[error("{path} is open to others (mode {mode:o}); make it private with chmod 700")]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Nothing can be written to it.
    #[error("{0} can't be written to")]
    ReadOnly(PathBuf),
    /// Something in it isn't ours.
    #[error("{path} was not written by this program")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// There is neither a state folder nor a home folder.
    #[error("no place for state: set JOBFLOW_STATE_DIR, XDG_STATE_HOME or HOME")]
    NoPlace,
    /// The system refused something else.
    #[error("cannot use {path}")]
    System {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Whose run it is; written once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The run.
    pub id: RunId,
    /// The flow's name.
    pub flow: String,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// By whom, and on which host.
    pub identity: Identity,
}

/// A run's folder, locked: nobody else decides for this run.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    record: RunRecord,
    _lock: File,
}

impl RunDir {
    /// Makes the folder of a new run, whole or not at all. `token` is to be random; it tells the run's processes from
    /// all others.
    fn create(path: PathBuf, record: RunRecord, token: &str) -> Result<Self, RunDirError> {
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(RunDirError::Exists(record.id));
            }
            Err(source) => return Err(system(&path)(source)),
        }
        Self::furnish(path.clone(), record, token).inspect_err(|_| {
            // It is new and ours alone; half a folder would be no run, and nothing would take it away.
            let _ = fs::remove_dir_all(&path);
        })
    }

    fn furnish(path: PathBuf, record: RunRecord, token: &str) -> Result<Self, RunDirError> {
        let lock = lock(&path, &record.id)?;
        write_new(&path.join(executor::TOKEN), token.as_bytes())?;
        let text = serde_json::to_vec_pretty(&record).map_err(|source| RunDirError::Foreign {
            path: path.join(RECORD),
            source,
        })?;
        write_new(&path.join(RECORD), &text)?;
        Ok(Self {
            path,
            record,
            _lock: lock,
        })
    }

    /// Opens the folder of a run that is to go on.
    fn open(path: PathBuf, id: &RunId, identity: &Identity) -> Result<Self, RunDirError> {
        check_private(&path, id, identity.user)?;
        let record = read_record(&path)?;
        let Identity { user: _, host } = identity;
        if record.identity.host != *host {
            let recorded = record.identity.host;
            return Err(RunDirError::OtherHost {
                path,
                recorded,
                host: host.clone(),
            });
        }
        let lock = lock(&path, id)?;
        Ok(Self {
            path,
            record,
            _lock: lock,
        })
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whose run it is.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }
}

fn read_record(path: &Path) -> Result<RunRecord, RunDirError> {
    let path = path.join(RECORD);
    let text = fs::read(&path).map_err(system(&path))?;
    serde_json::from_slice(&text).map_err(|source| RunDirError::Foreign { path, source })
}

fn check_private(path: &Path, id: &RunId, user: u32) -> Result<(), RunDirError> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(RunDirError::Missing(id.clone()));
        }
        other => other.map_err(system(path))?,
    };
    let path = path.to_owned();
    if metadata.uid() != user {
        return Err(RunDirError::OtherUser {
            path,
            owner: metadata.uid(),
            user,
        });
    }
    if !metadata.is_dir() {
        return Err(RunDirError::Missing(id.clone()));
    }
    match metadata.mode() & 0o777 {
        mode if mode & 0o077 != 0 => Err(RunDirError::NotPrivate { path, mode }),
        _ => Ok(()),
    }
}

fn lock(path: &Path, id: &RunId) -> Result<File, RunDirError> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW);
    let file = options.open(path.join(LOCK)).map_err(|error| {
        let refused = [io::ErrorKind::ReadOnlyFilesystem, io::ErrorKind::PermissionDenied];
        match refused.contains(&error.kind()) {
            true => RunDirError::ReadOnly(path.to_owned()),
            false => system(path)(error),
        }
    })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(RunDirError::InUse(id.clone())),
        Err(TryLockError::Error(source)) => Err(system(path)(source)),
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), RunDirError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let file = options.open(path).map_err(system(path))?;
    io::Write::write_all(&mut &file, bytes).map_err(system(path))
}

fn system(path: &Path) -> impl FnOnce(io::Error) -> RunDirError {
    let path = path.to_owned();
    |source| RunDirError::System { path, source }
}
