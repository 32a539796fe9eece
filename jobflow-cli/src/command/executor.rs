//! `jobflow __executor DIR`: the parent of a run's tasks, started by `run` and never by people.

use std::io;

use jobflow_local::executor::{self, ExecutorError, Options};

use crate::arguments::ExecutorArguments;
use crate::exit::Exit;
use crate::failure::Failure;

/// Serves a run until nothing is left of it.
///
/// That another executor is there already ends with the code of "could not run", which whoever started it knows.
pub(crate) fn run(arguments: &ExecutorArguments) -> Result<Exit, Failure> {
    match executor::main(&arguments.folder, Options::default(), io::stdout()) {
        Ok(()) => Ok(Exit::Succeeded),
        Err(ExecutorError::Taken) => Err(Failure::Told(Exit::CouldNotRun)),
        // The code of "could not run" would be taken for the case above.
        Err(error) => Err(Failure::wrong_input("cannot serve the run").because(&error)),
    }
}
