//! The journal of decisions: JSON, a line a value, only ever added to.
//!
//! A line is whole or it isn't there: a last line that was torn is cut off. Lines reach the page cache at once, which
//! is what the death of a process can't take; the disk gets them with [`JournalWriter::sync`], beside the checkpoint.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    marker::PhantomData,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use nix::libc;
use serde::{Serialize, de::DeserializeOwned};

/// Why a journal can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A line that isn't the last one can't be understood.
    #[error("line {line} of {path} can't be read: the file was changed by something else")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The system refused.
    #[error("cannot use {path}")]
    System {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A journal that is open for adding.
#[derive(Debug)]
pub struct JournalWriter<T> {
    path: PathBuf,
    file: File,
    length: u64,
    lines: PhantomData<fn(&T)>,
}

impl<T: Serialize + DeserializeOwned> JournalWriter<T> {
    /// Opens or makes a journal, cuts off a torn last line, and returns what it says.
    ///
    /// # Errors
    ///
    /// When it can't be opened, or has a line that isn't ours.
    pub fn open(path: PathBuf) -> Result<(Self, Vec<T>), JournalError> {
        let mut options = OpenOptions::new();
        options
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&path).map_err(system(&path))?;
        let text = complete(&path)?;
        let lines = parse(&path, &text)?;
        let length = text.len() as u64;
        file.set_len(length).map_err(system(&path))?;
        Ok((
            Self {
                path,
                file,
                length,
                lines: PhantomData,
            },
            lines,
        ))
    }

    /// Adds one value. After an error it is as if nothing had been added, and it may be tried again.
    ///
    /// # Errors
    ///
    /// When the disk is full, for one.
    pub fn append(&mut self, value: &T) -> Result<(), JournalError> {
        let mut line = serde_json::to_vec(value).map_err(|error| system(&self.path)(error.into()))?;
        line.push(b'\n');
        if let Err(source) = self.file.write_all(&line) {
            // What was written of it would be the front of the next line.
            self.file.set_len(self.length).map_err(system(&self.path))?;
            return Err(system(&self.path)(source));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Brings everything to the disk.
    ///
    /// # Errors
    ///
    /// When the disk fails.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(system(&self.path))
    }
}

/// Reads a journal that another process may be writing; a missing one is empty.
///
/// # Errors
///
/// When it can't be read, or has a line that isn't ours.
pub fn read_journal<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, JournalError> {
    parse(path, &complete(path)?)
}

fn complete(path: &Path) -> Result<Vec<u8>, JournalError> {
    let mut text = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other.map_err(system(path))?,
    };
    let end = text
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    text.truncate(end);
    Ok(text)
}

fn parse<T: DeserializeOwned>(path: &Path, text: &[u8]) -> Result<Vec<T>, JournalError> {
    let lines = text
        .split(|byte| *byte == b'\n')
        .enumerate()
        .filter(|(_, line)| !line.is_empty());
    let parse_line = |(index, line): (usize, &[u8])| {
        serde_json::from_slice(line).map_err(|source| JournalError::Corrupt {
            path: path.to_owned(),
            line: index + 1,
            source,
        })
    };
    lines.map(parse_line).collect()
}

fn system(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_owned();
    |source| JournalError::System { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn a_torn_tail_is_forgotten_and_writing_goes_on_behind_the_whole_lines() {
        let (_folder, path) = journal("1\n2\n3");
        let (mut writer, lines) = JournalWriter::<u32>::open(path.clone()).unwrap();
        assert_eq!(lines, [1, 2]);
        writer.append(&4).unwrap();
        writer.sync().unwrap();
        assert_eq!(read_journal::<u32>(&path).unwrap(), [1, 2, 4]);
    }

    #[test]
    fn a_bad_line_in_the_middle_is_named() {
        let (_folder, path) = journal("1\nx\n3\n");
        let error = JournalWriter::<u32>::open(path).unwrap_err();
        assert!(matches!(error, JournalError::Corrupt { line: 2, .. }), "{error}");
    }

    #[test]
    fn a_missing_journal_is_empty() {
        assert_eq!(
            read_journal::<u32>(Path::new("/no/such/journal")).unwrap(),
            [0; 0]
        );
    }
}
