//! What client and executor say to each other: one JSON value a line, both ways.

use serde::{Deserialize, Serialize};

use crate::task::{TaskKey, TaskSpec, TaskState};

/// What a client asks for. Everything may be asked twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Start a task, unless its key is known; the answer is its state either way.
    Start {
        /// The task.
        key: TaskKey,
        /// What to run.
        spec: Box<TaskSpec>,
    },
    /// Send a signal to a task's group; one that hasn't started never will.
    Stop {
        /// The task.
        key: TaskKey,
        /// The signal's number.
        signal: i32,
        /// Milliseconds after which the group is killed, unless it has ended.
        kill_after_ms: Option<u64>,
    },
    /// Send each line of the journal from this offset on, old ones and new ones.
    Watch {
        /// In bytes; 0 is the beginning.
        offset: u64,
    },
    /// Stop every task, and leave when none runs.
    Shutdown {
        /// Milliseconds between SIGTERM and SIGKILL.
        kill_after_ms: u64,
    },
}

/// What the executor says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The answer to `Start` and `Stop`, and news about a task that waits.
    State {
        /// The task.
        key: TaskKey,
        /// Its state.
        state: TaskState,
    },
    /// One line of the journal.
    Line {
        /// The offset behind the line: where the next `Watch` should begin.
        next: u64,
        /// The line, without its line feed.
        line: String,
    },
    /// Nothing new is started for this reason; `None` when that is over.
    Blocked(Option<String>),
}
