//! `jobflow man`: a page for the program and one a command. The plugin has the same.

use std::fs;
use std::path::Path;

use clap::CommandFactory;

#[cfg(feature = "cluster")]
use crate::arguments::cluster::PluginArguments;
use crate::arguments::{Arguments, ManArguments};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Writes the pages.
pub(crate) fn run(arguments: &ManArguments, console: &mut Console) -> Result<Exit, Failure> {
    write(Arguments::command(), &arguments.folder, console)
}

/// Writes the pages of the plugin.
#[cfg(feature = "cluster")]
pub(crate) fn of_plugin(arguments: &ManArguments, console: &mut Console) -> Result<Exit, Failure> {
    write(
        PluginArguments::command().name("kubectl-jobflow"),
        &arguments.folder,
        console,
    )
}

fn write(command: clap::Command, folder: &Path, console: &mut Console) -> Result<Exit, Failure> {
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .map_err(|error| {
            Failure::could_not_run(format!("cannot write man pages to {}", folder.display())).because(&error)
        })?;
    console.talk(&format!("wrote man pages to {}\n", folder.display()));
    Ok(Exit::Succeeded)
}
