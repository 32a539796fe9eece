//! From arguments to what containers get and may do here.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use jobflow_local::kit::{CommandFor, KitSettings};
use jobflow_local::pod::inherited::Inherit;
use jobflow_local::volumes::VolumeOptions;

use crate::arguments::RunArguments;
use crate::failure::Failure;

/// What containers get and may do.
pub(super) fn of(arguments: &RunArguments) -> Result<KitSettings, Failure> {
    let program = env::current_exe().map_err(|error| unknown("this program", &error))?;
    let work = env::current_dir().map_err(|error| unknown("the present folder", &error))?;
    Ok(KitSettings {
        volumes: VolumeOptions {
            maps: maps(arguments, &work)?,
            host_prefixes: arguments
                .allow_host_path
                .iter()
                .map(|path| work.join(path))
                .collect(),
        },
        isolate: arguments.isolate,
        commands: arguments.command.iter().map(command).collect(),
        inherit: inherit(&arguments.inherit_env),
        enter: vec![program.to_string_lossy().into_owned(), "__enter".to_owned()],
        work,
    })
}

fn unknown(what: &str, error: &io::Error) -> Failure {
    Failure::could_not_run(format!("cannot find out where {what} is")).because(error)
}

/// The user's folders, absolute; one that isn't there is a slip of the pen.
fn maps(arguments: &RunArguments, work: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let map = |(name, folder): &(String, String)| {
        let folder = work.join(folder);
        if folder.is_dir() {
            return Ok((name.clone(), folder));
        }
        let message = format!("--map {name}: {} is no folder", folder.display());
        Err(Failure::wrong_input(message).with_help("make it, or correct its name"))
    };
    arguments.map.iter().map(map).collect()
}

/// `ENTRY/TASK` for one entry, `TASK` for all.
fn command((name, command): &(String, String)) -> CommandFor {
    let (entry, task) = match name.split_once('/') {
        Some((entry, task)) => (Some(entry.to_owned()), task),
        None => (None, name.as_str()),
    };
    CommandFor {
        entry,
        task: task.to_owned(),
        command: command.clone(),
    }
}

fn inherit(names: &[String]) -> Inherit {
    match names.iter().any(|name| name == "all") {
        true => Inherit::All,
        false => Inherit::Named(names.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_for_one_entry_or_for_all() {
        let read = |name: &str| command(&(name.to_owned(), "true".to_owned()));
        assert_eq!(
            (read("a/main").entry.as_deref(), read("a/main").task),
            (Some("a"), "main".to_owned())
        );
        assert_eq!(read("main").entry, None);
    }

    #[test]
    fn all_variables_are_inherited_or_those_that_are_named() {
        assert_eq!(inherit(&["A".to_owned(), "all".to_owned()]), Inherit::All);
        assert_eq!(inherit(&["A".to_owned()]), Inherit::Named(vec!["A".to_owned()]));
    }
}
