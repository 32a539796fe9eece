//! Starts a keeper and waits until its control plane is ready.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use jobflow_test_cluster::Binaries;

use super::state::State;
use super::{Fault, Wishes};

const PAUSE: Duration = Duration::from_millis(50);

/// Leaves one running, an earlier one if there is one, and prints how to reach it.
pub(super) fn up(state: &State, wishes: &Wishes) -> Result<(), Fault> {
    if state.keeper()?.is_some() {
        crate::tell("a control plane is up already; `cargo xtask cluster down` ends it");
    } else {
        // Here and not in the keeper, so that whoever waits sees that something is built.
        Binaries::ready()?;
        start(state, wishes)?;
    }
    while !state.is_ready() && state.keeper()?.is_some() {
        sleep(PAUSE);
    }
    crate::answer(&export(&state.control_plane()?));
    Ok(())
}

/// The line that points clients at a control plane as its administrator.
pub(super) fn export(control_plane: &Path) -> String {
    let path = control_plane.join("admin.kubeconfig").display().to_string();
    format!("export KUBECONFIG='{}'", path.replace('\'', r"'\''"))
}

fn start(state: &State, wishes: &Wishes) -> Result<(), Fault> {
    let mut keeper = spawn(state, wishes)?;
    while !state.is_ready() {
        if keeper.try_wait().map_err(Fault::Keeper)?.is_some() {
            return ended(state);
        }
        sleep(PAUSE);
    }
    Ok(())
}

/// A keeper that finds another one ends at once, and well.
fn ended(state: &State) -> Result<(), Fault> {
    if state.keeper()?.is_some() {
        return Ok(());
    }
    let log = state.log();
    let text = fs::read_to_string(&log).unwrap_or_default();
    Err(Fault::NotUp { log, text })
}

fn spawn(state: &State, wishes: &Wishes) -> Result<Child, Fault> {
    let log = state.log();
    let output = File::create(&log).map_err(Fault::file(&log))?;
    let error = output.try_clone().map_err(Fault::file(&log))?;
    let Wishes {
        admission_plugins,
        volcano,
    } = wishes;
    let volcano = volcano.map(|pods| format!("--volcano={}", pods.name()));
    let plugins = admission_plugins
        .iter()
        .flat_map(|name| ["--admission-plugin", name]);
    Command::new(std::env::current_exe().map_err(Fault::Keeper)?)
        .args(["cluster", "keep", "--state"])
        .arg(state.folder())
        .args(plugins)
        .args(volcano)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(error)
        .spawn()
        .map_err(Fault::Keeper)
}
