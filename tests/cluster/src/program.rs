//! One running program of the control plane, and its log.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use crate::fault::Fault;
use crate::group::Group;

/// Lines of a log that an error shows.
const TAIL: usize = 25;

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Program {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Program {
    /// Starts the program `name`; its log is `<folder>/<name>.log`.
    pub(crate) fn start(
        group: &Group,
        name: &'static str,
        path: &Path,
        arguments: &[String],
        folder: &Path,
    ) -> Result<Self, Fault> {
        let log = folder.join(format!("{name}.log"));
        let child = group
            .spawn(path, arguments, &log)
            .map_err(|source| Fault::Spawn {
                program: path.display().to_string(),
                source,
            })?;
        Ok(Self { name, child, log })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Fails if the program has ended.
    pub(crate) fn check(&mut self) -> Result<(), Fault> {
        let Ok(Some(status)) = self.child.try_wait() else {
            return Ok(());
        };
        Err(Fault::Ended {
            program: self.name,
            status,
            log: self.log.clone(),
            tail: self.tail(),
        })
    }

    /// The fault of a program that runs and doesn't become ready.
    pub(crate) fn not_ready(&self, seconds: u64) -> Fault {
        Fault::NotReady {
            program: self.name,
            seconds,
            log: self.log.clone(),
            tail: self.tail(),
        }
    }

    /// Kills the program, without a chance to say good-bye, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        // Both fail only for a program that is gone already.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }

    fn tail(&self) -> String {
        let bytes = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL)..].join("\n")
    }
}
