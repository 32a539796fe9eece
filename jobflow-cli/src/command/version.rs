//! `jobflow version`.

use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the name and the version.
pub(crate) fn run(console: &mut Console) -> Result<Exit, Failure> {
    console.data(concat!("jobflow ", env!("CARGO_PKG_VERSION"), "\n"))?;
    Ok(Exit::Succeeded)
}
