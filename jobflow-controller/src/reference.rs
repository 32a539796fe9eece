//! The reference of the controller in Markdown, made from its definitions: arguments, metrics, findings, Events.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Arg;

use crate::arguments::documented;
use crate::events::book::{BURST, REFILL};
use crate::findings::{Check, OF_FLOWS};
use crate::metrics::Metrics;

/// The text of `docs/reference/controller.md`.
#[must_use]
pub fn reference() -> String {
    let mut text = "# The controller\n\nMade from the program itself.\n".to_owned();
    arguments(&mut text);
    pages(&mut text);
    metrics(&mut text);
    findings(&mut text);
    events(&mut text);
    text
}

fn arguments(text: &mut String) {
    let mut command = documented();
    command.build();
    let about = command
        .get_long_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let _ = write!(text, "\n## `jobflow-controller`\n\n{}\n", markdown(about.trim()));
    let mut by_heading: BTreeMap<&str, Vec<&Arg>> = BTreeMap::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let heading = argument.get_help_heading().unwrap_or_default();
        by_heading.entry(heading).or_default().push(argument);
    }
    for (heading, arguments) in by_heading {
        let heading = if heading.is_empty() { "Arguments" } else { heading };
        let _ = write!(
            text,
            "\n### {heading}\n\n| argument | environment variable | meaning |\n| --- | --- | --- |\n"
        );
        for argument in arguments {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} |",
                written(argument),
                variable(argument),
                meaning(argument)
            );
        }
    }
    let tools = command.get_subcommands();
    let _ = write!(
        text,
        "\n### Other commands\n\n| command | what it does |\n| --- | --- |\n"
    );
    for tool in tools {
        let about = tool.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| `{}` | {} |", tool.get_name(), markdown(&about));
    }
    let after = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let _ = write!(text, "\n```text\n{}\n```\n", after.trim());
}

fn written(argument: &Arg) -> String {
    let name = argument
        .get_long()
        .map(|long| format!("--{long}"))
        .unwrap_or_default();
    let takes_value = argument.get_num_args().is_none_or(|count| count.takes_values());
    let value = argument
        .get_value_names()
        .and_then(|names| names.first())
        .filter(|_| takes_value);
    match value {
        Some(value) => format!("{name} {value}").replace('|', "\\|"),
        None => name,
    }
}

fn variable(argument: &Arg) -> String {
    let name = argument
        .get_env()
        .map(|name| format!("`{}`", name.to_string_lossy()));
    name.unwrap_or_default()
}

fn meaning(argument: &Arg) -> String {
    let mut meaning = argument
        .get_help()
        .map(|help| markdown(&help.to_string()))
        .unwrap_or_default();
    let takes_value = argument.get_num_args().is_none_or(|count| count.takes_values());
    let defaults = argument.get_default_values().iter().filter(|_| takes_value);
    for default in defaults {
        let _ = write!(meaning, " (default `{}`)", default.to_string_lossy());
    }
    meaning
}

fn pages(text: &mut String) {
    text.push_str(
        "\n## Pages\n\n| path | answers |\n| --- | --- |\n\
         | `/livez` | 200, or 503 when the leader has heard nothing of the API server for 15 minutes |\n\
         | `/readyz` | 200, or 503 with the reasons, a line each: the checks at start are not done, a finding that stops everything, a leader that has not read all yet or heard nothing for 5 minutes, an end |\n\
         | `/metrics` | OpenMetrics |\n\n\
         A controller that waits for another to give up the lease is ready.\n",
    );
}

/// The descriptions are those that a scraper gets.
fn metrics(text: &mut String) {
    text.push_str("\n## Metrics\n\nNo label holds the name of a flow, a node or a namespace.\n\n| metric | type | meaning |\n| --- | --- | --- |\n");
    let exposed = Metrics::new().text();
    let mut help = "";
    for line in exposed.lines() {
        if let Some(line) = line.strip_prefix("# HELP ") {
            help = line.split_once(' ').map_or("", |(_, help)| help);
        }
        if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|line| line.split_once(' ')) {
            let suffix = if kind == "counter" { "_total" } else { "" };
            let _ = writeln!(
                text,
                "| `{name}{suffix}` | {kind} | {} |",
                markdown(help.trim_end_matches('.'))
            );
        }
    }
}

fn findings(text: &mut String) {
    text.push_str("\n## Findings\n\nEach is a line in the log and a value of `jobflow_findings`.\n\n### About the cluster\n\n| finding | not ready | meaning |\n| --- | --- | --- |\n");
    for check in Check::ALL {
        let blocks = if check.blocks() { "yes" } else { "no" };
        let _ = writeln!(text, "| `{}` | {blocks} | {} |", check.name(), check.meaning());
    }
    text.push_str("\n### About single flows\n\nThese are Events of the flow too.\n\n| finding | meaning |\n| --- | --- |\n");
    for (name, meaning) in OF_FLOWS {
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
}

fn events(text: &mut String) {
    let _ = write!(
        text,
        "\n## Events\n\n\
         Each step of a node is an Event of its flow (`events.k8s.io/v1`); its reason is the phase that the node is in \
         now. The end of a flow is `FlowSucceeded` or `FlowFailed`. What is alike and comes at the same time is one \
         Event that names the first eight nodes. A flow has at most {BURST} at once and one more every {} s; what is \
         above that waits, and folds further. Namespaces take turns. `--events=off` sends none.\n",
        REFILL.as_secs()
    );
}

/// Text outside code: what could begin markup gets a backslash.
fn markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '|' | '*' | '[' | ']' => safe.extend(['\\', character]),
            character => safe.push(character),
        }
    }
    safe
}
