//! The checkpoint of a run, which another process may be writing.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use jobflow_local::rundir::{CHECKPOINT, RunEntry};
use jobflow_local::runner::Seen;

use super::Past;
use crate::failure::Failure;

/// The largest checkpoint that is read.
const MOST_BYTES: u64 = 64 << 20;

impl Past {
    /// How a run stood when it last said so.
    pub(crate) fn checkpoint(&self, entry: &RunEntry) -> Result<Seen, Failure> {
        let id = &entry.record.id;
        let path = self.root.path(id).join(CHECKPOINT);
        let read = read(&path).map_err(|error| {
            Failure::could_not_run(format!("cannot read the status of run {id}")).because(&error)
        })?;
        read.ok_or_else(|| Failure::could_not_run(format!("run {id} has written no status yet")))
    }
}

/// Reads a checkpoint without following a link or waiting; none where there is none.
fn read(path: &Path) -> io::Result<Option<Seen>> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is no regular file",
        ));
    }
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text)?;
    serde_json::from_slice(&text).map(Some).map_err(Into::into)
}
