//! Points and spans of time as numbers that a caller hands in. Deliberately absent: a way to read a clock.

use core::ops::{Add, Sub};

/// A point in time, in milliseconds since the Unix epoch, UTC. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub struct Time(pub i64);

/// A span of time in milliseconds, never negative. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub struct Span(pub u64);

impl Time {
    /// How long it was from `earlier` to this point; zero when a clock stepped back.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        let milliseconds = self.0.saturating_sub(earlier.0);
        if milliseconds < 0 {
            Span::ZERO
        } else {
            Span(milliseconds.unsigned_abs())
        }
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Whole seconds of this span, rounded down.
    #[must_use]
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// What is left of this span after `used`; zero when `used` is the longer one.
    #[must_use]
    pub const fn saturating_sub(self, used: Self) -> Self {
        Self(self.0.saturating_sub(used.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;

    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add_unsigned(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Self;

    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub_unsigned(span.0))
    }
}

impl Add for Span {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Time(i64::MAX) + Span(u64::MAX), Time(i64::MAX));
        assert_eq!(Time(i64::MIN) - Span(u64::MAX), Time(i64::MIN));
        assert_eq!(Span(u64::MAX) + Span(1), Span(u64::MAX));
        assert_eq!(Span::from_secs(u64::MAX), Span(u64::MAX));
    }

    #[test]
    fn a_clock_that_stepped_back_shows_no_time() {
        assert_eq!(Time(5).since(Time(9)), Span::ZERO);
        assert_eq!(Time(i64::MAX).since(Time(i64::MIN)), Span(i64::MAX as u64));
    }
}
