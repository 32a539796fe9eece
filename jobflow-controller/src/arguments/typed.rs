//! Reads what was typed: unknown arguments are collected like wrong values, and don't hide them.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use super::faults::{ArgumentFault, Refused};
use super::{Arguments, Settings, Tool, documented};

/// Why nothing runs.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// Help, a version, or a use that makes no sense; clap has the words.
    Usage(Box<clap::Error>),
    /// Everything that is wrong.
    Refused(Refused),
}

/// What was asked for.
#[derive(Debug)]
pub(crate) enum Asked {
    /// To run.
    Run(Box<Settings>),
    /// To print the settings.
    Dump(Box<Settings>),
    /// To do something else.
    Tool(Tool),
}

/// Reads arguments; the first one is the program's own name.
pub(crate) fn parse(mut arguments: Vec<OsString>) -> Result<Asked, Stopped> {
    let mut unknown = Vec::new();
    loop {
        let result = Arguments::command()
            .try_get_matches_from(arguments.clone())
            .and_then(|matches| Arguments::from_arg_matches(&matches));
        match result {
            Ok(typed) => return checked(typed, unknown),
            Err(error) => match unknown_argument(&error).and_then(|name| take(&mut arguments, &name)) {
                Some(fault) => unknown.push(suggesting(fault, &error)),
                None => return Err(Stopped::Usage(Box::new(with_help(error, &arguments)))),
            },
        }
    }
}

fn checked(typed: Arguments, unknown: Vec<ArgumentFault>) -> Result<Asked, Stopped> {
    let settings = typed.settings();
    if !unknown.is_empty() {
        let others = settings.err().map(|Refused(faults)| faults);
        let all = unknown.into_iter().chain(others.into_iter().flatten());
        return Err(Stopped::Refused(Refused(all.collect())));
    }
    if let Some(tool) = typed.tool {
        return Ok(Asked::Tool(tool));
    }
    let settings = Box::new(settings.map_err(Stopped::Refused)?);
    match typed.dump_config {
        true => Ok(Asked::Dump(settings)),
        false => Ok(Asked::Run(settings)),
    }
}

fn unknown_argument(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    text(error, ContextKind::InvalidArg)
}

/// Takes an argument away, with the value that belongs to it.
fn take(arguments: &mut Vec<OsString>, name: &str) -> Option<ArgumentFault> {
    let is_it = |argument: &OsString| {
        let argument = argument.to_string_lossy();
        argument == name
            || argument
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('='))
    };
    let position = arguments.iter().skip(1).position(is_it)? + 1;
    let removed = arguments.remove(position);
    let has_value = removed.to_string_lossy().starts_with("--") && !removed.to_string_lossy().contains('=');
    let next = arguments.get(position);
    if has_value && next.is_some_and(|next| !next.to_string_lossy().starts_with('-')) {
        arguments.remove(position);
    }
    Some(ArgumentFault {
        argument: name.escape_debug().to_string(),
        message: "is no argument of this program".to_owned(),
    })
}

fn suggesting(mut fault: ArgumentFault, error: &clap::Error) -> ArgumentFault {
    if let Some(similar) = text(error, ContextKind::SuggestedArg) {
        fault.message.push_str(&format!("; {similar} is one"));
    }
    fault
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

/// Help names the values that an argument takes, which the definitions for parsing don't.
fn with_help(error: clap::Error, arguments: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::DisplayHelp {
        return error;
    }
    documented()
        .try_get_matches_from(arguments)
        .err()
        .unwrap_or(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: &[&str]) -> Vec<String> {
        let arguments = ["jobflow-controller"]
            .iter()
            .chain(arguments)
            .map(OsString::from)
            .collect();
        match parse(arguments) {
            Err(Stopped::Refused(Refused(faults))) => {
                faults.into_iter().map(|fault| fault.argument).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn unknown_arguments_hide_no_wrong_ones() {
        let wrong = ["--conurrency", "5", "--events=perhaps", "--log=json", "-x"];
        assert_eq!(refused(&wrong), ["--conurrency", "--log", "-x", "--events"]);
        assert_eq!(refused(&["--a=1", "--a=2"]), ["--a", "--a"]);
    }

    #[test]
    fn an_unknown_argument_gets_a_suggestion() {
        let arguments = ["jobflow-controller", "--take-ovr=on"]
            .iter()
            .map(OsString::from)
            .collect();
        let Err(Stopped::Refused(refused)) = parse(arguments) else {
            panic!("it is refused");
        };
        assert_eq!(
            refused.to_string(),
            "--take-ovr: is no argument of this program; --take-over is one"
        );
    }

    #[test]
    fn help_and_a_wrong_use_are_clap_s_to_tell() {
        for arguments in [
            vec!["--help"],
            vec!["--version"],
            vec!["completions"],
            vec!["--concurrency"],
        ] {
            let arguments = ["jobflow-controller"]
                .iter()
                .chain(&arguments)
                .map(OsString::from)
                .collect();
            assert!(matches!(parse(arguments), Err(Stopped::Usage(_))));
        }
    }
}
