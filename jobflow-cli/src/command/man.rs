//! `jobflow man`: a page for the program and one a command.

use std::fs;

use clap::CommandFactory;

use crate::arguments::{Arguments, ManArguments};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Writes the pages.
pub(crate) fn run(arguments: &ManArguments, console: &mut Console) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder))
        .map_err(|error| {
            Failure::could_not_run(format!("cannot write man pages to {}", folder.display())).because(&error)
        })?;
    console.talk(&format!("wrote man pages to {}\n", folder.display()));
    Ok(Exit::Succeeded)
}
