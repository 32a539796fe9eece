//! How long a lease lasts, and how often it is renewed. The defaults are those of Kubernetes' own controllers.

use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

/// The times of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timings {
    /// How long others wait after the last renewal that they saw; whole seconds, since a Lease stores no less.
    pub duration: Duration,
    /// How long the leader tries to renew before it stops leading.
    pub renew_deadline: Duration,
    /// How long anybody waits between two tries.
    pub retry_period: Duration,
}

/// What is wrong with the times of an election.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TimingsFault {
    /// The duration is no whole number of seconds, or not one from 1 to 3600.
    #[error("the lease duration has to be whole seconds from 1s to 1h")]
    Duration,
    /// A leader would stop after others have begun.
    #[error("the renew deadline has to be shorter than the lease duration")]
    Deadline,
    /// A leader would have no second try.
    #[error("the retry period has to be less than half of the renew deadline, and at least 100ms")]
    Retry,
}

impl Default for Timings {
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

impl Timings {
    /// All that is wrong.
    #[must_use]
    pub fn faults(&self) -> Vec<TimingsFault> {
        let Self {
            duration,
            renew_deadline,
            retry_period,
        } = *self;
        let whole = duration.subsec_nanos() == 0 && (1..=3600).contains(&duration.as_secs());
        let checks = [
            (whole, TimingsFault::Duration),
            (renew_deadline < duration, TimingsFault::Deadline),
            (
                retry_period >= Duration::from_millis(100) && retry_period.saturating_mul(2) < renew_deadline,
                TimingsFault::Retry,
            ),
        ];
        checks
            .into_iter()
            .filter(|(holds, _)| !holds)
            .map(|(_, fault)| fault)
            .collect()
    }

    /// How long a request about the lease may take: two of them fit before the deadline.
    #[must_use]
    pub fn request_timeout(&self) -> Duration {
        (self.renew_deadline / 2).min(Duration::from_secs(5))
    }

    /// How long after a renewal was sent the lease is surely nobody else's.
    ///
    /// Others count from when they saw it, which is later; a hundredth is left for clocks that run faster than ours.
    #[must_use]
    pub fn safe(&self) -> Duration {
        self.duration.saturating_sub(self.duration / 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings(duration: u64, renew_deadline: u64, retry_period: u64) -> Timings {
        Timings {
            duration: Duration::from_millis(duration),
            renew_deadline: Duration::from_millis(renew_deadline),
            retry_period: Duration::from_millis(retry_period),
        }
    }

    #[test]
    fn each_time_leaves_room_for_the_next() {
        use TimingsFault::{Deadline, Duration, Retry};
        assert_eq!(Timings::default().faults(), []);
        assert_eq!(timings(2000, 1500, 300).faults(), []);
        assert_eq!(timings(1500, 1000, 300).faults(), [Duration]);
        assert_eq!(timings(15_000, 15_000, 300).faults(), [Deadline]);
        assert_eq!(timings(15_000, 10_000, 5000).faults(), [Retry]);
        assert_eq!(timings(0, 0, 0).faults(), [Duration, Deadline, Retry]);
        assert_eq!(
            timings(u64::MAX, u64::MAX, u64::MAX).faults(),
            [Duration, Deadline, Retry]
        );
    }
}
