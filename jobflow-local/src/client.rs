//! The side that decides: connects to a run's executor, starts one where there is none, asks and listens.
//!
//! Comes in: a run's folder. Goes out: requests; what the executor says, as [`Message`]s. Deliberately absent:
//! knowledge of what to run. A client that is killed takes nothing with it: another one connects, watches the
//! journal from where it stopped, and knows everything again.

mod launch;
mod stream;

use std::{
    collections::VecDeque,
    io,
    path::Path,
    time::{Duration, Instant},
};

pub use launch::{COMPLAINTS, Launch};

use crate::{
    executor::{
        self,
        line::Line,
        wire::{Reply, Request},
    },
    task::{TaskKey, TaskSpec, TaskState},
};

// A new executor first kills what an earlier one left behind; that may take it seconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// Why the executor can't be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The executor is gone, and so are the ends of the tasks that it ran.
    #[error("the executor of this run is gone")]
    ExecutorGone,
    /// No executor could be started.
    #[error("the executor could not be started: {0}")]
    NotStarted(String),
    /// It said something that can't be understood.
    #[error("the executor speaks another language; it may be of another version of this program")]
    Foreign,
    /// The connection failed otherwise.
    #[error("cannot talk to the executor")]
    Connection(#[from] io::Error),
}

/// What a client hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The state of a task, as the answer to a request.
    State(TaskKey, TaskState),
    /// A line of the journal, and the offset behind it.
    Line(Line, u64),
    /// Nothing new is started for this reason; `None` when that is over.
    Blocked(Option<String>),
}

/// A connection to a run's executor.
#[derive(Debug)]
pub struct Client {
    stream: stream::LineStream,
    heard: VecDeque<Message>,
}

impl Client {
    /// Connects to the executor that serves this folder; `None` if there is none.
    ///
    /// # Errors
    ///
    /// When its lock or its socket can't be used.
    pub fn connect(folder: &Path) -> Result<Option<Self>, ClientError> {
        let deadline = Instant::now() + PATIENCE;
        while executor::is_alive(folder)? {
            match stream::LineStream::connect(&folder.canonicalize()?) {
                Ok(stream) => {
                    return Ok(Some(Self {
                        stream,
                        heard: VecDeque::new(),
                    }));
                }
                // It has the lock and no socket yet, or no socket any more.
                Err(error) if is_passing(&error) && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Connects to the executor that serves this folder, or starts one.
    ///
    /// Every task that an executor which is gone had left open is [`crate::task::Outcome::Lost`] in the journal
    /// when this returns, and its processes are gone.
    ///
    /// # Errors
    ///
    /// When there is none and none can be started.
    pub fn connect_or_launch(folder: &Path, launch: &Launch) -> Result<Self, ClientError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(client) = Self::connect(folder)? {
                return Ok(client);
            }
            launch.start(folder)?;
            if Instant::now() > deadline {
                return Err(ClientError::NotStarted("it left again at once".to_owned()));
            }
        }
    }

    /// Asks for a task to be started; its state follows as a message. Safe to repeat.
    ///
    /// # Errors
    ///
    /// When the executor is gone.
    pub fn start(&mut self, key: TaskKey, spec: TaskSpec) -> Result<(), ClientError> {
        self.ask(&Request::Start {
            key,
            spec: Box::new(spec),
        })
    }

    /// Asks for a task to be stopped by a signal, and to be killed after a while.
    ///
    /// # Errors
    ///
    /// When the executor is gone.
    pub fn stop(
        &mut self,
        key: TaskKey,
        signal: i32,
        kill_after: Option<Duration>,
    ) -> Result<(), ClientError> {
        let kill_after_ms = kill_after.map(milliseconds);
        self.ask(&Request::Stop {
            key,
            signal,
            kill_after_ms,
        })
    }

    /// Asks for the journal from an offset on, and for what will be added to it.
    ///
    /// # Errors
    ///
    /// When the executor is gone.
    pub fn watch(&mut self, offset: u64) -> Result<(), ClientError> {
        self.ask(&Request::Watch { offset })
    }

    /// Asks the executor to stop everything and to leave.
    ///
    /// # Errors
    ///
    /// When the executor is gone.
    pub fn shut_down(&mut self, kill_after: Duration) -> Result<(), ClientError> {
        self.ask(&Request::Shutdown {
            kill_after_ms: milliseconds(kill_after),
        })
    }

    /// Waits for what the executor says next, at most so long; `None` when it said nothing.
    ///
    /// # Errors
    ///
    /// When the executor is gone and everything that it said was heard.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<Message>, ClientError> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(message) = self.heard.pop_front() {
                return Ok(Some(message));
            }
            for line in self.stream.lines() {
                self.heard.push_back(understand(&line)?);
            }
            if !self.heard.is_empty() {
                continue;
            }
            if !self.stream.wait(deadline)? {
                return Ok(None);
            }
        }
    }

    fn ask(&mut self, request: &Request) -> Result<(), ClientError> {
        let mut line = serde_json::to_vec(request).map_err(|error| ClientError::Connection(error.into()))?;
        line.push(b'\n');
        self.stream.send(&line)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn understand(line: &[u8]) -> Result<Message, ClientError> {
    match serde_json::from_slice(line).map_err(|_| ClientError::Foreign)? {
        Reply::State { key, state } => Ok(Message::State(key, state)),
        Reply::Line { next, line } => Line::parse(&line)
            .map(|line| Message::Line(line, next))
            .ok_or(ClientError::Foreign),
        Reply::Blocked(reason) => Ok(Message::Blocked(reason)),
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}
