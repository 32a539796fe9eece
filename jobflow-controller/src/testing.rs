//! What several tests need: a clock that tokio's paused time moves.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::clock::{Clock, Moment};

/// Tokio's time as both clocks.
#[derive(Debug)]
pub(crate) struct TokioClock {
    start: Instant,
}

impl Default for TokioClock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Moment {
        // Not from zero: nothing may take the beginning of time for now.
        Moment(self.start.elapsed() + Duration::from_secs(1000))
    }

    fn wall(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + self.start.elapsed()
    }
}
