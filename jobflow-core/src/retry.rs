//! When an attempt that ended badly is made again, and after which wait.

use alloc::string::String;
use alloc::vec::Vec;

use crate::gang::JobPhase;
use crate::key::JobKey;
use crate::time::Span;

/// The retry rule of an entry. The default makes no second attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Retry {
    /// Attempts after the first for failures of the program.
    pub limit: u32,
    /// Attempts after the first for losses that the program has no part in; spent before `limit`.
    pub infrastructure_limit: u32,
    /// The wait before each.
    pub backoff: Backoff,
    /// Which ends are tried again; any of them suffices. Empty: a job that Failed or Terminated, or a time-out.
    pub on: Vec<RetryOn>,
}

/// The wait before an attempt: exponential, capped, with jitter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Backoff {
    /// Before the second attempt.
    pub initial: Span,
    /// What it is multiplied with for each one after, in percent.
    pub factor_percent: u32,
    /// The longest.
    pub max: Span,
    /// How far the wait may stray to both sides, in percent.
    pub jitter_percent: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            initial: Span::from_secs(10),
            factor_percent: 200,
            max: Span::from_secs(600),
            jitter_percent: 10,
        }
    }
}

/// A kind of end that is tried again; what is empty is not asked for, what is given must all apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RetryOn {
    /// Exit codes.
    pub exit_codes: Vec<i32>,
    /// Reasons of the node or of one of its containers.
    pub reasons: Vec<String>,
    /// Phases that the job ended in.
    pub phases: Vec<JobPhase>,
}

impl Backoff {
    /// The wait before the next attempt, `failures` (from 1) having gone before; `seed` and `key` fix the jitter.
    #[must_use]
    pub fn wait(&self, failures: u32, seed: u64, key: JobKey) -> Span {
        let mut wait = self.initial.0;
        for _ in 1..failures.min(64) {
            wait = percent(wait, u64::from(self.factor_percent)).min(self.max.0);
        }
        let wait = wait.min(self.max.0);
        let range = percent(wait, u64::from(self.jitter_percent.min(100)));
        let draw = splitmix64(seed ^ digest(key)) % range.saturating_mul(2).saturating_add(1);
        Span(wait.saturating_sub(range).saturating_add(draw))
    }
}

fn percent(value: u64, percent: u64) -> u64 {
    u64::try_from(u128::from(value) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

fn digest(key: JobKey) -> u64 {
    splitmix64(u64::from(key.node.0) << 32 | u64::from(key.index)) ^ u64::from(key.attempt)
}

/// One step of Steele, Lea and Flood's generator: a well mixed number for each seed.
#[must_use]
pub const fn splitmix64(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::NodeId;

    const KEY: JobKey = JobKey {
        node: NodeId(3),
        index: 0,
        attempt: 1,
    };

    #[test]
    fn the_wait_doubles_up_to_its_cap() {
        let backoff = Backoff {
            jitter_percent: 0,
            ..Backoff::default()
        };
        let waits: Vec<u64> = (1..=8)
            .map(|failures| backoff.wait(failures, 0, KEY).as_secs())
            .collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 600, 600]);
    }

    #[test]
    fn jitter_stays_inside_its_range_and_is_the_same_each_time() {
        let backoff = Backoff::default();
        for seed in 0..1000 {
            let wait = backoff.wait(1, seed, KEY);
            assert!((9_000..=11_000).contains(&wait.0), "{wait:?}");
            assert_eq!(wait, backoff.wait(1, seed, KEY));
        }
    }

    #[test]
    fn absurd_settings_do_not_overflow() {
        let backoff = Backoff {
            initial: Span(u64::MAX),
            factor_percent: u32::MAX,
            max: Span(u64::MAX),
            jitter_percent: u32::MAX,
        };
        assert!(backoff.wait(u32::MAX, 1, KEY) <= Span(u64::MAX));
    }
}
