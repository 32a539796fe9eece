//! What the commands know of each other: a folder with the keeper's lock, its process id, its log, and where the control
//! plane is. Whether a keeper lives is told by the lock alone, which goes with the process.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::fault::Fault;

/// Longer than the control plane takes to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// The folder.
#[derive(Debug)]
pub(super) struct State {
    folder: PathBuf,
}

/// The process that holds the control plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keeper {
    id: Pid,
}

impl State {
    /// The folder that was asked for, or the one beside what cargo built.
    pub(super) fn at(folder: Option<PathBuf>) -> Result<Self, Fault> {
        let folder = folder.map_or_else(beside_what_was_built, Ok)?;
        fs::create_dir_all(&folder).map_err(Fault::file(&folder))?;
        let folder = folder.canonicalize().map_err(Fault::file(&folder))?;
        Ok(Self { folder })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("keeper.log")
    }

    /// Takes the lock and writes down who holds it; `None` if somebody else does. Held until the file is closed.
    pub(super) fn hold(&self) -> Result<Option<File>, Fault> {
        let lock = self.open_lock()?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(Fault::file(&self.folder)(error)),
            Ok(()) => {}
        }
        self.forget()?;
        self.write("keeper.pid", &std::process::id().to_string())?;
        Ok(Some(lock))
    }

    /// The keeper, if one lives.
    pub(super) fn keeper(&self) -> Result<Option<Keeper>, Fault> {
        match self.open_lock()?.try_lock() {
            Ok(()) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(Fault::file(&self.folder)(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        let path = self.folder.join("keeper.pid");
        let text = fs::read_to_string(&path).map_err(Fault::file(&path))?;
        let id = text.trim().parse().ok().and_then(Pid::from_raw);
        id.map(|id| Some(Keeper { id })).ok_or(Fault::State { path })
    }

    /// Says that the control plane is ready, and where its folder is.
    pub(super) fn is_up(&self, control_plane: &Path) -> Result<(), Fault> {
        self.write("control-plane", &control_plane.display().to_string())
    }

    /// The folder of the control plane.
    pub(super) fn control_plane(&self) -> Result<PathBuf, Fault> {
        let path = self.folder.join("control-plane");
        fs::read_to_string(&path)
            .map(PathBuf::from)
            .map_err(Fault::file(path))
    }

    /// Whether the control plane was said to be ready.
    pub(super) fn is_ready(&self) -> bool {
        self.folder.join("control-plane").is_file()
    }

    /// Waits until no keeper lives.
    pub(super) fn wait_until_down(&self) -> Result<(), Fault> {
        let deadline = Instant::now() + PATIENCE;
        while let Some(keeper) = self.keeper()? {
            if Instant::now() > deadline {
                return Err(Fault::StillUp {
                    id: keeper.id(),
                    seconds: PATIENCE.as_secs(),
                });
            }
            sleep(Duration::from_millis(50));
        }
        self.forget()
    }

    /// What an earlier keeper left behind.
    fn forget(&self) -> Result<(), Fault> {
        let path = self.folder.join("control-plane");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Fault::file(path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn open_lock(&self) -> Result<File, Fault> {
        let path = self.folder.join("keeper.lock");
        let mut options = File::options();
        let options = options.create(true).write(true).truncate(false);
        options.open(&path).map_err(Fault::file(path))
    }

    /// Whole or not at all, since others look while this writes.
    fn write(&self, name: &str, text: &str) -> Result<(), Fault> {
        let (scratch, path) = (self.folder.join(format!("{name}.new")), self.folder.join(name));
        fs::write(&scratch, text).map_err(Fault::file(&scratch))?;
        fs::rename(&scratch, &path).map_err(Fault::file(path))
    }
}

impl Keeper {
    pub(super) const fn id(self) -> i32 {
        self.id.as_raw_nonzero().get()
    }

    pub(super) fn signal(self, signal: Signal) -> Result<(), Fault> {
        kill_process(self.id, signal).map_err(|error| Fault::Signal {
            id: self.id(),
            source: error.into(),
        })
    }
}

/// This program is `<target>/<profile>/xtask`.
fn beside_what_was_built() -> Result<PathBuf, Fault> {
    let program = std::env::current_exe().map_err(Fault::file("xtask"))?;
    let target = program.ancestors().nth(2);
    Ok(target.unwrap_or_else(|| Path::new(".")).join("cluster"))
}
