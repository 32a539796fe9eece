//! Why a control plane can't be started, found or ended.

use std::io;
use std::path::PathBuf;

use jobflow_test_cluster::BuildFault;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the programs of the control plane can't be built")]
    Build(#[from] BuildFault),
    #[error("the control plane doesn't run")]
    ControlPlane(#[from] jobflow_test_cluster::Fault),
    #[error("the stand-in for Volcano can't be started")]
    Volcano(#[from] jobflow_test_volcano::Fault),
    #[error("`{path}` can't be used")]
    File { path: PathBuf, source: io::Error },
    #[error("the keeper of the control plane can't be started")]
    Keeper(#[source] io::Error),
    #[error("the control plane didn't come up; its keeper wrote to {log}:\n{text}", log = log.display())]
    NotUp { log: PathBuf, text: String },
    #[error("`{path}` doesn't name a process; if no control plane is up, remove the folder it is in")]
    State { path: PathBuf },
    #[error("the keeper of the control plane, process {id}, can't be told to end")]
    Signal { id: i32, source: io::Error },
    #[error("the control plane is still up after {seconds} s; `kill -KILL` of process {id} ends it too")]
    StillUp { id: i32, seconds: u64 },
}

impl Fault {
    /// Names the file or folder that couldn't be used.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
