//! The arguments of every command, and all that the help says.
//!
//! Help, man pages, completions and the reference in the docs are made from these definitions alone.

#[cfg(feature = "cluster")]
pub(crate) mod cluster;
mod flow;
mod past;
mod running;
mod tools;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use flow::{
    DiffArguments, GraphArguments, GraphFormat, NewArguments, PlanArguments, PlanFormat, ValidateArguments,
};
pub(crate) use past::{LogsArguments, PruneArguments, RunsCommand, StatusArguments, WhyArguments};
pub(crate) use running::RunArguments;
pub(crate) use tools::{
    CompletionsArguments, EnterArguments, ExecutorArguments, ManArguments, SchemaArguments, SchemaKind,
};

use crate::exit;

/// Flows of batch jobs: write, check, draw and run them
///
/// A flow is a graph of Volcano jobs, written as Kubernetes manifests (JobFlow and JobTemplate). On this machine each
/// replica of each task runs as a process; the same manifests run on a cluster.
///
/// Data goes to stdout, talk to stderr. NO_COLOR, COLUMNS and the locale are respected.
#[derive(Clone, Debug, Parser)]
#[command(name = "jobflow", version, after_help = exit::HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Whether to use colours; auto uses them on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    New(NewArguments),
    Run(Box<RunArguments>),
    Validate(ValidateArguments),
    Graph(GraphArguments),
    Plan(PlanArguments),
    Diff(DiffArguments),
    #[command(subcommand)]
    Runs(RunsCommand),
    Status(StatusArguments),
    #[command(visible_alias = "explain")]
    Why(WhyArguments),
    Logs(LogsArguments),
    /// Print the custom resource definitions for a cluster
    Crd,
    Schema(SchemaArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
    #[cfg(feature = "cluster")]
    Cluster(Box<cluster::ClusterArguments>),
    /// Print the version
    Version,
    #[command(name = "__executor", hide = true)]
    Executor(ExecutorArguments),
    /// Become a task's command
    #[command(name = "__enter", hide = true)]
    Enter(EnterArguments),
}

/// Whether to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_fit_together() {
        Arguments::command().debug_assert();
    }
}
