//! Arguments of commands that read or write manifests and start nothing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Format;

/// Write a small flow to start from
///
/// The flow is commented, valid, and runs as it is: `jobflow new my-flow -o flow.yaml && jobflow run flow.yaml`.
#[derive(Clone, Debug, Args)]
pub(crate) struct NewArguments {
    /// The name of the flow
    #[arg(default_value = "my-flow")]
    pub(crate) name: String,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// Check manifests, and tell everything that is wrong with them
///
/// All faults of all files are told at once, each with file, line and column. Nothing is started, no socket is opened,
/// and nothing is read but what is named. Objects of other kinds are left alone.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  jobflow validate flow.yaml
  jobflow validate manifests/ -o json
  helm template . | jobflow validate -")]
pub(crate) struct ValidateArguments {
    /// Manifests: files, folders (their *.yaml, *.yml and *.json), or - for stdin
    #[arg(required = true, value_name = "FILE|DIR|-")]
    pub(crate) manifests: Vec<PathBuf>,
    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Draw a flow
///
/// Entries are boxes, and an arrow goes from what is waited for to what waits. A condition other than `Completed`
/// stands at its arrow.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  jobflow graph flow.yaml
  jobflow graph flow.yaml -o svg > flow.svg
  jobflow graph flow.yaml -o dot | dot -Tpdf > flow.pdf")]
pub(crate) struct GraphArguments {
    /// Manifests: files, folders (their *.yaml, *.yml and *.json), or - for stdin
    #[arg(required = true, value_name = "FILE|DIR|-")]
    pub(crate) manifests: Vec<PathBuf>,
    /// The name of the flow, where the manifests hold several
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// What the drawing is written as
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = GraphFormat::Text)]
    pub(crate) output: GraphFormat,
}

/// Show what a flow would start, in which order
///
/// The flow is played through as if each job succeeded: waves of jobs that would start together, with limits, conditions
/// and delays. PATH is how many entries are on the longest way from an entry to the end. Nothing is started, no socket is
/// opened; all that is wrong is told as `validate` tells it.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  jobflow plan flow.yaml
  jobflow plan flow.yaml -o yaml | kubectl apply --dry-run=server -f -")]
pub(crate) struct PlanArguments {
    /// Manifests: files, folders (their *.yaml, *.yml and *.json), or - for stdin
    #[arg(required = true, value_name = "FILE|DIR|-")]
    pub(crate) manifests: Vec<PathBuf>,
    /// The name of the flow, where the manifests hold several
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// Show the first Job of each entry below the plan, as it would be created
    #[arg(long)]
    pub(crate) show_jobs: bool,
    /// What is written: the plan, the Jobs in the order of their start, or both as one object
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = PlanFormat::Text)]
    pub(crate) output: PlanFormat,
}

/// What a plan is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// The plan, for people
    Text,
    /// The Jobs
    Yaml,
    /// Both, for programs
    Json,
}

/// Show what an edit of a flow would change
///
/// Entries, templates and settings of the flow that are new, gone or different, with the fields, and what would become of
/// each while the flow runs. With --run that is told from where the entries of a run of this machine stand. It ends with 1
/// if there are differences, with 0 if there are none.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  jobflow diff old.yaml new.yaml
  git show HEAD:flow.yaml | jobflow diff - flow.yaml --run etl")]
pub(crate) struct DiffArguments {
    /// Manifests as they were: a file, a folder, or - for stdin
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// Manifests as they are to be
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// The name of the flow, where the manifests hold several
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// Tell what becomes of each change in this run; of the newest one without a name
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "")]
    pub(crate) run: Option<String>,
    /// How the differences are written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// What a drawing is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Boxes and lines for a terminal
    Text,
    /// Graphviz
    Dot,
    /// Mermaid, as many Markdown renderers draw it
    Mermaid,
    /// A picture
    Svg,
}
