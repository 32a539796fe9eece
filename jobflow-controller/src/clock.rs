//! The two clocks: one that only goes forward, for what is decided, and the wall's, for what others read.
//!
//! Comes in: the system, or a test's made-up time. Goes out: a [`Moment`] and a timestamp. Deliberately absent: any
//! comparison of wall times, since clocks of two machines differ.

use std::time::Duration;

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// A point of this machine's own time that only goes forward, and goes on while the machine sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Duration);

impl Moment {
    /// That much later.
    #[must_use]
    pub const fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(wait))
    }

    /// How long it is until then; nothing if it has passed.
    #[must_use]
    pub const fn until(self, then: Self) -> Duration {
        then.0.saturating_sub(self.0)
    }
}

/// Where times come from.
pub trait Clock: Send + Sync + 'static {
    /// The time that decides.
    fn now(&self) -> Moment;
    /// The time that is written where others read it.
    fn wall(&self) -> Timestamp;
}

/// The clocks of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    /// `CLOCK_BOOTTIME`: the usual monotonic clock stands still while a machine is suspended, and a lease doesn't.
    fn now(&self) -> Moment {
        let time = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or_default();
        Moment(Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanoseconds)))
    }

    fn wall(&self) -> Timestamp {
        Timestamp::now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_s_own_time_goes_forward() {
        let before = SystemClock.now();
        std::thread::sleep(Duration::from_millis(2));
        let after = SystemClock.now();
        assert!(before.until(after) >= Duration::from_millis(2));
        assert_eq!(after.until(before), Duration::ZERO);
    }
}
