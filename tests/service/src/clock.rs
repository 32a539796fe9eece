//! The time of the service: what tokio's clock says, which tests stop and move.

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// When the service of a test began: 2026-01-01T00:00:00Z.
const EPOCH: i64 = 1_767_225_600;

/// A clock that counts from a fixed day.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub fn starting() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// How long it has been running.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        Instant::now().duration_since(self.start)
    }

    /// The time of day.
    #[must_use]
    pub fn now(self) -> Timestamp {
        let start = Timestamp::constant(EPOCH, 0);
        let elapsed = SignedDuration::try_from(self.elapsed()).unwrap_or(SignedDuration::MAX);
        start.saturating_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// The time of day in milliseconds since 1970.
    #[must_use]
    pub fn milliseconds(self) -> i64 {
        self.now().as_millisecond()
    }

    /// The time of day as objects carry it: whole seconds.
    #[must_use]
    pub fn stamp(self) -> String {
        stamp(self.now())
    }
}

/// A time as objects carry it.
#[must_use]
pub fn stamp(time: Timestamp) -> String {
    let seconds = Timestamp::from_second(time.as_second()).unwrap_or(time);
    seconds.to_string()
}
