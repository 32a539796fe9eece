//! `cargo xtask cluster`: a control plane that stays up between commands.
//!
//! `up` starts a keeper, which is this program again, in a session of its own; it holds the control plane, and a lock by
//! which the other commands see that it lives. If the keeper is killed, the control plane ends all the same.

mod fault;
mod keep;
mod state;
mod up;
mod volcano;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jobflow_test_cluster::{Binaries, KUBERNETES_VERSION};
use rustix::process::Signal;

pub(crate) use fault::Fault;
use state::State;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where it is kept which control plane is up [default: `cluster` in cargo's target folder]
    #[arg(long, global = true, value_name = "FOLDER")]
    state: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Builds the programs, if they aren't in the cache: about ten minutes on two cores, once a machine
    Build,
    /// Starts a control plane that stays, and prints the line that points kubectl at it
    ///
    /// In a shell: eval "$(cargo xtask cluster up)"
    Up(Wishes),
    /// Ends it
    Down,
    /// Says whether one is up, and where its kubeconfigs and logs are
    Status,
    /// Holds a control plane until it is told to end (what `up` starts)
    #[command(hide = true)]
    Keep(Wishes),
}

/// How the control plane is wished for.
#[derive(Clone, Debug, Default, Args)]
struct Wishes {
    /// An admission plugin beside those that are on by default; may be given more than once
    #[arg(long = "admission-plugin", value_name = "NAME")]
    admission_plugins: Vec<String>,
    /// Start the stand-in for Volcano too: with pods that are made up, or that run as processes
    #[arg(long, value_name = "PODS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "made-up")]
    volcano: Option<volcano::Pods>,
}

/// Does what the arguments say.
pub(crate) fn run(arguments: Arguments) -> Result<(), Fault> {
    let Arguments { state, command } = arguments;
    let state = State::at(state)?;
    match command {
        Command::Build => build(),
        Command::Up(wishes) => up::up(&state, &wishes),
        Command::Down => down(&state),
        Command::Status => status(&state),
        Command::Keep(wishes) => keep::keep(&state, &wishes),
    }
}

fn build() -> Result<(), Fault> {
    let binaries = Binaries::ready()?;
    for path in [
        binaries.etcd(),
        binaries.kube_apiserver(),
        binaries.kube_controller_manager(),
        binaries.kubectl(),
    ] {
        crate::answer(&path.display().to_string());
    }
    Ok(())
}

fn down(state: &State) -> Result<(), Fault> {
    let Some(keeper) = state.keeper()? else {
        crate::tell("no control plane is up");
        return Ok(());
    };
    keeper.signal(Signal::TERM)?;
    state.wait_until_down()?;
    crate::tell("the control plane is down");
    Ok(())
}

fn status(state: &State) -> Result<(), Fault> {
    let Some(keeper) = state.keeper()? else {
        crate::tell("no control plane is up; `cargo xtask cluster up` starts one");
        return Ok(());
    };
    let folder = state.control_plane()?;
    crate::tell(&format!(
        "Kubernetes {KUBERNETES_VERSION} is up, kept by process {}\nlogs and kubeconfigs: {}",
        keeper.id(),
        folder.display()
    ));
    crate::answer(&up::export(&folder));
    Ok(())
}
