//! What a condition comes to: not yet, yes, or never.

use crate::reason::Reason;

/// The answer of a condition, or of all conditions of an entry together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does not hold, and still may.
    Pending,
    /// It holds.
    Satisfied,
    /// It can never hold, for this reason.
    Unsatisfiable(Reason),
}

/// How many of a number are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AtLeast {
    /// So many.
    Count(u32),
    /// This share of all, in percent from 1 to 100, rounded up.
    Percent(u8),
}

impl AtLeast {
    /// How many that is of `total`, and never none.
    #[must_use]
    pub fn of(self, total: u32) -> u32 {
        let wanted = match self {
            Self::Count(count) => u64::from(count),
            Self::Percent(percent) => (u64::from(total) * u64::from(percent)).div_ceil(100),
        };
        u32::try_from(wanted).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_rounded_up_and_never_none() {
        assert_eq!(AtLeast::Percent(80).of(5), 4);
        assert_eq!(AtLeast::Percent(80).of(4), 4);
        assert_eq!(AtLeast::Percent(1).of(0), 1);
        assert_eq!(AtLeast::Count(0).of(9), 1);
        assert_eq!(AtLeast::Percent(100).of(u32::MAX), u32::MAX);
    }
}
