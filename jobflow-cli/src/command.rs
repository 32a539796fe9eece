//! One file a command: arguments in, an exit code or a failure out.

#[cfg(feature = "cluster")]
pub(crate) mod cluster;
mod completions;
mod crd;
mod diff;
mod enter;
mod executor;
mod graph;
mod logs;
mod man;
mod new;
mod plan;
mod run;
mod runs;
mod schema;
mod status;
mod validate;
mod version;
mod why;

use jobflow_k8s::extensions::Extensions;

use crate::arguments::Command;
#[cfg(feature = "cluster")]
use crate::arguments::cluster::{Connection, PluginCommand};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Does what a command of the plugin says.
#[cfg(feature = "cluster")]
pub(crate) fn run_of_plugin(
    command: PluginCommand,
    connection: &Connection,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    match command {
        PluginCommand::Cluster(command) => cluster::run(connection, &command, extensions, console),
        PluginCommand::New(arguments) => new::run(&arguments, console),
        PluginCommand::Validate(arguments) => validate::run(&arguments, extensions, console),
        PluginCommand::Graph(arguments) => graph::run(&arguments, console),
        PluginCommand::Schema(arguments) => schema::run(&arguments, console),
        PluginCommand::Completions(arguments) => completions::of_plugin(&arguments, console),
        PluginCommand::Man(arguments) => man::of_plugin(&arguments, console),
        PluginCommand::Complete(arguments) => cluster::complete(&arguments.words, console),
    }
}

/// Does what a command says.
pub(crate) fn run(command: Command, extensions: &Extensions, console: &mut Console) -> Result<Exit, Failure> {
    match command {
        Command::New(arguments) => new::run(&arguments, console),
        Command::Validate(arguments) => validate::run(&arguments, extensions, console),
        Command::Graph(arguments) => graph::run(&arguments, console),
        Command::Plan(arguments) => plan::run(&arguments, extensions, console),
        Command::Diff(arguments) => diff::run(&arguments, extensions, console),
        Command::Crd => crd::run(console),
        Command::Schema(arguments) => schema::run(&arguments, console),
        Command::Completions(arguments) => completions::run(&arguments, console),
        Command::Man(arguments) => man::run(&arguments, console),
        #[cfg(feature = "cluster")]
        Command::Cluster(arguments) => {
            cluster::run(&arguments.connection, &arguments.command, extensions, console)
        }
        Command::Version => version::run(console),
        Command::Executor(arguments) => executor::run(&arguments),
        Command::Enter(arguments) => enter::run(&arguments).map(|()| Exit::Succeeded),
        Command::Status(arguments) => status::run(&arguments, console),
        Command::Why(arguments) => why::run(&arguments, extensions, console),
        Command::Logs(arguments) => logs::run(&arguments, console),
        Command::Run(arguments) => run::run(&arguments, extensions, console),
        Command::Runs(command) => runs::run(&command, console),
    }
}
