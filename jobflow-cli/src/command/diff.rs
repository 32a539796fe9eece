//! `jobflow diff`: what an edit of a flow would change.

mod shown;

use std::path::PathBuf;

use jobflow_k8s::extensions::Extensions;

use crate::arguments::{DiffArguments, Format};
use crate::command::run::input;
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::Past;
use crate::revision::{Progress, Revision, Side, Standing};
use shown::Shown;

/// Compares two flows; both are checked as `validate` does it.
pub(crate) fn run(
    arguments: &DiffArguments,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let progress = match &arguments.run {
        Some(run) => progress(run)?,
        None => Progress::default(),
    };
    let mut read = |path: &PathBuf| {
        input::objects(
            std::slice::from_ref(path),
            arguments.flow.as_deref(),
            extensions,
            console,
        )
    };
    let (old, new) = (read(&arguments.old)?, read(&arguments.new)?);
    let revision = Revision::of(side(&old), side(&new), &progress);
    show(new.input.name(), &revision, arguments.output, console)
}

/// Shows what differs; the exit tells whether anything does.
pub(super) fn show(
    flow: &str,
    revision: &Revision,
    format: Format,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let shown = Shown { flow, revision };
    match format {
        Format::Text => console.data(&shown.text())?,
        Format::Json => console.data(&escape::json(&shown.json()))?,
    }
    match revision.is_empty() {
        true => Ok(Exit::Succeeded),
        false => Ok(Exit::Different),
    }
}

/// Where a run of this machine stands.
fn progress(run: &str) -> Result<Progress, Failure> {
    let past = Past::look()?;
    let entry = past.choose(Some(run).filter(|run| !run.is_empty()))?;
    let seen = past.checkpoint(entry)?;
    let standing = |line: jobflow_local::runner::NodeLine| {
        let standing = Standing {
            phase: line.phase,
            attempt: line.attempt,
        };
        (line.name, standing)
    };
    Ok(Progress {
        phase: Some(seen.phase),
        entries: seen.nodes.into_iter().map(standing).collect(),
    })
}

const fn side(read: &input::Read) -> Side<'_> {
    Side {
        flow: &read.input.flow,
        templates: &read.input.templates,
    }
}
