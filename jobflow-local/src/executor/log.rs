//! A task's output on disk: bounded, in at most two files.
//!
//! The first file keeps the beginning, and when that is full `NAME.tail` keeps the end. A task without output has
//! no file. Output that can't be written is counted and dropped: the task goes on.

use std::{
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use cap_std::fs::{Dir, File, FileExt, OpenOptions, OpenOptionsExt};

const SMALLEST: u64 = 4096;

/// Where a task's output goes.
#[derive(Debug)]
pub(super) struct BoundedLog {
    path: PathBuf,
    half: u64,
    head: Option<File>,
    head_length: u64,
    tail: Option<File>,
    tail_length: u64,
    lost: u64,
}

impl BoundedLog {
    pub(super) fn new(path: PathBuf, limit: u64) -> Self {
        let half = limit.max(SMALLEST) / 2;
        Self {
            path,
            half,
            head: None,
            head_length: 0,
            tail: None,
            tail_length: 0,
            lost: 0,
        }
    }

    /// Keeps what fits.
    pub(super) fn write(&mut self, folder: &Dir, bytes: &[u8]) {
        let room = usize::try_from(self.half - self.head_length).unwrap_or(usize::MAX);
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        if !first.is_empty() && self.write_head(folder, first).is_err() {
            self.lost += first.len() as u64;
        }
        if !rest.is_empty() && self.write_tail(folder, rest).is_err() {
            self.lost += rest.len() as u64;
        }
    }

    /// Returns how many bytes could not be written.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    fn write_head(&mut self, folder: &Dir, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.head {
            Some(file) => file,
            head => head.insert(create(folder, &self.path)?),
        };
        file.write_all(bytes)?;
        self.head_length += bytes.len() as u64;
        if self.head_length == self.half {
            file.write_all(b"\n[jobflow: this log is full; the last part of the output is in the file beside it, .tail]\n")?;
        }
        Ok(())
    }

    fn write_tail(&mut self, folder: &Dir, bytes: &[u8]) -> io::Result<()> {
        if self.tail.is_none() {
            self.tail = Some(create(folder, &tail_path(&self.path))?);
        }
        let Some(file) = &mut self.tail else { return Ok(()) };
        if self.tail_length + bytes.len() as u64 > self.half {
            self.tail_length = keep_last(file, self.tail_length, self.half / 2)?;
        }
        let room = usize::try_from(self.half - self.tail_length).unwrap_or(usize::MAX);
        let kept = bytes.get(bytes.len().saturating_sub(room)..).unwrap_or(bytes);
        file.write_all(kept)?;
        self.tail_length += kept.len() as u64;
        Ok(())
    }
}

fn tail_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tail");
    name.into()
}

/// Only a file that is new: whatever a task may have put there before is not followed and not written to.
fn create(folder: &Dir, path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        folder.create_dir_all(parent)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    folder.open_with(path, &options)
}

/// Moves the last `keep` bytes of a file to its front, and leaves the cursor behind them.
fn keep_last(file: &mut File, length: u64, keep: u64) -> io::Result<u64> {
    let keep = keep.min(length);
    let mut kept = vec![0; usize::try_from(keep).unwrap_or(0)];
    file.read_exact_at(&mut kept, length - keep)?;
    let mark = b"[jobflow: output is missing here]\n";
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(mark)?;
    file.write_all(&kept)?;
    Ok(keep + mark.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;

    fn folder() -> (tempfile::TempDir, Dir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        (folder, dir)
    }

    #[test]
    fn endless_output_keeps_its_first_and_its_last_part() {
        let (path, dir) = folder();
        let mut log = BoundedLog::new("logs/a.log".into(), 64 << 10);
        for line in 0..100_000 {
            log.write(&dir, format!("line {line}\n").as_bytes());
        }
        let head = std::fs::read_to_string(path.path().join("logs/a.log")).unwrap();
        let tail = std::fs::read_to_string(path.path().join("logs/a.log.tail")).unwrap();
        assert!(head.starts_with("line 0\nline 1\n") && head.contains("[jobflow: this log is full"));
        assert!(tail.starts_with("[jobflow: output is missing here]") && tail.ends_with("\nline 99999\n"));
        assert!(
            head.len() + tail.len() < 66 << 10,
            "{} {}",
            head.len(),
            tail.len()
        );
        assert_eq!(log.lost(), 0);
    }

    #[test]
    fn a_chunk_larger_than_the_whole_log_is_cut() {
        let (path, dir) = folder();
        let mut log = BoundedLog::new("a.log".into(), 4096);
        log.write(&dir, &vec![b'x'; 1 << 20]);
        assert!(std::fs::metadata(path.path().join("a.log.tail")).unwrap().len() <= 2048);
    }

    #[test]
    fn a_link_planted_by_a_task_is_not_followed() {
        let (path, dir) = folder();
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path().join("x"), path.path().join("a.log")).unwrap();
        std::os::unix::fs::symlink(outside.path(), path.path().join("logs")).unwrap();
        for name in ["a.log", "logs/b.log"] {
            let mut log = BoundedLog::new(name.into(), 4096);
            log.write(&dir, b"secret");
            assert_eq!(log.lost(), 6);
        }
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[test]
    fn silence_makes_no_file() {
        let (path, dir) = folder();
        BoundedLog::new("a.log".into(), 4096).write(&dir, b"");
        assert_eq!(std::fs::read_dir(path.path()).unwrap().count(), 0);
    }
}
