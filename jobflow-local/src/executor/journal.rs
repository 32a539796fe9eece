//! The executor's journal: lines are only ever added, and a line that could not be written stays due.
//!
//! Nothing is synced per line. What the journal protects against is the death of processes, and that needs no more
//! than the page cache; when the machine goes down the tasks go down too, and the next boot counts every open one
//! as lost. It is synced once, when the executor leaves.
//!
//! Room for the two lines that follow a start is taken from the disk before the start, so that a full disk refuses
//! starts and never an end.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
};

use nix::{errno::Errno, fcntl, fcntl::FallocateFlags};

use super::line::Line;

/// The journal's name in the run's folder.
pub const JOURNAL: &str = "executor.journal";

const ROOM_PER_TASK: u64 = 2048;
const ROOM_STEP: u64 = 64 << 10;

/// The journal, open for adding.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    written: u64,
    complete: u64,
    due: Vec<u8>,
    reserved: u64,
}

impl Journal {
    /// Opens or makes the journal, cuts off a last line that was torn, and returns what it says.
    pub(super) fn open(path: &Path) -> io::Result<(Self, Vec<Line>)> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(nix::libc::O_NOFOLLOW)
            .open(path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let complete = complete_length(&text);
        file.set_len(complete)?;
        text.truncate(usize::try_from(complete).unwrap_or(usize::MAX));
        let lines = parse(&text)?;
        Ok((
            Self {
                file,
                written: complete,
                complete,
                due: Vec::new(),
                reserved: complete,
            },
            lines,
        ))
    }

    /// Adds a line; it is due until it could be written.
    pub(super) fn append(&mut self, line: &Line) -> io::Result<()> {
        self.due.extend_from_slice(format!("{line}\n").as_bytes());
        self.flush()
    }

    /// Takes back what is due and not on disk yet: for a line whose effect did not follow.
    pub(super) fn append_or_forget(&mut self, line: &Line) -> io::Result<()> {
        if !self.due.is_empty() {
            self.flush()?;
        }
        let before = self.written;
        let result = self.append(line);
        if result.is_err() && self.written == before {
            self.due.clear();
        }
        result
    }

    /// Writes what is due.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while !self.due.is_empty() {
            let count = match self.file.write(&self.due) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if let Some(end) = self
                .due
                .get(..count)
                .and_then(|part| part.iter().rposition(|byte| *byte == b'\n'))
            {
                self.complete = self.written + end as u64 + 1;
            }
            self.written += count as u64;
            self.due.drain(..count);
        }
        Ok(())
    }

    /// Tells whether a line could not be written yet.
    pub(super) fn is_behind(&self) -> bool {
        !self.due.is_empty()
    }

    /// Takes room on the disk for the lines of so many tasks.
    pub(super) fn reserve(&mut self, tasks: usize) -> io::Result<()> {
        let needed = self.written + self.due.len() as u64 + tasks as u64 * ROOM_PER_TASK;
        if needed <= self.reserved {
            return Ok(());
        }
        let end = needed + ROOM_STEP;
        let (Ok(offset), Ok(length)) = (i64::try_from(self.written), i64::try_from(end - self.written))
        else {
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        match fcntl::fallocate(&self.file, FallocateFlags::FALLOC_FL_KEEP_SIZE, offset, length) {
            // A file system that can't reserve: the due lines are kept in memory then.
            Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => {
                self.reserved = end;
                Ok(())
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns the length of all complete lines.
    pub(super) fn length(&self) -> u64 {
        self.complete
    }

    /// Reads complete lines from an offset, at most about `limit` bytes but at least one line.
    pub(super) fn read(&self, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
        let available = usize::try_from(self.complete.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut buffer = vec![0; available.min(limit)];
        self.file.read_exact_at(&mut buffer, offset)?;
        let end = complete_length(&buffer);
        buffer.truncate(usize::try_from(end).unwrap_or(usize::MAX));
        Ok(buffer)
    }

    /// Gives reserved room back and brings everything to the disk.
    pub(super) fn close(mut self) -> io::Result<()> {
        self.flush()?;
        self.file.set_len(self.written)?;
        self.file.sync_data()
    }
}

/// Reads all lines of a journal that another process may be writing.
pub fn read(path: &Path) -> io::Result<Vec<Line>> {
    let mut text = match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other?,
    };
    text.truncate(usize::try_from(complete_length(&text)).unwrap_or(usize::MAX));
    parse(&text)
}

fn complete_length(text: &[u8]) -> u64 {
    text.iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end as u64 + 1)
}

fn parse(text: &[u8]) -> io::Result<Vec<Line>> {
    let lines = text
        .split(|byte| *byte == b'\n')
        .enumerate()
        .filter(|(_, line)| !line.is_empty());
    lines.map(|(index, line)| parse_line(index, line)).collect()
}

fn parse_line(index: usize, line: &[u8]) -> io::Result<Line> {
    std::str::from_utf8(line)
        .ok()
        .and_then(Line::parse)
        .ok_or_else(|| {
            let text = format!(
                "line {} of {JOURNAL} can't be read: the file was changed by something else",
                index + 1
            );
            io::Error::new(io::ErrorKind::InvalidData, text)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TaskKey;

    fn starting(name: &str) -> Line {
        Line::Starting {
            key: TaskKey::new(name).unwrap(),
            at: 1,
        }
    }

    #[test]
    fn a_torn_last_line_is_cut_off_and_the_rest_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(JOURNAL);
        std::fs::write(&path, "starting a 1\nstarting b").unwrap();
        let (mut journal, lines) = Journal::open(&path).unwrap();
        assert_eq!(lines, [starting("a")]);
        journal.append(&starting("c")).unwrap();
        assert_eq!(read(&path).unwrap(), [starting("a"), starting("c")]);
    }

    #[test]
    fn a_line_in_the_middle_that_is_not_ours_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(JOURNAL);
        std::fs::write(&path, "starting a 1\nnonsense\nstarting b 1\n").unwrap();
        assert!(Journal::open(&path).unwrap_err().to_string().contains("line 2"));
    }

    #[test]
    fn room_that_was_reserved_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(JOURNAL);
        let (mut journal, _) = Journal::open(&path).unwrap();
        journal.reserve(100).unwrap();
        journal.append(&starting("a")).unwrap();
        assert_eq!(journal.read(0, 1 << 16).unwrap(), b"starting a 1\n");
        journal.close().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 13);
    }

    #[test]
    fn a_full_disk_leaves_the_line_due() {
        let mut journal = Journal {
            file: OpenOptions::new().append(true).open("/dev/full").unwrap(),
            written: 0,
            complete: 0,
            due: Vec::new(),
            reserved: u64::MAX,
        };
        assert!(journal.append_or_forget(&starting("a")).is_err());
        assert!(!journal.is_behind());
        assert!(journal.append(&starting("b")).is_err());
        assert!(journal.is_behind());
        assert_eq!(journal.length(), 0);
    }
}
