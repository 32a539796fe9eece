//! `jobflow status`: how a run stands, from its checkpoint.

use crate::arguments::{Format, StatusArguments};
use crate::console::Console;
use crate::display::{Size, frame};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::{Past, now};
use crate::standing::Standing;

/// Shows one run.
pub(crate) fn run(arguments: &StatusArguments, console: &mut Console) -> Result<Exit, Failure> {
    let past = Past::look()?;
    let entry = past.choose(arguments.run.as_deref())?;
    let id = &entry.record.id;
    let seen = past.checkpoint(entry)?;
    let standing = Standing::saved(&seen, id.as_str(), entry.in_use.then(now));
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
