//! Which program this is: `jobflow`, for this machine, or `kubectl jobflow`, for a cluster.
//!
//! Comes in: what was typed, the name of the program included. Goes out: what is to be done. Deliberately absent: any
//! other difference between the two; a command that both have is the same.

use std::ffi::OsString;
#[cfg(feature = "cluster")]
use std::path::Path;

use clap::{CommandFactory, FromArgMatches};
use jobflow_k8s::extensions::Extensions;

#[cfg(feature = "cluster")]
use crate::arguments::cluster::{Connection, PluginArguments, PluginCommand};
use crate::arguments::{Arguments, Color, Command};
use crate::command;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Which program this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// `jobflow`.
    Jobflow,
    /// `kubectl jobflow`.
    #[cfg(feature = "cluster")]
    Plugin,
    /// What kubectl runs to complete the words after `kubectl jobflow`.
    #[cfg(feature = "cluster")]
    Completer,
}

/// What is to be done.
pub(crate) enum Invocation {
    /// By `jobflow`.
    Jobflow(Command),
    /// By `kubectl jobflow`.
    #[cfg(feature = "cluster")]
    Plugin(Box<PluginCommand>, Box<Connection>),
}

/// Commands of a cluster that `jobflow` understands without `cluster` before them: they mean nothing else here.
#[cfg(feature = "cluster")]
const UNMISTAKABLE: [&str; 14] = [
    "apply", "submit", "list", "ls", "get", "describe", "tree", "watch", "wait", "delete", "suspend",
    "resume", "cancel", "doctor",
];

impl Program {
    /// By the name under which it was started.
    #[cfg(feature = "cluster")]
    pub(crate) fn of(arguments: &[OsString]) -> Self {
        let name = arguments.first().map(Path::new).and_then(Path::file_stem);
        match name.and_then(std::ffi::OsStr::to_str) {
            Some("kubectl-jobflow" | "kubectl_jobflow") => Self::Plugin,
            Some("kubectl_complete-jobflow") => Self::Completer,
            Some(_) | None => Self::Jobflow,
        }
    }

    /// There is only one.
    #[cfg(not(feature = "cluster"))]
    pub(crate) const fn of(_: &[OsString]) -> Self {
        Self::Jobflow
    }

    /// What is to be done, and whether in colour.
    pub(crate) fn parse(self, arguments: Vec<OsString>) -> Result<(Invocation, Color), clap::Error> {
        match self {
            Self::Jobflow => {
                let Arguments { command, color } = parsed(Arguments::command(), in_its_place(arguments))?;
                Ok((Invocation::Jobflow(command), color))
            }
            #[cfg(feature = "cluster")]
            Self::Plugin => plugin(arguments),
            #[cfg(feature = "cluster")]
            Self::Completer => {
                let program = ["kubectl-jobflow", "__complete", "--"].map(OsString::from);
                plugin(program.into_iter().chain(arguments.into_iter().skip(1)).collect())
            }
        }
    }
}

impl Invocation {
    /// Does it.
    pub(crate) fn run(self, extensions: &Extensions, console: &mut Console) -> Result<Exit, Failure> {
        match self {
            Self::Jobflow(command) => command::run(command, extensions, console),
            #[cfg(feature = "cluster")]
            Self::Plugin(command, connection) => {
                command::run_of_plugin(*command, &connection, extensions, console)
            }
        }
    }
}

fn parsed<T: FromArgMatches>(command: clap::Command, arguments: Vec<OsString>) -> Result<T, clap::Error> {
    let matches = command.try_get_matches_from(arguments)?;
    T::from_arg_matches(&matches)
}

#[cfg(feature = "cluster")]
fn plugin(arguments: Vec<OsString>) -> Result<(Invocation, Color), clap::Error> {
    let PluginArguments {
        command,
        connection,
        color,
    } = parsed(PluginArguments::command(), arguments)?;
    Ok((Invocation::Plugin(Box::new(command), Box::new(connection)), color))
}

/// Puts `cluster` before a command that only a cluster has.
#[cfg(feature = "cluster")]
fn in_its_place(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(option) = arguments
        .get(at)
        .filter(|text| text.as_encoded_bytes().starts_with(b"-"))
    {
        at += if option == "--color" { 2 } else { 1 };
    }
    let first = arguments.get(at).and_then(|text| text.to_str());
    let installs = first == Some("crd") && arguments.iter().any(|text| text == "--install");
    if installs || first.is_some_and(|first| UNMISTAKABLE.contains(&first)) {
        arguments.insert(at, "cluster".into());
    }
    arguments
}

/// There is no such command.
#[cfg(not(feature = "cluster"))]
const fn in_its_place(arguments: Vec<OsString>) -> Vec<OsString> {
    arguments
}

#[cfg(all(test, feature = "cluster"))]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_name_says_which_program_it_is() {
        for (name, program) in [
            ("jobflow", Program::Jobflow),
            ("/usr/bin/kubectl-jobflow", Program::Plugin),
            ("kubectl_complete-jobflow", Program::Completer),
            ("jobflow-light", Program::Jobflow),
        ] {
            assert_eq!(Program::of(&[name.into()]), program, "{name}");
        }
        assert_eq!(Program::of(&[]), Program::Jobflow);
    }

    #[test]
    fn a_word_that_only_a_cluster_has_finds_its_place() {
        for (typed, meant) in [
            ("jobflow list -n x", "jobflow cluster list -n x"),
            (
                "jobflow --color always get a",
                "jobflow --color always cluster get a",
            ),
            ("jobflow crd --install", "jobflow cluster crd --install"),
            ("jobflow crd", "jobflow crd"),
            ("jobflow logs list", "jobflow logs list"),
            ("jobflow cluster list", "jobflow cluster list"),
            ("jobflow run apply", "jobflow run apply"),
        ] {
            assert_eq!(in_its_place(words(typed)), words(meant));
        }
    }
}
