//! jobflow on the command line: flows of batch jobs are written, checked, drawn and run.
//!
//! Comes in: arguments, manifests, the folders of earlier runs. Goes out: data on stdout, talk on stderr, and an exit
//! code that says how it went. Deliberately absent: any rule about flows (those are in `jobflow-core` and
//! `jobflow-k8s`); and a client of a cluster, unless the feature `cluster` brings it.

mod arguments;
#[cfg(feature = "cluster")]
mod cluster;
mod command;
mod console;
mod diagnose;
mod diagram;
mod display;
mod escape;
mod exit;
mod failure;
mod input;
mod manifests;
mod past;
mod program;
mod reasons;
mod reference;
mod rehearsal;
mod revision;
mod shape;
mod standing;
mod table;

use std::ffi::OsString;
use std::process::ExitCode;

use console::Console;
use exit::Exit;
use failure::Failure;
pub use jobflow_k8s::extensions::Extensions;
use program::Program;
#[cfg(feature = "cluster")]
pub use reference::cluster_reference;
pub use reference::reference;

/// Does what the arguments say; the first one is the program's own name.
///
/// ```
/// let code = jobflow_cli::run(["jobflow", "version"]);
/// assert_eq!(code, std::process::ExitCode::SUCCESS);
/// ```
pub fn run<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> ExitCode {
    run_with(arguments, &Extensions::default())
}

/// The same for a program that adds kinds of predicates for `dependsOn.custom`.
///
/// ```
/// let extensions = jobflow_cli::Extensions::default();
/// let code = jobflow_cli::run_with(["mine", "version"], &extensions);
/// assert_eq!(code, std::process::ExitCode::SUCCESS);
/// ```
pub fn run_with<A: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = A>,
    extensions: &Extensions,
) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let (invocation, color) = match Program::of(&arguments).parse(arguments) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error).into(),
    };
    let mut console = Console::of_this_process(color);
    let result = invocation.run(extensions, &mut console);
    finish(result, &mut console).into()
}

/// Help and version go to stdout and succeed, everything else is a wrong use.
fn usage(error: &clap::Error) -> Exit {
    // A closed stream is no reason to complain about help that nobody reads.
    let _ = error.print();
    match error.use_stderr() {
        true => Exit::WrongInput,
        false => Exit::Succeeded,
    }
}

/// Says what went wrong, if something did, and chooses the exit code.
fn finish(result: Result<Exit, Failure>, console: &mut Console) -> Exit {
    let result = result.and_then(|exit| console.flush().map(|()| exit));
    match result {
        Ok(exit) => exit,
        Err(Failure::Closed) => Exit::Succeeded,
        Err(Failure::Told(exit)) => exit,
        Err(Failure::Said(said)) => {
            console.complain(&said);
            said.exit
        }
    }
}
