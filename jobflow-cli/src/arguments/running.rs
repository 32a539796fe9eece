//! Arguments of `run`.

use std::path::PathBuf;

use clap::Args;

use super::Format;

/// Run a flow on this machine
///
/// Each replica of each task is a process here, with its own folder, output and environment. A run outlives its
/// terminal: after an interruption `--resume` goes on where it was.
///
/// It ends with the last lines of what the entries wrote that nothing waits for, or of those that failed.
///
/// A task's environment holds PATH, HOME (a folder of the run), LANG, TZ, TMPDIR, VIRTUAL_ENV, CONDA_PREFIX and what its
/// manifest says. Images are not pulled: a command is looked up on this machine.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  jobflow run flow.yaml
  jobflow run flow.yaml --map data=./data --command train='python train.py --small'
  jobflow run --resume")]
pub(crate) struct RunArguments {
    /// Manifests: files, folders (their *.yaml, *.yml and *.json), or - for stdin
    #[arg(required_unless_present = "resume", value_name = "FILE|DIR|-")]
    pub(crate) manifests: Vec<PathBuf>,
    /// The name of the flow, where the manifests hold several
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// What the run is called in its name; the flow's name without one
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Go on with an earlier run; the newest one without a name
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with = "manifests")]
    pub(crate) resume: Option<String>,
    /// How progress and result are written; json is one object a line, the last one is the result
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
    /// Don't show at the end what the last entries, or those that failed, wrote
    #[arg(long)]
    pub(crate) no_output: bool,
    /// Most jobs alive at once, beside what the flow itself says
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    /// Take this folder for a claim, a host path or an NFS path; may be given several times
    #[arg(long, value_name = "CLAIM_OR_PATH=DIR", value_parser = pair, help_heading = "Files and environment")]
    pub(crate) map: Vec<(String, String)>,
    /// Give each pod its own view of the file system, where the system allows it
    #[arg(long, help_heading = "Files and environment")]
    pub(crate) isolate: bool,
    /// Let host paths below this prefix be the real ones
    #[arg(long, value_name = "PREFIX", help_heading = "Files and environment")]
    pub(crate) allow_host_path: Vec<PathBuf>,
    /// Hand this variable of the environment on to tasks, or `all`
    #[arg(long, value_name = "NAME|all", help_heading = "Files and environment")]
    pub(crate) inherit_env: Vec<String>,
    /// Run this shell command in the place of a task's own
    #[arg(long, value_name = "[ENTRY/]TASK='…'", value_parser = pair, help_heading = "Files and environment")]
    pub(crate) command: Vec<(String, String)>,
    /// How many CPUs tasks may ask for together; those of this machine without it
    #[arg(long, value_name = "QUANTITY", help_heading = "Resources")]
    pub(crate) cpus: Option<String>,
    /// How much memory tasks may ask for together; that of this machine without it
    #[arg(long, value_name = "QUANTITY", help_heading = "Resources")]
    pub(crate) memory: Option<String>,
    /// How much there is of another resource, such as nvidia.com/gpu=2
    #[arg(long, value_name = "NAME=N", value_parser = pair, help_heading = "Resources")]
    pub(crate) resources: Vec<(String, String)>,
    /// Start tasks whatever they ask for
    #[arg(long, conflicts_with_all = ["cpus", "memory", "resources"], help_heading = "Resources")]
    pub(crate) ignore_resources: bool,
    /// How long tasks may take to end when they are told to, before they are killed
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(..=86_400))]
    pub(crate) grace: Option<u32>,
}

/// Two texts with `=` between them.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        Some(_) | None => Err("write NAME=VALUE, both not empty".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_equals_sign_divides_a_pair() {
        assert_eq!(pair("a/b=x --y=z"), Ok(("a/b".to_owned(), "x --y=z".to_owned())));
        for bad in ["", "a", "=b", "a="] {
            assert!(pair(bad).is_err(), "{bad}");
        }
    }
}
