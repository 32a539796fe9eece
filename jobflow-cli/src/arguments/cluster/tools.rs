//! Arguments of commands about the cluster itself, and about the plugin.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use super::NameFormat;
use crate::arguments::Format;

/// Look for what keeps flows from running
///
/// With the caller's own rights, and without changing anything: whether the server serves our definitions, what the
/// caller may do, whether a controller is at work, and whether what the flows of the namespace name is there. What
/// can't be looked at is said, and is no fault.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Exit codes:
    0  nothing keeps flows from running
    2  the arguments are wrong
    3  the server can't be reached, or refuses
    6  something does
  130  interrupted")]
pub(crate) struct DoctorArguments {
    /// Look at the flows of all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub(crate) all_namespaces: bool,
    /// Tell which flows change their meaning when jobflow's controller takes the place of Volcano's
    #[arg(long)]
    pub(crate) before_takeover: bool,
    /// The namespace of the controller
    #[arg(long, value_name = "NAME", default_value = "jobflow-system")]
    pub(crate) controller_namespace: String,
    /// The name of the controller's Lease
    #[arg(long, value_name = "NAME", default_value = "jobflow-controller")]
    pub(crate) lease: String,
    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Print the custom resource definitions, or install them
///
/// With --install they are applied by server-side apply, after it is said what that changes. Volcano's chart installs
/// definitions of the same names: --force-conflicts takes them over from it.
#[derive(Clone, Debug, Args)]
pub(crate) struct CrdArguments {
    /// Install them on the cluster
    #[arg(long)]
    pub(crate) install: bool,
    /// Only tell what would change
    #[arg(long, requires = "install")]
    pub(crate) dry_run: bool,
    /// Take them over from whoever installed them
    #[arg(long, requires = "install")]
    pub(crate) force_conflicts: bool,
    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = NameFormat::Text, requires = "install")]
    pub(crate) output: NameFormat,
}

/// Print the versions of this program and of the server
#[derive(Clone, Debug, Args)]
pub(crate) struct VersionArguments {
    /// Only of this program; no server is asked
    #[arg(long)]
    pub(crate) client: bool,
    /// How they are written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Print completions for a shell, or for kubectl
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  kubectl jobflow completions kubectl > ~/.local/bin/kubectl_complete-jobflow
  chmod +x ~/.local/bin/kubectl_complete-jobflow")]
pub(crate) struct CompletionsArguments {
    /// For whom: kubectl asks the program `kubectl_complete-jobflow`, a shell that of its own `kubectl-jobflow`
    #[arg(value_enum)]
    pub(crate) shell: PluginShell,
}

/// Who completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginShell {
    Kubectl,
    Bash,
    Elvish,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
    Zsh,
}

impl PluginShell {
    /// The shell, if it is one.
    pub(crate) const fn shell(self) -> Option<Shell> {
        match self {
            Self::Kubectl => None,
            Self::Bash => Some(Shell::Bash),
            Self::Elvish => Some(Shell::Elvish),
            Self::Fish => Some(Shell::Fish),
            Self::PowerShell => Some(Shell::PowerShell),
            Self::Zsh => Some(Shell::Zsh),
        }
    }
}

/// Print what may come next
#[derive(Clone, Debug, Args)]
pub(crate) struct CompleteArguments {
    /// What was typed; the last one is to be completed
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}
