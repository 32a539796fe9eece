//! The keeper: holds a control plane until it is told to end, or a program of it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use jobflow_test_cluster::{ControlPlane, Options};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::state::State;
use super::{Fault, Wishes, volcano};

const PAUSE: Duration = Duration::from_millis(100);

/// Returns when it was told to end, with the control plane down.
pub(super) fn keep(state: &State, wishes: &Wishes) -> Result<(), Fault> {
    let Some(lock) = state.hold()? else {
        return Ok(());
    };
    let told = told_to_end()?;
    // Fails only for a process that leads a session already.
    let _session = rustix::process::setsid();
    let mut cluster = ControlPlane::start(options(wishes))?;
    let volcano = wishes
        .volcano
        .map(|pods| volcano::start(&cluster, pods, state))
        .transpose()?;
    state.is_up(cluster.folder())?;
    while !told.load(Ordering::Relaxed) {
        cluster.check()?;
        sleep(PAUSE);
    }
    drop(volcano);
    drop(cluster);
    drop(lock);
    Ok(())
}

fn told_to_end() -> Result<Arc<AtomicBool>, Fault> {
    let told = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&told)).map_err(Fault::Keeper)?;
    }
    Ok(told)
}

fn options(wishes: &Wishes) -> Options {
    let Wishes {
        admission_plugins,
        volcano: _,
    } = wishes;
    Options {
        admission_plugins: admission_plugins.clone(),
        ..Options::default()
    }
}
