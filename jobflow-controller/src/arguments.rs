//! The arguments, and all that the help says; each has an environment variable that says the same.
//!
//! Comes in: what was typed. Goes out: [`Arguments`] as typed, and from them [`Settings`] or all faults at once. Help,
//! man page, completions and the reference in the docs are made from these definitions alone. Deliberately absent:
//! a flag without an effect.

mod check;
mod faults;
pub(crate) mod settings;
mod span;
mod typed;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

pub use faults::{ArgumentFault, Refused};
pub use settings::{LeaseSettings, LogFormat, LogSettings, Settings};
pub(crate) use typed::{Asked, Stopped, parse};

/// What the help says about exit codes.
const EXIT_CODES: &str = "\
Exit codes:
    0  ended as it was told to
    2  the arguments are wrong
    3  it could not run: the system or the API server refused something";

/// Runs JobFlows on a Kubernetes cluster with Volcano
///
/// Watches JobFlows, and creates the Volcano Jobs of their entries when what they depend on has come to pass. Of several
/// controllers one leads; the others wait. Without --kubeconfig it uses the service account of its pod, or, outside of
/// a cluster, KUBECONFIG or ~/.kube/config.
///
/// Durations are a number with a unit: 500ms, 15s, 2m, 1h.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "jobflow-controller",
    version,
    after_help = EXIT_CODES,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub struct Arguments {
    /// What to do instead of running.
    #[command(subcommand)]
    pub(crate) tool: Option<Tool>,

    /// Run the flows of this namespace only; may be given several times. All namespaces without it
    #[arg(
        long,
        value_name = "NAME",
        env = "JOBFLOW_CONTROLLER_NAMESPACE",
        value_delimiter = ','
    )]
    namespace: Vec<String>,
    /// Whether flows in the controller's own namespace are run too
    #[arg(
        long,
        value_name = "on|off",
        default_value = "off",
        env = "JOBFLOW_CONTROLLER_OWN_NAMESPACE"
    )]
    own_namespace: String,
    /// The file that says how the cluster is reached
    #[arg(long, value_name = "FILE", env = "JOBFLOW_CONTROLLER_KUBECONFIG")]
    kubeconfig: Option<String>,
    /// How many flows are planned at the same time
    #[arg(
        long,
        value_name = "N",
        default_value = "4",
        env = "JOBFLOW_CONTROLLER_CONCURRENCY"
    )]
    concurrency: String,
    /// How long changes of a status that nothing waits for may stay unwritten
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "1s",
        env = "JOBFLOW_CONTROLLER_STATUS_INTERVAL"
    )]
    status_interval: String,
    /// Whether flows that Volcano's own controller has begun are gone on with
    #[arg(
        long,
        value_name = "on|off",
        default_value = "on",
        env = "JOBFLOW_CONTROLLER_TAKE_OVER"
    )]
    take_over: String,
    /// Whether a Job is ended by a Command of Volcano, which keeps it; with off it is deleted
    #[arg(
        long,
        value_name = "on|off",
        default_value = "on",
        env = "JOBFLOW_CONTROLLER_COMMANDS"
    )]
    commands: String,
    /// Whether pods are watched, where alone exit codes, readiness and losses to the infrastructure are seen
    #[arg(
        long,
        value_name = "on|off",
        default_value = "on",
        env = "JOBFLOW_CONTROLLER_PODS"
    )]
    pods: String,
    /// Whether pods are probed where flows ask for it; needs `--pods`
    #[arg(
        long,
        value_name = "on|off",
        default_value = "on",
        env = "JOBFLOW_CONTROLLER_PROBES"
    )]
    probes: String,
    /// An address that probes never go to, such as a node's, beside the API server's and that of a pod's own node; repeatable
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "JOBFLOW_CONTROLLER_DENY_PROBES",
        value_delimiter = ','
    )]
    deny_probes: Vec<String>,
    /// Whether watches begin with streaming lists, which spare the API server's memory
    #[arg(
        long,
        value_name = "on|off",
        default_value = "off",
        env = "JOBFLOW_CONTROLLER_STREAMING_LISTS"
    )]
    streaming_lists: String,
    /// Plan and log what would be done, and write nothing
    #[arg(long, env = "JOBFLOW_CONTROLLER_DRY_RUN", value_parser = clap::builder::FalseyValueParser::new())]
    dry_run: bool,
    /// How long requests that are on their way may take after the controller is told to end
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "20s",
        env = "JOBFLOW_CONTROLLER_SHUTDOWN_GRACE"
    )]
    shutdown_grace: String,
    /// Print the settings that these arguments come to, as JSON, and end
    #[arg(long)]
    pub(crate) dump_config: bool,

    /// Whether of several controllers one leads; with off there must be one only
    #[arg(
        long,
        value_name = "on|off",
        default_value = "on",
        env = "JOBFLOW_CONTROLLER_LEADER_ELECT",
        help_heading = "Leader election"
    )]
    leader_elect: String,
    /// The name of the Lease
    #[arg(
        long,
        value_name = "NAME",
        default_value = "jobflow-controller",
        env = "JOBFLOW_CONTROLLER_LEASE_NAME",
        help_heading = "Leader election"
    )]
    lease_name: String,
    /// The namespace of the Lease; the controller's own without it
    #[arg(
        long,
        value_name = "NAME",
        env = "JOBFLOW_CONTROLLER_LEASE_NAMESPACE",
        help_heading = "Leader election"
    )]
    lease_namespace: Option<String>,
    /// How long others wait for a leader that is silent
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "15s",
        env = "JOBFLOW_CONTROLLER_LEASE_DURATION",
        help_heading = "Leader election"
    )]
    lease_duration: String,
    /// How long a leader tries to renew the lease before it stops
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "10s",
        env = "JOBFLOW_CONTROLLER_LEASE_RENEW_DEADLINE",
        help_heading = "Leader election"
    )]
    lease_renew_deadline: String,
    /// How long anybody waits between two tries
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "2s",
        env = "JOBFLOW_CONTROLLER_LEASE_RETRY_PERIOD",
        help_heading = "Leader election"
    )]
    lease_retry_period: String,

    /// Where /livez and /readyz are served
    #[arg(
        long,
        value_name = "IP:PORT|off",
        default_value = "[::]:8081",
        env = "JOBFLOW_CONTROLLER_HEALTH_ADDRESS",
        help_heading = "What it tells"
    )]
    health_address: String,
    /// Where /metrics is served
    #[arg(
        long,
        value_name = "IP:PORT|off",
        default_value = "[::]:8080",
        env = "JOBFLOW_CONTROLLER_METRICS_ADDRESS",
        help_heading = "What it tells"
    )]
    metrics_address: String,
    /// How lines of the log are written
    #[arg(
        long,
        value_name = "json|text",
        default_value = "text",
        env = "JOBFLOW_CONTROLLER_LOG_FORMAT",
        help_heading = "What it tells"
    )]
    log_format: String,
    /// What is logged: error, warn, info, debug, trace, or directives such as info,kube=debug
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        env = "JOBFLOW_CONTROLLER_LOG_LEVEL",
        help_heading = "What it tells"
    )]
    log_level: String,
    /// Whether transitions of nodes are told as Events of their flow
    #[arg(
        long,
        value_name = "on|off",
        default_value = "on",
        env = "JOBFLOW_CONTROLLER_EVENTS",
        help_heading = "What it tells"
    )]
    events: String,
}

/// What to do instead of running.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Tool {
    /// Print completions for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write the man page into a folder
    Man {
        /// The folder, made if it isn't there
        #[arg(value_name = "DIR")]
        folder: std::path::PathBuf,
    },
}

/// The definitions with the values that each argument takes, for help and completions.
///
/// Parsing doesn't use them: it would stop at the first wrong value, and all are told at once.
pub(crate) fn documented() -> clap::Command {
    let mut command = Arguments::command();
    let names: Vec<_> = command
        .get_arguments()
        .map(|argument| argument.get_id().clone())
        .collect();
    for name in names {
        command = command.mut_arg(name, |argument| {
            let written = argument.get_value_names().and_then(|names| names.first());
            match written.map(clap::builder::Str::as_str) {
                Some("on|off") => argument.value_parser(["on", "off"]).hide_possible_values(true),
                Some("json|text") => argument.value_parser(["json", "text"]).hide_possible_values(true),
                Some(_) | None => argument,
            }
        });
    }
    command
}

#[cfg(test)]
mod tests;
