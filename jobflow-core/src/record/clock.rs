//! A clock that can stand still, as three numbers that survive a restart.

use crate::time::{Span, Time};

/// Time that has run since a start, less the time that it stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clock {
    /// When it began to run.
    pub start: Time,
    /// How long it stood still, up to the last time it was let go.
    pub held: Span,
    /// Since when it stands still.
    pub held_since: Option<Time>,
}

impl Clock {
    /// A clock that runs from now on.
    #[must_use]
    pub const fn started(now: Time) -> Self {
        Self {
            start: now,
            held: Span::ZERO,
            held_since: None,
        }
    }

    /// Stops it, or lets it run; true when that changed something.
    pub fn hold(&mut self, hold: bool, now: Time) -> bool {
        match (self.held_since, hold) {
            (None, true) => self.held_since = Some(now),
            (Some(since), false) => {
                self.held = self.held + now.since(since);
                self.held_since = None;
            }
            (None, false) | (Some(_), true) => return false,
        }
        true
    }

    /// How long it has run.
    #[must_use]
    pub fn elapsed(&self, now: Time) -> Span {
        self.held_since
            .unwrap_or(now)
            .since(self.start)
            .saturating_sub(self.held)
    }

    /// When it will have run so long, if it is let run; none while it stands still.
    #[must_use]
    pub fn reaches(&self, span: Span) -> Option<Time> {
        self.held_since.is_none().then(|| self.start + span + self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_held_does_not_count() {
        let mut clock = Clock::started(Time(1_000));
        assert!(clock.hold(true, Time(3_000)));
        assert!(!clock.hold(true, Time(4_000)));
        assert_eq!(clock.elapsed(Time(9_000)), Span(2_000));
        assert_eq!(clock.reaches(Span(5_000)), None);
        assert!(clock.hold(false, Time(9_000)));
        assert_eq!(clock.elapsed(Time(10_000)), Span(3_000));
        assert_eq!(clock.reaches(Span(5_000)), Some(Time(12_000)));
    }
}
