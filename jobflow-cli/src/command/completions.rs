//! `jobflow completions`.

use clap::CommandFactory;

#[cfg(feature = "cluster")]
use crate::arguments::cluster::{CompletionsArguments as PluginCompletions, PluginArguments};
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

/// What `kubectl_complete-jobflow` is: kubectl runs it to complete the words after `kubectl jobflow`.
#[cfg(feature = "cluster")]
const FOR_KUBECTL: &str = "#!/bin/sh\nexec kubectl jobflow __complete -- \"$@\"\n";

/// Prints the script of a shell, or of kubectl, for the plugin.
#[cfg(feature = "cluster")]
pub(crate) fn of_plugin(arguments: &PluginCompletions, console: &mut Console) -> Result<Exit, Failure> {
    let Some(shell) = arguments.shell.shell() else {
        console.data(FOR_KUBECTL)?;
        return Ok(Exit::Succeeded);
    };
    let mut script = Vec::new();
    let mut command = PluginArguments::command().bin_name("kubectl-jobflow");
    clap_complete::generate(shell, &mut command, "kubectl-jobflow", &mut script);
    console.bytes(&script)?;
    Ok(Exit::Succeeded)
}
