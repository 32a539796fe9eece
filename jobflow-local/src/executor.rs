//! The process that is the parent of every task of one run.
//!
//! Comes in: a run's folder, and commands over the socket in it. Goes out: processes, each the leader of its own
//! group, their bounded logs, and the journal `executor.journal`. Deliberately absent: decisions. It starts and
//! stops what it is told to, and it never starts a key twice.
//!
//! ```text
//! start ─► waiting ─(room for it)─► starting ─► running ─(leader ended, group killed and gone)─► ended
//!             └──────────────(stop)────────────────────────────────────────────────────────────────┘
//! ```
//!
//! It is one thread around one `epoll`: the budget is well under a millisecond of its own time a task.

pub(crate) mod claim;
mod connection;
mod connections;
mod engine;
pub mod journal;
mod limits;
pub mod line;
mod log;
mod recovery;
mod serving;
mod setup;
mod spawn;
mod table;
pub mod wire;

use std::{io, path::Path, time::Duration};

pub use setup::{LOCK, SOCKET, TOKEN, is_alive};
pub(crate) use spawn::command_of;

/// The exit code of a process that found another executor in its place.
pub const TAKEN: u8 = 3;

/// How an executor behaves beside its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long it stays while nothing runs and nobody is connected.
    pub idle: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(10),
        }
    }
}

/// Why an executor could not begin, or had to end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// Another executor holds the folder's lock.
    #[error("another executor serves this run")]
    Taken,
    /// Something of the operating system failed.
    #[error("cannot {intention}")]
    System {
        /// What was being done.
        intention: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl ExecutorError {
    fn system(intention: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { intention, source }
    }
}

/// Serves the run in this folder until nothing runs and nobody is connected.
///
/// The process becomes the leader of its own session and changes to the folder. Once the socket is there a line
/// `ready` is written to `ready`, which is then closed; whoever started the process waits for it.
///
/// # Errors
///
/// When the folder is taken, or something in it can't be opened.
pub fn main(folder: &Path, options: Options, ready: impl io::Write) -> Result<(), ExecutorError> {
    setup::begin(folder, ready)?.serve(options)
}
