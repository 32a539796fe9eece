//! Starting an executor, so that it outlives whoever started it.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use nix::libc;

use super::ClientError;
use crate::executor::TAKEN;

/// The name of the file with what the executor says when something is wrong with itself.
pub const COMPLAINTS: &str = "executor.stderr";

const TAIL: usize = 2000;

/// How an executor is started: the folder follows the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program; usually the running one.
    pub program: PathBuf,
    /// What comes before the folder, such as a hidden subcommand.
    pub arguments: Vec<OsString>,
}

impl Launch {
    /// The running program with the subcommand `__executor`.
    ///
    /// # Errors
    ///
    /// When the system can't say which program runs.
    pub fn this_program() -> io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            arguments: vec!["__executor".into()],
        })
    }

    /// Starts an executor and returns when it is ready, or when it has ended.
    pub(super) fn start(&self, folder: &Path) -> Result<(), ClientError> {
        let complaints = folder.join(COMPLAINTS);
        let mut options = File::options();
        options
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW);
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .arg(folder.canonicalize()?)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(options.open(&complaints)?)
            .spawn()
            .map_err(|error| ClientError::NotStarted(format!("{}: {error}", self.program.display())))?;
        let mut said = String::new();
        if let Some(mut output) = child.stdout.take() {
            output.read_to_string(&mut said)?;
        }
        if said.starts_with("ready") {
            // Nobody needs its exit code, but a child that ended must be waited for.
            thread::spawn(move || child.wait());
            return Ok(());
        }
        match child.wait()?.code() {
            // Another client was faster: its executor is the one to connect to.
            Some(code) if code == i32::from(TAKEN) => Ok(()),
            Some(_) | None => Err(ClientError::NotStarted(last_words(&complaints))),
        }
    }
}

fn last_words(complaints: &Path) -> String {
    let text = fs::read_to_string(complaints).unwrap_or_default();
    let start = text.len().saturating_sub(TAIL);
    text.get(start..).unwrap_or(&text).trim().to_owned()
}
