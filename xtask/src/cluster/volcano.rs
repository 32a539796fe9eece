//! The stand-in for Volcano beside a control plane that is kept.

use clap::ValueEnum;
use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Options, Processes, Volcano};
use tokio::runtime::Runtime;

use super::Fault;
use super::state::State;

/// What pods are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Pods {
    /// They live as annotations of their templates say (`run/for: 500ms`, `run/exit: "1"`)
    MadeUp,
    /// Their containers are processes of this machine, with logs and volumes beside the state
    Processes,
}

/// A running stand-in, with the runtime that it lives in; ended in this order.
pub(super) struct Running {
    _volcano: Volcano,
    _runtime: Runtime,
}

impl Pods {
    /// As the arguments write it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::MadeUp => "made-up",
            Self::Processes => "processes",
        }
    }
}

/// Starts it for all namespaces, with Pod objects.
pub(super) fn start(cluster: &ControlPlane, pods: Pods, state: &State) -> Result<Running, Fault> {
    let runtime = Runtime::new().map_err(Fault::Keeper)?;
    let program = std::env::current_exe().map_err(Fault::Keeper)?;
    let folder = state.folder().join("processes");
    let processes = match pods {
        Pods::MadeUp => None,
        Pods::Processes => Some(Processes {
            folder,
            program,
            network: None,
            inherit: Vec::new(),
        }),
    };
    let options = Options {
        pods: true,
        processes,
        ..Options::default()
    };
    let volcano = runtime.block_on(async {
        let client = cluster.client(User::Volcano).await?;
        Ok::<_, Fault>(Volcano::start(client, options).await?)
    })?;
    Ok(Running {
        _volcano: volcano,
        _runtime: runtime,
    })
}
