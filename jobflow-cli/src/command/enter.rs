//! `jobflow __enter PLAN`: what a task's process does before it is the command; never called by people.

use jobflow_local::enter;

use crate::arguments::EnterArguments;
use crate::failure::Failure;

/// Becomes the command; comes back only if that is not possible, or if there is none.
pub(crate) fn run(arguments: &EnterArguments) -> Result<(), Failure> {
    enter::main(&arguments.plan)
        .map_err(|error| Failure::not_started("the command could not be started").because(&error))
}
