//! How a command ended, as the shell sees it.

use std::process::ExitCode;

use jobflow_local::enter;

/// The exit codes, each with its one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked; a flow that was run succeeded.
    Succeeded,
    /// The flow ran, and failed.
    FlowFailed,
    /// What was compared differs.
    Different,
    /// The arguments or the manifests are wrong; nothing was started.
    WrongInput,
    /// It could not be run: the system refused something.
    CouldNotRun,
    /// A task's command could not be started; only tasks see it.
    NotStarted,
    /// Somebody interrupted it.
    Interrupted,
    /// The flow of the cluster isn't there, or was deleted meanwhile.
    #[cfg(feature = "cluster")]
    Gone,
    /// The time for waiting was up.
    #[cfg(feature = "cluster")]
    TimedOut,
    /// Something keeps flows from running.
    #[cfg(feature = "cluster")]
    Unwell,
}

/// What the help says about them.
pub(crate) const HELP: &str = "\
Exit codes:
    0  done; a flow that was run succeeded
    1  the flow ran and failed; of diff: there are differences
    2  the arguments or the manifests are wrong
    3  it could not be run: the system refused something
  130  interrupted";

/// What the help of commands for a cluster says about them.
#[cfg(feature = "cluster")]
pub(crate) const CLUSTER_HELP: &str = "\
Exit codes:
    0  done; a flow that was waited for succeeded
    1  the flow that was waited for failed
    2  the arguments or the manifests are wrong; nothing was changed
    3  the server can't be reached, or refuses
    4  the flow isn't there, or was deleted
    5  the time for waiting was up
    6  doctor found something that keeps flows from running
  130  interrupted";

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Succeeded => 0,
            Self::FlowFailed | Self::Different => 1,
            Self::WrongInput => 2,
            Self::CouldNotRun => 3,
            Self::NotStarted => enter::START_ERROR,
            Self::Interrupted => 130,
            #[cfg(feature = "cluster")]
            Self::Gone => 4,
            #[cfg(feature = "cluster")]
            Self::TimedOut => 5,
            #[cfg(feature = "cluster")]
            Self::Unwell => 6,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
