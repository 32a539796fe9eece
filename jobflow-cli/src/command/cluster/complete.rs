//! What may come next after `kubectl jobflow …`, in the way that kubectl asks for it: a line each, then a number that
//! says how the shell goes on.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory, FromArgMatches};
use kube::api::ListParams;

use crate::arguments::cluster::{Connection, PluginArguments};
use crate::cluster::{Cluster, kinds};
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;

/// To kubectl: complete no names of files, where that would be nonsense.
const NO_FILES: &str = ":4\n";
const FILES: &str = ":0\n";
/// Whoever presses a key doesn't wait longer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Flows that are offered.
const MOST_FLOWS: u32 = 500;

/// Prints what may come next. What goes wrong shows nothing: a shell has no place for it.
pub(crate) async fn run(words: &[OsString], console: &mut Console) -> Result<Exit, Failure> {
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let (begun, before) = words
        .split_last()
        .map_or(("", [].as_slice()), |(last, before)| (last.as_str(), before));
    let mut root = PluginArguments::command();
    root.build();
    let (command, position, open) = place(&root, before);
    let mut lines = match open {
        Some(option) => values(option),
        None => offered(command, begun),
    };
    let wants_flow = open.is_none() && position == 0 && command.get_positionals().next().is_some_and(is_flow)
        || open.is_none()
            && command
                .get_positionals()
                .next()
                .is_some_and(|arg| is_flow(arg) && takes_many(arg));
    if wants_flow && !begun.starts_with('-') {
        lines.extend(flows(before).await.unwrap_or_default());
    }
    let is_file = command.get_positionals().any(takes_files) && open.is_none();
    let text: String = lines
        .iter()
        .filter(|(word, _)| word.starts_with(begun))
        .map(line)
        .collect();
    console.data(&(text + if is_file { FILES } else { NO_FILES }))?;
    Ok(Exit::Succeeded)
}

type Word = (String, String);

fn line((word, about): &Word) -> String {
    let text = match about.is_empty() {
        true => escape::terminal(word),
        false => format!("{}\t{}", escape::terminal(word), escape::terminal(about)),
    };
    text + "\n"
}

/// The command that words lead to, how many arguments it has got, and the option that waits for its value.
fn place<'a>(root: &'a Command, words: &[String]) -> (&'a Command, usize, Option<&'a Arg>) {
    let (mut command, mut position, mut open) = (root, 0, None);
    for word in words {
        if open.take().is_some() {
            continue;
        }
        if word.starts_with('-') {
            open = option(command, word).filter(|arg| !word.contains('=') && takes_value(arg));
        } else if let Some(inner) = command.find_subcommand(word) {
            (command, position) = (inner, 0);
        } else {
            position += 1;
        }
    }
    (command, position, open)
}

fn option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let name = word.split('=').next().unwrap_or(word);
    command.get_arguments().find(|arg| {
        let long = arg
            .get_long()
            .is_some_and(|long| name.strip_prefix("--") == Some(long));
        let short = arg
            .get_short()
            .is_some_and(|short| name.strip_prefix('-') == Some(short.to_string().as_str()));
        long || short
    })
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_num_args().is_none_or(|count| count.min_values() > 0)
}

fn takes_many(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.max_values() > 1)
}

fn is_flow(arg: &Arg) -> bool {
    arg.get_id() == "flow" || arg.get_id() == "flows"
}

fn takes_files(arg: &Arg) -> bool {
    arg.get_id() == "manifests"
}

fn values(option: &Arg) -> Vec<Word> {
    let values = option.get_possible_values();
    values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| {
            let about = value.get_help().map(ToString::to_string).unwrap_or_default();
            (value.get_name().to_owned(), about)
        })
        .collect()
}

/// Options once somebody begins one, else commands below.
fn offered(command: &Command, begun: &str) -> Vec<Word> {
    if begun.starts_with('-') {
        let options = command.get_arguments().filter(|arg| !arg.is_hide_set());
        return options
            .filter_map(|arg| {
                Some((
                    format!("--{}", arg.get_long()?),
                    arg.get_help().map(ToString::to_string).unwrap_or_default(),
                ))
            })
            .collect();
    }
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    commands
        .map(|command| {
            (
                command.get_name().to_owned(),
                command.get_about().map(ToString::to_string).unwrap_or_default(),
            )
        })
        .collect()
}

/// The flows of the place that the words name.
async fn flows(words: &[String]) -> Option<Vec<Word>> {
    let look = async {
        let cluster = Cluster::reach(&connection(words)).await.ok()?;
        let api = kinds::api(&cluster.client, Some(&cluster.namespace), &kinds::flows());
        let list = api
            .list_metadata(&ListParams::default().limit(MOST_FLOWS))
            .await
            .ok()?;
        let names = list.items.into_iter().filter_map(|flow| flow.metadata.name);
        Some(names.map(|name| (name, String::new())).collect())
    };
    tokio::time::timeout(PATIENCE, look).await.ok()?
}

/// What the words say of the cluster; all else is left out.
fn connection(words: &[String]) -> Connection {
    let parser = <Connection as clap::Args>::augment_args(Command::new("jobflow"));
    let mut told = vec!["jobflow"];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(arg) = option(&parser, word).filter(|_| word.starts_with('-')) else {
            continue;
        };
        told.push(word);
        if takes_value(arg) && !word.contains('=') {
            told.extend(words.next().map(String::as_str));
        }
    }
    let matches = parser.try_get_matches_from(told);
    let found = matches
        .ok()
        .and_then(|matches| Connection::from_arg_matches(&matches).ok());
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(words: &str) -> Vec<String> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let (begun, before) = words.split_last().unwrap();
        let mut root = PluginArguments::command();
        root.build();
        let (command, _, open) = place(&root, before);
        let lines = open.map_or_else(|| offered(command, begun), values);
        lines
            .into_iter()
            .map(|(word, _)| word)
            .filter(|word| word.starts_with(begun))
            .collect()
    }

    #[test]
    fn commands_options_and_values_are_offered_where_they_may_stand() {
        assert_eq!(next("de"), ["describe", "delete"]);
        assert_eq!(next("list --ph"), ["--phase"]);
        assert_eq!(next("list --output ya"), ["yaml"]);
        assert_eq!(next("-n x list --all"), ["--all-namespaces"]);
        assert_eq!(next("delete --cascade "), ["background", "foreground", "orphan"]);
        assert!(next("__").is_empty());
    }

    #[test]
    fn the_place_is_taken_from_what_was_typed() {
        let words = ["get", "-n", "team", "--nonsense", "--context=c"].map(str::to_owned);
        let found = connection(&words);
        assert_eq!(
            (found.namespace.as_deref(), found.context.as_deref()),
            (Some("team"), Some("c"))
        );
    }
}
