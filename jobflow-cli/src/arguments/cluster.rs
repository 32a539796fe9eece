//! Arguments of commands that speak with a cluster.
//!
//! `kubectl jobflow` has them at the top, `jobflow` below `cluster`: a word never means a run of this machine in one
//! place and a flow of a cluster in the same place.

mod changing;
mod looking;
mod parsing;
mod tools;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use changing::{
    ApplyArguments, CancelArguments, Cascade, DeleteArguments, DryRun, ResumeArguments, SubmitArguments,
    SuspendArguments,
};
pub(crate) use looking::{
    Awaited, DescribeArguments, DiffArguments, FlowPhaseName, GetArguments, ListArguments, LogsArguments,
    PlanAgainstArguments, TreeArguments, WaitArguments, WatchArguments, WhyArguments,
};
pub(crate) use tools::{
    CompleteArguments, CompletionsArguments, CrdArguments, DoctorArguments, VersionArguments,
};

use super::{Color, GraphArguments, ManArguments, NewArguments, SchemaArguments, ValidateArguments};
use crate::exit;

/// Flows of batch jobs on a cluster: apply, watch and end them
///
/// A flow is a graph of Volcano jobs, written as Kubernetes manifests (JobFlow and JobTemplate). Every command here
/// speaks of the cluster and namespace that kubectl would use, and needs the caller's own rights only. Runs of this
/// machine are those of the program `jobflow`.
///
/// Data goes to stdout, talk to stderr. NO_COLOR, COLUMNS and the locale are respected.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "jobflow",
    bin_name = "kubectl jobflow",
    display_name = "kubectl-jobflow",
    version,
    after_help = exit::CLUSTER_HELP,
    max_term_width = 100
)]
pub(crate) struct PluginArguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: PluginCommand,
    /// Where.
    #[command(flatten)]
    pub(crate) connection: Connection,
    /// Whether to use colours; auto uses them on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

/// Flows on a cluster; the same as `kubectl jobflow`
///
/// Every command here speaks of the cluster and namespace that kubectl would use, and needs the caller's own rights
/// only.
#[derive(Clone, Debug, Args)]
#[command(after_help = exit::CLUSTER_HELP)]
pub(crate) struct ClusterArguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
    /// Where.
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Which cluster, as whom, and where in it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct Connection {
    /// The kubeconfig file; without it $KUBECONFIG, which may name several, ~/.kube/config, or the service account of
    /// this pod
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; its current one without
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The cluster of the kubeconfig, in place of the context's
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    /// The user of the kubeconfig, in place of the context's
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// The namespace; the context's without
    #[arg(short, long, global = true, value_name = "NAME", value_parser = parsing::namespace)]
    pub(crate) namespace: Option<String>,
    /// How long one request may take, such as 5s or 1m; 0 is without end
    #[arg(long, global = true, value_name = "TIME", value_parser = parsing::duration, default_value = "60s")]
    pub(crate) request_timeout: Duration,
    /// Act as this user, or as system:serviceaccount:NAMESPACE:NAME
    #[arg(long = "as", global = true, value_name = "USER")]
    pub(crate) as_user: Option<String>,
    /// Act as a member of this group too; may be given several times
    #[arg(long, global = true, value_name = "GROUP", requires = "as_user")]
    pub(crate) as_group: Vec<String>,
}

/// What can be done with a cluster.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    Apply(ApplyArguments),
    Submit(SubmitArguments),
    List(ListArguments),
    Get(GetArguments),
    Describe(DescribeArguments),
    Tree(TreeArguments),
    Watch(WatchArguments),
    Why(WhyArguments),
    Plan(PlanAgainstArguments),
    Diff(DiffArguments),
    Logs(LogsArguments),
    Wait(WaitArguments),
    Delete(DeleteArguments),
    Suspend(SuspendArguments),
    Resume(ResumeArguments),
    Cancel(CancelArguments),
    Doctor(DoctorArguments),
    Crd(CrdArguments),
    Version(VersionArguments),
}

/// What the plugin can do: all that has to do with a cluster, and what helps to write manifests for it.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum PluginCommand {
    #[command(flatten)]
    Cluster(ClusterCommand),
    New(NewArguments),
    Validate(ValidateArguments),
    Graph(GraphArguments),
    Schema(SchemaArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArguments),
}

/// How objects are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectFormat {
    /// For people
    Text,
    /// For people, with more columns
    Wide,
    /// As the server stores them
    Json,
    /// As the server stores them
    Yaml,
    /// Only their names
    Name,
}

/// How a result is written that is no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NameFormat {
    /// What became of it
    Text,
    /// Only its name
    Name,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_of_the_plugin_fit_together() {
        PluginArguments::command().debug_assert();
    }
}
