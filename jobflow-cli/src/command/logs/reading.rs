//! One bounded log, read from where the last look ended: its first file, then the one with its end.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File, FileExt, OpenOptions};

/// How much is read at once.
const CHUNK: usize = 256 << 10;
/// How much of a log's end is read for its last lines.
const END: usize = 16 << 10;

/// How far a log was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    head: u64,
    tail: u64,
}

impl Reading {
    /// The next bytes; none where nothing is new.
    pub(super) fn next(&mut self, folder: &Dir, path: &Path) -> io::Result<Option<Vec<u8>>> {
        if let Some(bytes) = part(folder, path, &mut self.head)? {
            return Ok(Some(bytes));
        }
        part(folder, &tail(path), &mut self.tail)
    }
}

fn tail(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tail");
    name.into()
}

/// The last bytes of a log; empty where there is none.
pub(super) fn end(folder: &Dir, path: &Path) -> io::Result<Vec<u8>> {
    let after = last(folder, &tail(path), END)?;
    let mut bytes = last(folder, path, END.saturating_sub(after.len()))?;
    bytes.extend(after);
    Ok(bytes)
}

fn last(folder: &Dir, path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let Some((file, length)) = open(folder, path)? else {
        return Ok(Vec::new());
    };
    let from = length.saturating_sub(u64::try_from(most).unwrap_or(u64::MAX));
    read(&file, from, most)
}

fn part(folder: &Dir, path: &Path, offset: &mut u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, length)) = open(folder, path)? else {
        return Ok(None);
    };
    // The end of a log is rewritten when it grows too large; what was between is lost.
    if length < *offset {
        *offset = 0;
    }
    let bytes = read(&file, *offset, CHUNK)?;
    *offset = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    Ok((!bytes.is_empty()).then_some(bytes))
}

fn read(file: &File, from: u64, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; most];
    let count = file.read_at(&mut bytes, from)?;
    bytes.truncate(count);
    Ok(bytes)
}

/// A regular file and its length, opened without following a link or waiting.
fn open(folder: &Dir, path: &Path) -> io::Result<Option<(File, u64)>> {
    let mut options = OpenOptions::new();
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
    cap_std::fs::OpenOptionsExt::custom_flags(options.read(true), i32::try_from(flags).unwrap_or_default());
    let file = match folder.open_with(path, &options) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then(|| (file, metadata.len())))
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    #[test]
    fn a_log_is_read_as_it_grows_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let mut reading = Reading::default();
        let mut next = || reading.next(&dir, Path::new("a.log")).unwrap();
        assert_eq!(next(), None);
        std::fs::write(folder.path().join("a.log"), "one").unwrap();
        assert_eq!(next().as_deref(), Some(&b"one"[..]));
        assert_eq!(next(), None);
        std::fs::write(folder.path().join("a.log.tail"), "two two").unwrap();
        assert_eq!(next().as_deref(), Some(&b"two two"[..]));
        std::fs::write(folder.path().join("a.log.tail"), "end").unwrap();
        assert_eq!(next().as_deref(), Some(&b"end"[..]));
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("b.log")).unwrap();
        assert!(Reading::default().next(&dir, Path::new("b.log")).is_err());
    }

    #[test]
    fn the_end_of_a_log_is_in_its_last_file_and_before() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let path = Path::new("a.log");
        assert_eq!(end(&dir, path).unwrap(), b"");
        std::fs::write(folder.path().join("a.log"), "x".repeat(END) + "one\n").unwrap();
        assert!(end(&dir, path).unwrap().ends_with(b"xone\n"));
        std::fs::write(folder.path().join("a.log.tail"), "two\n").unwrap();
        let bytes = end(&dir, path).unwrap();
        assert!(bytes.len() == END && bytes.ends_with(b"xone\ntwo\n"));
    }
}
