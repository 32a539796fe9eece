//! The time in which this process alone may write. One run of a driver is one term; whoever holds the lease drops the
//! run when it is lost.

use std::time::Duration;

/// Says whether writes may still be sent.
pub trait Term: Send + Sync {
    /// Whether this process is sure to be the only writer for at least `span` from now on. Asked before each write,
    /// with the time that the write may take.
    fn lasts(&self, span: Duration) -> bool;
}

/// A term without an end, for a process that has no rival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlimited;

impl Term for Unlimited {
    fn lasts(&self, _span: Duration) -> bool {
        true
    }
}
