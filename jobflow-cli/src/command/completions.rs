//! `jobflow completions`.

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the script of a shell.
pub(crate) fn run(arguments: &CompletionsArguments, console: &mut Console) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "jobflow", &mut script);
    console.bytes(&script)?;
    Ok(Exit::Succeeded)
}
