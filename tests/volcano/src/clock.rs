//! The time that Jobs live in, which may run faster than the wall's.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jobflow_core::{Span, Time};

/// Starts at the wall's time and runs so many times as fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: i64,
    speed: i64,
}

impl Clock {
    /// A clock that starts now. A speed of 0 is one of 1.
    pub(crate) fn new(speed: u32) -> Self {
        Self {
            start: wall(),
            speed: i64::from(speed.max(1)),
        }
    }

    /// The time of the Jobs.
    pub(crate) fn now(self) -> Time {
        let passed = wall().saturating_sub(self.start);
        Time(self.start.saturating_add(passed.saturating_mul(self.speed)))
    }

    /// How long it is on the wall's clock until then.
    pub(crate) fn until(self, at: Time) -> Duration {
        let left = at.since(self.now()).0.div_ceil(self.speed.unsigned_abs());
        Duration::from_millis(left)
    }

    /// What stood on the wall's clock at that time, in milliseconds.
    pub(crate) const fn on_the_wall(self, at: Time) -> i64 {
        self.start + (at.0 - self.start) / self.speed
    }

    /// How long a span lasted on the wall's clock.
    pub(crate) const fn span(self, span: Span) -> Span {
        Span(span.0 / self.speed.unsigned_abs())
    }
}

fn wall() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Clock = Clock {
        start: 1000,
        speed: 10,
    };

    #[test]
    fn a_fast_clock_writes_times_of_the_wall() {
        assert_eq!(TEN.on_the_wall(Time(1000)), 1000);
        assert_eq!(TEN.on_the_wall(Time(6000)), 1500);
        assert_eq!(TEN.span(Span(5000)), Span(500));
    }

    #[test]
    fn what_is_past_is_due_at_once() {
        assert_eq!(Clock::new(10).until(Time(0)), Duration::ZERO);
        let minute = Time(Clock::new(1).now().0 + 60_000);
        assert!(Clock::new(1).until(minute) > Duration::from_secs(50));
    }
}
