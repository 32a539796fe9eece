//! The lines of the executor's journal: one fact a line, readable by people.
//!
//! ```text
//! executor BOOT PID STARTTIME AT         an executor took over
//! starting KEY AT                        written before the process is made
//! started KEY PID STARTTIME AT
//! ended KEY AT LOST how…                 exit 3 | signal 9 | start-error text | cancelled | lost
//! ```
//! Times are milliseconds since 1970; `LOST` counts the bytes of output that could not be kept.

use std::fmt;

use crate::{
    process::ProcessId,
    task::{Outcome, TaskKey},
};

const MESSAGE_LENGTH: usize = 400;

/// One line of `executor.journal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// An executor took over; what was running under an earlier one is lost.
    Executor {
        /// The boot in which it runs.
        boot: String,
        /// The executor's own process.
        process: ProcessId,
        /// When.
        at: i64,
    },
    /// A process is about to be made for this key.
    Starting {
        /// The task.
        key: TaskKey,
        /// When.
        at: i64,
    },
    /// The process runs; its number is also its group's.
    Started {
        /// The task.
        key: TaskKey,
        /// The leader of its group.
        process: ProcessId,
        /// When.
        at: i64,
    },
    /// The task is over, and so is its group.
    Ended {
        /// The task.
        key: TaskKey,
        /// How.
        outcome: Outcome,
        /// When.
        at: i64,
        /// Bytes of output that could not be written.
        lost: u64,
    },
}

impl Line {
    /// Reads a line without its line feed; `None` when it isn't one of ours.
    pub fn parse(text: &str) -> Option<Self> {
        let (verb, rest) = text.split_once(' ')?;
        let mut words = rest.split(' ');
        match verb {
            "executor" => Some(Self::Executor {
                boot: words.next()?.to_owned(),
                process: parse_process(&mut words)?,
                at: words.next()?.parse().ok()?,
            }),
            "starting" => Some(Self::Starting {
                key: parse_key(&mut words)?,
                at: words.next()?.parse().ok()?,
            }),
            "started" => Some(Self::Started {
                key: parse_key(&mut words)?,
                process: parse_process(&mut words)?,
                at: words.next()?.parse().ok()?,
            }),
            "ended" => Some(Self::Ended {
                key: parse_key(&mut words)?,
                at: words.next()?.parse().ok()?,
                lost: words.next()?.parse().ok()?,
                outcome: parse_outcome(&mut words)?,
            }),
            _ => None,
        }
    }
}

fn parse_key<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<TaskKey> {
    TaskKey::new(words.next()?).ok()
}

fn parse_process<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<ProcessId> {
    Some(ProcessId {
        pid: words.next()?.parse().ok()?,
        start_time: words.next()?.parse().ok()?,
    })
}

fn parse_outcome<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Outcome> {
    match words.next()? {
        "exit" => Some(Outcome::Exited(words.next()?.parse().ok()?)),
        "signal" => Some(Outcome::Signalled(words.next()?.parse().ok()?)),
        "start-error" => Some(Outcome::StartError(words.collect::<Vec<_>>().join(" "))),
        "cancelled" => Some(Outcome::Cancelled),
        "lost" => Some(Outcome::Lost),
        _ => None,
    }
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Executor {
                boot,
                process: ProcessId { pid, start_time },
                at,
            } => {
                write!(formatter, "executor {boot} {pid} {start_time} {at}")
            }
            Self::Starting { key, at } => write!(formatter, "starting {key} {at}"),
            Self::Started {
                key,
                process: ProcessId { pid, start_time },
                at,
            } => {
                write!(formatter, "started {key} {pid} {start_time} {at}")
            }
            Self::Ended {
                key,
                outcome,
                at,
                lost,
            } => {
                write!(formatter, "ended {key} {at} {lost} ")?;
                write_outcome(formatter, outcome)
            }
        }
    }
}

fn write_outcome(formatter: &mut fmt::Formatter<'_>, outcome: &Outcome) -> fmt::Result {
    match outcome {
        Outcome::Exited(code) => write!(formatter, "exit {code}"),
        Outcome::Signalled(signal) => write!(formatter, "signal {signal}"),
        Outcome::StartError(message) => {
            let plain = |c: char| if c.is_control() { ' ' } else { c };
            let message: String = message.chars().take(MESSAGE_LENGTH).map(plain).collect();
            write!(formatter, "start-error {message}")
        }
        Outcome::Cancelled => formatter.write_str("cancelled"),
        Outcome::Lost => formatter.write_str("lost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> TaskKey {
        TaskKey::new("etl/0/1:main-0/main").unwrap()
    }

    fn ended(outcome: Outcome) -> Line {
        Line::Ended {
            key: key(),
            outcome,
            at: 17,
            lost: 3,
        }
    }

    #[test]
    fn each_line_reads_as_it_was_written() {
        let process = ProcessId {
            pid: 7,
            start_time: 99,
        };
        let lines = [
            Line::Executor {
                boot: "b-1".into(),
                process,
                at: -1,
            },
            Line::Starting { key: key(), at: 2 },
            Line::Started {
                key: key(),
                process,
                at: 3,
            },
            ended(Outcome::Exited(3)),
            ended(Outcome::Signalled(9)),
            ended(Outcome::StartError("no command `x y`".into())),
            ended(Outcome::Cancelled),
            ended(Outcome::Lost),
        ];
        for line in lines {
            assert_eq!(Line::parse(&line.to_string()), Some(line));
        }
    }

    #[test]
    fn a_hostile_message_stays_on_its_line() {
        let text = ended(Outcome::StartError("a\nended b 1 0 exit 0\u{1b}[31m".into())).to_string();
        assert!(!text.contains(['\n', '\u{1b}']), "{text}");
    }

    #[test]
    fn foreign_text_is_no_line() {
        for text in [
            "",
            "started",
            "started a b",
            "ended a 1 0",
            "ended a 1 0 exit",
            "ended a\tb 1 0 exit 0",
        ] {
            assert_eq!(Line::parse(text), None, "{text}");
        }
    }
}
