//! A folder of files, and the program run in it with nothing from outside.

use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) folder: TempDir,
}

/// What the program did.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn with(name: &str, text: &str) -> Self {
        Self::new().and(name, text)
    }

    pub(crate) fn and(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path().join(name), text).unwrap();
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jobflow"));
        command
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("JOBFLOW_STATE_DIR", self.path().join("state"))
            .timeout(Duration::from_secs(60))
            .args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&mut self.command(arguments))
    }
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Everything in one text, for snapshots.
    pub(crate) fn shown(&self) -> String {
        let Self { code, stdout, stderr } = self;
        format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}
