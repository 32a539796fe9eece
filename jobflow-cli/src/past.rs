//! Runs of this machine: where they are, and which one is meant.

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use jobflow_local::rundir::{Identity, RunDirError, RunEntry, StateRoot};

use crate::failure::Failure;

/// The runs of whoever asks.
#[derive(Debug)]
pub(crate) struct Past {
    /// Where they are.
    pub(crate) root: StateRoot,
    /// Who asks.
    pub(crate) identity: Identity,
    /// All of them, oldest first.
    pub(crate) entries: Vec<RunEntry>,
}

impl Past {
    /// Looks at the state folder that the environment names.
    pub(crate) fn look() -> Result<Self, Failure> {
        let root = state_root()?;
        let identity = Identity::of_this_process();
        let entries = root.list(identity.user).map_err(|error| refused(&error))?;
        Ok(Self {
            root,
            identity,
            entries,
        })
    }
}

/// The state folder that the environment names.
pub(crate) fn state_root() -> Result<StateRoot, Failure> {
    let [state, xdg, home] = ["JOBFLOW_STATE_DIR", "XDG_STATE_HOME", "HOME"].map(env::var_os);
    StateRoot::find(state, xdg, home).map_err(|error| refused(&error))
}

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The failure of using a run's folder.
pub(crate) fn refused(error: &RunDirError) -> Failure {
    Failure::could_not_run("cannot use the runs of this machine").because(error)
}
