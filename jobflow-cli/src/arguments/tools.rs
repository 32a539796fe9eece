//! Arguments of commands about jobflow itself.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

/// Print the JSON Schema of a kind, for editors
///
/// With a YAML language server, `# yaml-language-server: $schema=FILE` on the first line of a manifest uses it.
#[derive(Clone, Debug, Args)]
pub(crate) struct SchemaArguments {
    /// The kind
    #[arg(value_enum, ignore_case = true, default_value_t = SchemaKind::Flow)]
    pub(crate) kind: SchemaKind,
}

/// A kind that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// A flow
    #[value(name = "jobflow")]
    Flow,
    /// The spec of a job, used by entries of flows
    #[value(name = "jobtemplate")]
    Template,
    /// The spec of a flow, used by other flows
    #[value(name = "jobflowtemplate")]
    FlowTemplate,
}

/// Print completions for a shell
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  jobflow completions bash > ~/.local/share/bash-completion/completions/jobflow
  jobflow completions zsh > \"${fpath[1]}/_jobflow\"")]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Write man pages into a folder
#[derive(Clone, Debug, Args)]
pub(crate) struct ManArguments {
    /// The folder, made if it isn't there
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Be the parent of the tasks of a run
#[derive(Clone, Debug, Args)]
pub(crate) struct ExecutorArguments {
    /// The run's folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Become a task's command
#[derive(Clone, Debug, Args)]
pub(crate) struct EnterArguments {
    /// What to do before, as JSON
    #[arg(value_name = "PLAN", allow_hyphen_values = true)]
    pub(crate) plan: String,
}
