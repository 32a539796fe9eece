//! `jobflow status`: how a run stands, from its checkpoint.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use jobflow_local::rundir::CHECKPOINT;

use crate::arguments::{Format, StatusArguments};
use crate::console::Console;
use crate::display::{Size, frame};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::{Past, now};
use crate::standing::Saved;

/// The largest checkpoint that is read.
const MOST_BYTES: u64 = 64 << 20;

/// Shows one run.
pub(crate) fn run(arguments: &StatusArguments, console: &mut Console) -> Result<Exit, Failure> {
    let past = Past::look()?;
    let entry = past.choose(arguments.run.as_deref())?;
    let id = &entry.record.id;
    let path = past.root.path(id).join(CHECKPOINT);
    let Some(saved) = read(&path).map_err(|error| {
        Failure::could_not_run(format!("cannot read the status of run {id}")).because(&error)
    })?
    else {
        return Err(Failure::could_not_run(format!(
            "run {id} has written no status yet"
        )));
    };
    let standing = saved.standing(id.as_str(), entry.in_use.then(now));
    match arguments.output {
        Format::Json => {
            let mut shown = standing.as_json();
            shown["inUse"] = entry.in_use.into();
            console.data(&format!("{shown:#}\n"))?;
        }
        Format::Text => {
            let size = Size {
                width: console.data_width(),
                height: None,
                charset: console.charset(),
            };
            console.data(&(frame(&standing, size).join("\n") + "\n"))?;
            if !standing.phase.is_end() && !entry.in_use {
                console.talk(&format!("interrupted; go on with: jobflow run --resume {id}\n"));
            }
        }
    }
    Ok(Exit::Succeeded)
}

/// Reads a checkpoint without following a link or waiting; none where there is none.
fn read(path: &Path) -> io::Result<Option<Saved>> {
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
