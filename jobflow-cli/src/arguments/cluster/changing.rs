//! Arguments of commands that change what a cluster holds.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{NameFormat, parsing};

/// Bring manifests to the cluster
///
/// Everything is checked first, here and by the server: all faults of all files are told at once, each with file and
/// line, and nothing is changed as long as there is one. Then templates and all else are applied before the flows, by
/// server-side apply: fields that others have set stay as they are.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  kubectl jobflow apply flow.yaml
  kubectl jobflow apply manifests/ -n team-a --dry-run=server
  helm template . | kubectl jobflow apply -")]
pub(crate) struct ApplyArguments {
    /// Manifests: files, folders (their *.yaml, *.yml and *.json), or - for stdin
    #[arg(required_unless_present = "filename", value_name = "FILE|DIR|-")]
    pub(crate) manifests: Vec<PathBuf>,
    /// The same, as kubectl has it
    #[arg(short, long, value_name = "FILE|DIR|-")]
    pub(crate) filename: Vec<PathBuf>,
    /// Only tell what would be done: client asks nobody, server lets the server check it
    #[arg(long, value_enum, value_name = "WHERE", num_args = 0..=1, default_missing_value = "server")]
    pub(crate) dry_run: Option<DryRun>,
    /// Take over fields that somebody else has set
    #[arg(long)]
    pub(crate) force_conflicts: bool,
    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = NameFormat::Text)]
    pub(crate) output: NameFormat,
}

/// Who looks at what is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    /// Only this program
    Client,
    /// The server too
    Server,
}

/// Start a flow under a new name
///
/// Each time a flow of its own begins, named after the one in the manifests with five more characters, as many times as
/// wanted and side by side. Requests, suspension and cancellation that stand in the manifest are left out. Everything
/// else in the manifests is applied first. The name is made here, so that it is known whatever happens to the answer.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  kubectl jobflow submit flow.yaml --wait
  kubectl jobflow logs \"$(kubectl jobflow submit flow.yaml -o name)\" -f")]
pub(crate) struct SubmitArguments {
    /// Manifests: files, folders (their *.yaml, *.yml and *.json), or - for stdin
    #[arg(required = true, value_name = "FILE|DIR|-")]
    pub(crate) manifests: Vec<PathBuf>,
    /// The name of the flow, where the manifests hold several
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// Only tell what would be done: client asks nobody, server lets the server check it
    #[arg(long, value_enum, value_name = "WHERE", num_args = 0..=1, default_missing_value = "server", conflicts_with = "wait")]
    pub(crate) dry_run: Option<DryRun>,
    /// Take over fields that somebody else has set
    #[arg(long)]
    pub(crate) force_conflicts: bool,
    /// Wait for the end of the flow, and end as it ended
    #[arg(long)]
    pub(crate) wait: bool,
    /// How long to wait, such as 30m or 12h; 0 is without end
    #[arg(long, value_name = "TIME", value_parser = parsing::duration, default_value = "0", requires = "wait")]
    pub(crate) timeout: Duration,
    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = NameFormat::Text)]
    pub(crate) output: NameFormat,
}

/// Delete flows, and with them their jobs and pods
///
/// Deleting runs nothing, not even `finally`; to end a flow in an orderly way, cancel it.
#[derive(Clone, Debug, Args)]
pub(crate) struct DeleteArguments {
    /// The flows
    #[arg(required = true, value_name = "FLOW", value_parser = parsing::flow)]
    pub(crate) flows: Vec<String>,
    /// When the flow goes: before its jobs, after them, or without them
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Cascade::Background)]
    pub(crate) cascade: Cascade,
    /// Wait until they are gone
    #[arg(long)]
    pub(crate) wait: bool,
    /// How long to wait; 0 is without end
    #[arg(long, value_name = "TIME", value_parser = parsing::duration, default_value = "0", requires = "wait")]
    pub(crate) timeout: Duration,
    /// That a flow isn't there is no failure
    #[arg(long)]
    pub(crate) ignore_not_found: bool,
}

/// What becomes of what a deleted flow owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cascade {
    /// The flow goes at once, its jobs after it
    Background,
    /// Its jobs go first
    Foreground,
    /// Its jobs stay, and nobody looks after them
    Orphan,
}

/// Start nothing new of a flow until it is resumed
#[derive(Clone, Debug, Args)]
pub(crate) struct SuspendArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
    /// Stop what runs too; it runs again, as a free new attempt, after resume
    #[arg(long)]
    pub(crate) running: bool,
}

/// Let a suspended flow go on
#[derive(Clone, Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
}

/// End a flow: stop what runs, start nothing but what belongs to `finally`
#[derive(Clone, Debug, Args)]
pub(crate) struct CancelArguments {
    /// The flow
    #[arg(value_parser = parsing::flow)]
    pub(crate) flow: String,
    /// Leave out `finally` too
    #[arg(long)]
    pub(crate) now: bool,
    /// Why, for those who look at the flow later
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}
