//! The termination message: a container's last words, in a file.

use std::{io::Read, path::Path};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use nix::libc;

use super::Names;
use crate::pod::template::TerminationMessagePolicy;

/// The longest message that is read, as in a cluster.
const LONGEST: u64 = 4096;
// What of a log stands for a message.
const LINES: usize = 80;
const LOG_BYTES: u64 = 2048;

/// Reads what a container left as its message; `failed` tells whether its log may stand in for it.
pub fn termination_message(
    run: &Dir,
    names: &Names,
    policy: TerminationMessagePolicy,
    failed: bool,
) -> String {
    let message = read(run, &names.message, LONGEST, false);
    match policy {
        TerminationMessagePolicy::FallbackToLogsOnError if failed && message.is_empty() => {
            last_lines(&log_end(run, &names.log))
        }
        TerminationMessagePolicy::FallbackToLogsOnError | TerminationMessagePolicy::File => message,
    }
}

fn log_end(run: &Dir, log: &Path) -> String {
    let tail = read(run, &log.with_added_extension("tail"), LOG_BYTES, true);
    if tail.is_empty() {
        read(run, log, LOG_BYTES, true)
    } else {
        tail
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .get(lines.len().saturating_sub(LINES)..)
        .unwrap_or_default()
        .join("\n")
}

/// The task may have put anything there: only a regular file is read, without waiting, and only so much of it.
fn read(run: &Dir, path: &Path, limit: u64, end: bool) -> String {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW);
    let Ok(mut file) = run.open_with(path, &options) else {
        return String::new();
    };
    let Some(length) = file
        .metadata()
        .ok()
        .filter(|metadata| metadata.is_file())
        .map(|metadata| metadata.len())
    else {
        return String::new();
    };
    let start = if end { length.saturating_sub(limit) } else { 0 };
    let mut bytes = Vec::new();
    let read = std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(start))
        .and_then(|_| file.take(limit).read_to_end(&mut bytes));
    if read.is_err() {
        String::new()
    } else {
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
