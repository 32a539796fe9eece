//! The controller of jobflow.

pub mod clock;
pub mod lease;
#[cfg(test)]
mod testing;
