//! What a task is to the executor: a key, a command with everything around it, and the way it ended.
//!
//! Deliberately absent: pods and containers. One container's one life is one task here.

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Serialize};

/// The name of the environment variable that carries the run's token into each task.
pub const TOKEN_VARIABLE: &str = "JOBFLOW_RUN_TOKEN";
/// The name of the environment variable that carries a task's key into its processes.
pub const KEY_VARIABLE: &str = "JOBFLOW_TASK_KEY";
/// The most bytes of output that are kept of a task unless its spec says otherwise.
pub const LOG_LIMIT: u64 = 10 << 20;

const KEY_LENGTH: usize = 300;

/// The name of one task in a run: the same key is the same task, for ever.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskKey(String);

/// A key that can't stand in a line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "task key {0:?} is empty, longer than {KEY_LENGTH} bytes, or has characters other than A-Z a-z 0-9 . _ - / :"
)]
pub struct BadKey(String);

impl TaskKey {
    /// Accepts letters, digits, `.`, `_`, `-`, `/` and `:`, at most 300 bytes.
    pub fn new(text: impl Into<String>) -> Result<Self, BadKey> {
        let text = text.into();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:".contains(&byte);
        if text.is_empty() || text.len() > KEY_LENGTH || !text.bytes().all(plain) {
            return Err(BadKey(text));
        }
        Ok(Self(text))
    }

    /// Returns the key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TaskKey {
    type Error = BadKey;

    fn try_from(text: String) -> Result<Self, BadKey> {
        Self::new(text)
    }
}

impl From<TaskKey> for String {
    fn from(key: TaskKey) -> Self {
        key.0
    }
}

impl fmt::Display for TaskKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One command and everything around it. It goes over the socket only: its environment may hold secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// The command and its arguments; the first is looked up in the task's own `PATH`.
    pub argv: Vec<String>,
    /// The whole environment; the executor adds only the token and the key.
    pub env: Vec<(String, String)>,
    /// The folder in which the command starts: absolute, or relative to the run's folder.
    pub cwd: PathBuf,
    /// The file in the run's folder that gets stdout and stderr; made with the first byte of output.
    pub log: PathBuf,
    /// The most bytes of output that are kept, first and last parts together.
    #[serde(default = "default_log_limit")]
    pub log_limit: u64,
    /// The mask for new files; the executor's own (022) when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub umask: Option<u32>,
    /// The user to become; only root can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// The group to become; only root can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
}

fn default_log_limit() -> u64 {
    LOG_LIMIT
}

// Written by hand: the environment may hold secrets, which must not reach a log through `{:?}`.
impl fmt::Debug for TaskSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            argv,
            env,
            cwd,
            log,
            log_limit,
            umask,
            uid,
            gid,
        } = self;
        let names: Vec<&str> = env.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("TaskSpec")
            .field("argv", &argv.first())
            .field("env", &names)
            .field("cwd", cwd)
            .field("log", log)
            .field("log_limit", log_limit)
            .field("umask", umask)
            .field("uid", uid)
            .field("gid", gid)
            .finish()
    }
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The command returned this code.
    Exited(i32),
    /// This signal ended the command.
    Signalled(i32),
    /// The command never ran, for this reason.
    StartError(String),
    /// It was stopped before it had started.
    Cancelled,
    /// Nobody saw the end: the executor, or the machine, went away under it.
    Lost,
}

impl Outcome {
    /// Returns the exit code as a container runtime reports it: 128 + n for signal n, 128 for a command that can't run.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(*code),
            Self::Signalled(signal) => Some(128 + signal),
            Self::StartError(_) => Some(128),
            Self::Cancelled | Self::Lost => None,
        }
    }
}

/// What the executor knows about a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskState {
    /// It never heard of it.
    Unknown,
    /// It was accepted, and can't start yet for this reason.
    Waiting(String),
    /// It runs, as the process group with this number.
    Running(i32),
    /// It is over.
    Ended(Outcome),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_holds_nothing_that_could_break_a_line() {
        for bad in ["", "a b", "a\nended b 0 0 exit 0", "ключ", &"a".repeat(301)] {
            assert_eq!(TaskKey::new(bad), Err(BadKey(bad.to_owned())));
        }
        assert!(TaskKey::new("etl/0/1:worker-0/main.r2").is_ok());
    }

    #[test]
    fn debug_text_of_a_spec_shows_no_value_of_its_environment() {
        let spec = TaskSpec {
            argv: vec!["login".into(), "hunter2".into()],
            env: vec![("PASSWORD".into(), "hunter2".into())],
            cwd: "/".into(),
            log: "a.log".into(),
            log_limit: 1,
            umask: None,
            uid: None,
            gid: None,
        };
        let text = format!("{spec:?}");
        assert!(text.contains("PASSWORD") && !text.contains("hunter2"), "{text}");
    }
}
