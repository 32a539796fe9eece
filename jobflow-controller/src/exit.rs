//! How the program ended, as the shell sees it.

use std::process::ExitCode;

/// The exit codes, each with its one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It ended as it was told to.
    Ended,
    /// The arguments are wrong.
    WrongArguments,
    /// The system or the API server refused something.
    CouldNotRun,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ended => 0,
            Exit::WrongArguments => 2,
            Exit::CouldNotRun => 3,
        })
    }
}
