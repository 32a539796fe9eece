//! Why a control plane couldn't be started, or something couldn't be done to it.

use std::io;
use std::path::PathBuf;

use crate::binaries::BuildFault;

/// What went wrong with a control plane.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The programs aren't there and can't be built.
    #[error("the programs of the control plane can't be built")]
    Build(#[from] BuildFault),
    /// A file or folder of the control plane can't be written.
    #[error("`{path}` can't be written")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A program can't be started at all.
    #[error("`{program}` can't be started")]
    Spawn {
        /// Which one.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// A program ended that should run.
    #[error("{program} ended with {status}; the end of its log, {log}:\n{tail}", log = log.display())]
    Ended {
        /// Which one.
        program: &'static str,
        /// How.
        status: std::process::ExitStatus,
        /// Where its whole log is, unless the folder is gone.
        log: PathBuf,
        /// The last lines of it.
        tail: String,
    },
    /// A program runs and doesn't become ready.
    #[error("{program} isn't ready after {seconds} s; the end of its log, {log}:\n{tail}", log = log.display())]
    NotReady {
        /// Which one.
        program: &'static str,
        /// How long it was waited for.
        seconds: u64,
        /// Where its whole log is, unless the folder is gone.
        log: PathBuf,
        /// The last lines of it.
        tail: String,
    },
    /// A manifest of the tests can't be read.
    #[error("`{path}` can't be read as manifests: {reason}")]
    Manifest {
        /// Which one.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// No certificate can be made.
    #[error("no certificate for the API server can be made")]
    Certificate(#[from] rcgen::Error),
    /// The kubeconfig that was written isn't taken.
    #[error("the kubeconfig for the control plane is refused")]
    Kubeconfig(#[from] kube::config::KubeconfigError),
    /// The API server, or etcd, refuses something.
    #[error("{intention} failed")]
    Api {
        /// What was to be done.
        intention: String,
        /// The answer.
        source: Box<kube::Error>,
    },
    /// Something that the API server accepted doesn't come true.
    #[error("{what} didn't happen within {seconds} s")]
    Late {
        /// What was waited for.
        what: String,
        /// How long.
        seconds: u64,
    },
}

impl Fault {
    /// Whether a program found a port taken that was free a moment ago: another try has other ports.
    pub(crate) fn is_taken_port(&self) -> bool {
        let log = match self {
            Self::Ended { tail, .. } | Self::NotReady { tail, .. } => tail,
            Self::Build(_)
            | Self::File { .. }
            | Self::Spawn { .. }
            | Self::Manifest { .. }
            | Self::Certificate(_)
            | Self::Kubeconfig(_)
            | Self::Api { .. }
            | Self::Late { .. } => return false,
        };
        log.contains("address already in use")
    }

    /// Names what was to be done when the API server refused it.
    pub(crate) fn api(intention: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let intention = intention.into();
        move |source| Self::Api {
            intention,
            source: Box::new(source),
        }
    }

    /// Names the file or folder that couldn't be written.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
