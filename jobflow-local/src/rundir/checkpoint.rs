//! A copy of the present state beside the journal, for whoever looks: whole or the one before, never half of one.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
};

use nix::libc;
use serde::Serialize;

const INTERVAL: i64 = 1000;

/// The file that is replaced at most once a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    path: PathBuf,
    written: Option<i64>,
}

impl Checkpoint {
    /// Names the file; nothing is written yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path, written: None }
    }

    /// Tells whether a second has passed since the last one, at a time in milliseconds.
    pub fn is_due(&self, now: i64) -> bool {
        // A clock that stepped back must not hold it up.
        self.written
            .is_none_or(|written| now < written || now - written >= INTERVAL)
    }

    /// Replaces the file.
    ///
    /// # Errors
    ///
    /// When it can't be written; the old one is still there then.
    pub fn write<T: Serialize>(&mut self, state: &T, now: i64) -> io::Result<()> {
        let temporary = self.path.with_extension("tmp");
        let _ = fs::remove_file(&temporary);
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW);
        let mut text = serde_json::to_vec(state)?;
        text.push(b'\n');
        options.open(&temporary)?.write_all(&text)?;
        fs::rename(&temporary, &self.path)?;
        self.written = Some(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_replaced_once_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let mut checkpoint = Checkpoint::new(folder.path().join("flow.json"));
        assert!(checkpoint.is_due(5));
        checkpoint.write(&[1, 2], 5).unwrap();
        assert_eq!(
            fs::read_to_string(folder.path().join("flow.json")).unwrap(),
            "[1,2]\n"
        );
        assert!(!checkpoint.is_due(1004));
        assert!(checkpoint.is_due(1005) && checkpoint.is_due(4));
    }
}
