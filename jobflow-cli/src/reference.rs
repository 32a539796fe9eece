//! The reference of all commands in Markdown, made from their definitions.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};

use crate::arguments::Arguments;
#[cfg(feature = "cluster")]
use crate::arguments::cluster::PluginArguments;
use crate::escape::markdown;

/// The text of `docs/reference/cli.md`: the same whether or not the program was built with its commands for a cluster.
#[must_use]
pub fn reference() -> String {
    let intro = "# The command line\n\nMade from the program itself; what `--help` says. A build with the commands for \
                 a cluster has them below\n`jobflow cluster`, and as a program of their own, \
                 [`kubectl jobflow`](kubectl-jobflow.md).\n";
    chapters(intro, Arguments::command())
}

/// The text of `docs/reference/kubectl-jobflow.md`.
#[cfg(feature = "cluster")]
#[must_use]
pub fn cluster_reference() -> String {
    let intro = "# kubectl jobflow\n\nMade from the program itself; what `--help` says. `jobflow cluster` has the same \
                 commands for a cluster, where the plugin is\nnot installed.\n";
    chapters(intro, PluginArguments::command())
}

fn chapters(intro: &str, mut command: Command) -> String {
    let mut text = intro.to_owned();
    command.build();
    let name = command.get_bin_name().unwrap_or("jobflow").to_owned();
    describe(&mut text, &command, &name);
    text
}

/// A chapter on a command, and one on each of those below it.
fn describe(text: &mut String, command: &Command, name: &str) {
    let _ = write!(text, "\n## `{name}`\n");
    let about = command.get_long_about().or_else(|| command.get_about());
    paragraphs(text, about.map(ToString::to_string).unwrap_or_default().trim());
    let usage = command.clone().render_usage().to_string();
    let _ = write!(
        text,
        "\n```text\n{}\n```\n",
        usage.trim_start_matches("Usage: ").trim()
    );
    arguments(text, command);
    commands(text, command);
    if let Some(after) = command.get_after_help() {
        let _ = write!(text, "\n```text\n{}\n```\n", after.to_string().trim());
    }
    for inner in shown(command) {
        describe(text, inner, &format!("{name} {}", inner.get_name()));
    }
}

fn paragraphs(text: &mut String, said: &str) {
    for paragraph in said.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        let _ = write!(text, "\n{}\n", markdown(paragraph));
    }
}

fn arguments(text: &mut String, command: &Command) {
    let is_own = |arg: &&Arg| {
        let everywhere = arg.get_id() == "help" || arg.get_id() == "version" || arg.is_global_set();
        !arg.is_hide_set() && (!everywhere || command.get_name() == "jobflow")
    };
    let mut own = command.get_arguments().filter(is_own).peekable();
    if own.peek().is_none() {
        return;
    }
    text.push_str("\n| argument | meaning |\n| --- | --- |\n");
    for arg in own {
        let _ = writeln!(
            text,
            "| `{}` | {} |",
            written(arg).replace('|', "\\|"),
            meaning(arg)
        );
    }
}

/// An argument as it is typed.
fn written(arg: &Arg) -> String {
    let names = [
        arg.get_short().map(|short| format!("-{short}")),
        arg.get_long().map(|long| format!("--{long}")),
    ];
    let names = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let takes_value = arg.get_num_args().is_none_or(|count| count.takes_values());
    let value = arg
        .get_value_names()
        .and_then(|names| names.first())
        .filter(|_| takes_value)
        .map(ToString::to_string);
    match (names.is_empty(), value) {
        (true, value) => value.unwrap_or_default(),
        (false, Some(value)) => format!("{names} {value}"),
        (false, None) => names,
    }
}

fn meaning(arg: &Arg) -> String {
    let said = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let mut meaning = markdown(&said);
    let values = arg.get_possible_values();
    let values: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set() && arg.get_num_args().is_none_or(|count| count.takes_values()))
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() {
        let _ = write!(meaning, ": {}", values.join(", "));
    }
    let defaults: Vec<_> = arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy())
        .collect();
    if !defaults.is_empty() && arg.get_num_args().is_none_or(|count| count.takes_values()) {
        let _ = write!(meaning, " (default `{}`)", defaults.join(" "));
    }
    meaning
}

fn commands(text: &mut String, command: &Command) {
    let mut inner = shown(command).peekable();
    if inner.peek().is_none() {
        return;
    }
    text.push_str("\n| command | what it does |\n| --- | --- |\n");
    for command in inner {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| `{}` | {} |", command.get_name(), markdown(&about));
    }
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && !matches!(command.get_name(), "help" | "cluster"))
}
