//! Arguments of commands that look at what a cluster holds, and change nothing.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{ObjectFormat, parsing};
use crate::arguments::Format;

/// List flows
#[derive(Clone, Debug, Args)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  kubectl jobflow list -A --phase Running,Pending
  kubectl jobflow list --queue gpu -o name"
)]
pub(crate) struct ListArguments {
    /// Those of all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub(crate) all_namespaces: bool,
    /// Only those in one of these phases
    #[arg(
        long,
        value_enum,
        value_name = "PHASE",
        value_delimiter = ',',
        ignore_case = true
    )]
    pub(crate) phase: Vec<FlowPhaseName>,
    /// Only those that have a job for this queue
    #[arg(long, value_name = "NAME")]
    pub(crate) queue: Option<String>,
    /// Only those with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,
    /// How the list is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = ObjectFormat::Text)]
    pub(crate) output: ObjectFormat,
    /// Go on with a line whenever a flow changes
    #[arg(short, long)]
    pub(crate) watch: bool,
}

/// A phase of a flow, as the status writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub(crate) enum FlowPhaseName {
    Pending,
    Running,
    #[value(alias = "succeeded")]
    Succeed,
    Failed,
    Terminating,
}

/// Show how a flow stands
#[derive(Clone, Debug, Args)]
#[command(visible_alias = "status")]
pub(crate) struct GetArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
    /// How it is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = ObjectFormat::Text)]
    pub(crate) output: ObjectFormat,
}

/// Show all that is known of a flow: nodes, what they wait for, attempts, conditions, events
#[derive(Clone, Debug, Args)]
pub(crate) struct DescribeArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
}

/// Show a flow, its jobs, their tasks and pods
#[derive(Clone, Debug, Args)]
pub(crate) struct TreeArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
    /// How it is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Explain why entries of a flow have not ended well, each down to its cause
///
/// For each entry that has not succeeded, or the one named: what it waits for, what that waits for in its turn, down to
/// what holds everything up or went wrong; and what would let it go on. Beside the record of the flow, its jobs, pods,
/// queue, quota and events are looked at, as far as the caller may.
#[derive(Clone, Debug, Args)]
#[command(
    visible_alias = "explain",
    after_help = "\
Examples:
  kubectl jobflow why nightly
  kubectl jobflow why nightly train -o json"
)]
pub(crate) struct WhyArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
    /// The entry; all that have not succeeded without one
    pub(crate) node: Option<String>,
    /// How the explanation is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Show what a flow would start, in which order
///
/// The same as `jobflow plan`: nothing is started, and without --against no socket is opened.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  kubectl jobflow plan flow.yaml --against
  kubectl jobflow plan flow.yaml --against -o yaml")]
pub(crate) struct PlanAgainstArguments {
    /// What is planned.
    #[command(flatten)]
    pub(crate) plan: crate::arguments::PlanArguments,
    /// Take templates that the manifests don't hold from the cluster
    #[arg(long)]
    pub(crate) against: bool,
}

/// Show what applying manifests would change of a flow
///
/// The flow and the templates of the manifests are compared with those on the cluster, and what would become of each
/// change is told from where the flow stands there. It ends with 1 if there are differences, with 0 if there are none.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  kubectl jobflow diff flow.yaml
  kubectl jobflow diff manifests/ --flow nightly -o json")]
pub(crate) struct DiffArguments {
    /// Manifests: files, folders (their *.yaml, *.yml and *.json), or - for stdin
    #[arg(required = true, value_name = "FILE|DIR|-")]
    pub(crate) manifests: Vec<std::path::PathBuf>,
    /// The name of the flow, where the manifests hold several
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// How the differences are written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Watch a flow to its end
///
/// On a terminal a table that is drawn anew; in a pipe a line for each change of a node. It ends as `wait` does.
#[derive(Clone, Debug, Args)]
pub(crate) struct WatchArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
    /// How changes are written; json is one object a line, the last one is the result
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Show what the pods of a flow wrote
///
/// Of all attempts whose pods are still there: those that failed come first, then the others in the order of the flow.
/// On a terminal control characters are made visible; in a pipe, and with --raw, the output is exact.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  kubectl jobflow logs nightly
  kubectl jobflow logs nightly train/worker/0 -f
  kubectl jobflow logs nightly train -c sidecar --previous --tail 20")]
pub(crate) struct LogsArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
    /// Whose output: an entry, a task of it, one replica of that; all without it
    #[arg(value_name = "NODE[/TASK[/INDEX]]")]
    pub(crate) of: Option<String>,
    /// Go on as more is written, until the flow has ended
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only of this container; of all of them without it
    #[arg(short, long, value_name = "NAME")]
    pub(crate) container: Option<String>,
    /// Of the container before it was restarted
    #[arg(short, long, conflicts_with = "follow")]
    pub(crate) previous: bool,
    /// Only of this attempt
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: Option<u32>,
    /// Only what was written since then, such as 10m
    #[arg(long, value_name = "TIME", value_parser = parsing::duration)]
    pub(crate) since: Option<Duration>,
    /// Only so many of the last lines of each container
    #[arg(long, value_name = "LINES", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) tail: Option<i64>,
    /// When each line was written
    #[arg(long)]
    pub(crate) timestamps: bool,
    /// Every byte as it was written, without prefixes
    #[arg(long)]
    pub(crate) raw: bool,
}

/// Wait for a flow
///
/// A phase that an ended flow has not is not waited for: it ends with 1.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  kubectl jobflow wait nightly
  kubectl jobflow wait nightly --for phase=Running --timeout 10m

Exit codes:
    0  the flow is as it was waited for; without --for, or with --for end: it succeeded
    1  the flow ended, but not so
    2  the arguments are wrong
    3  the server can't be reached, or refuses
    4  the flow was deleted, or isn't there
    5  the time was up
  130  interrupted")]
pub(crate) struct WaitArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
    /// What to wait for: end, delete, or phase=PHASE
    #[arg(long = "for", value_name = "WHAT", default_value = "end", value_parser = awaited)]
    pub(crate) awaited: Awaited,
    /// How long to wait, such as 30m or 12h; 0 is without end
    #[arg(long, value_name = "TIME", value_parser = parsing::duration, default_value = "0")]
    pub(crate) timeout: Duration,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// That the flow ends.
    End,
    /// That it is gone.
    Deletion,
    /// That it is in a phase.
    Phase(FlowPhaseName),
}

fn awaited(text: &str) -> Result<Awaited, String> {
    match text.split_once('=') {
        None if text == "end" => Ok(Awaited::End),
        None if text == "delete" => Ok(Awaited::Deletion),
        Some(("phase", phase)) => FlowPhaseName::from_str(phase, true)
            .map(Awaited::Phase)
            .map_err(|_| "the phases are Pending, Running, Succeed, Failed, Terminating".to_owned()),
        Some(_) | None => Err("write end, delete or phase=PHASE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_has_three_forms() {
        assert_eq!(awaited("end"), Ok(Awaited::End));
        assert_eq!(awaited("delete"), Ok(Awaited::Deletion));
        assert_eq!(
            awaited("phase=running"),
            Ok(Awaited::Phase(FlowPhaseName::Running))
        );
        for bad in ["", "phase=", "phase=Done", "condition=x", "ends"] {
            assert!(awaited(bad).is_err(), "{bad}");
        }
    }
}
