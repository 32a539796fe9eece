//! How many requests may be on their way at once: one more with every round that goes well, half when the server
//! says that it is too much, fewer when answers become slow. There is no fixed rate.
//!
//! Time comes in as the time since some beginning. Deliberately absent: which request is next.

use std::time::Duration;

/// Where it begins, the least and the most.
const FIRST: f64 = 16.0;
const LEAST: f64 = 2.0;
const MOST: f64 = 256.0;

/// How long after a cut no other one is made: the requests that were sent before it say nothing new.
const SETTLE: Duration = Duration::from_secs(1);

/// Answers are slow when they take so many times as long as usual, and longer than this.
const SLOWER: f64 = 4.0;
const SLOW: Duration = Duration::from_millis(250);

/// Weights of the newest answer in the two averages.
const SOON: f64 = 0.2;
const LATE: f64 = 0.01;

/// How an answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pulse {
    /// As it should.
    Well,
    /// The server asks for fewer requests, and to be left alone for so long.
    TooMany(Option<Duration>),
    /// No answer, or one that says nothing about the load.
    Other,
}

/// The number of requests that may be on their way.
#[derive(Debug)]
pub(super) struct Pace {
    limit: f64,
    running: usize,
    cut_at: Option<Duration>,
    paused_until: Duration,
    recent: f64,
    usual: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            limit: FIRST,
            running: 0,
            cut_at: None,
            paused_until: Duration::ZERO,
            recent: 0.0,
            usual: 0.0,
        }
    }
}

impl Pace {
    /// Whether one more may be sent.
    pub(super) fn has_room(&self, now: Duration) -> bool {
        now >= self.paused_until && (self.running as f64) < self.limit.floor()
    }

    /// Until when nothing may be sent, if that is in the future.
    pub(super) fn paused_until(&self, now: Duration) -> Option<Duration> {
        (self.paused_until > now).then_some(self.paused_until)
    }

    /// One was sent.
    pub(super) const fn sent(&mut self) {
        self.running += 1;
    }

    /// One came back.
    pub(super) fn answered(&mut self, pulse: Pulse, latency: Duration, now: Duration) {
        let busy = self.running as f64 >= self.limit.floor() * 0.75;
        self.running = self.running.saturating_sub(1);
        match pulse {
            Pulse::TooMany(asked) => {
                self.cut(0.5, now);
                self.paused_until = self.paused_until.max(now + asked.unwrap_or_default());
            }
            Pulse::Well => {
                self.note(latency);
                if self.is_slow() {
                    self.cut(0.75, now);
                } else if busy {
                    self.limit = (self.limit + 1.0 / self.limit).min(MOST);
                }
            }
            Pulse::Other => {}
        }
    }

    fn note(&mut self, latency: Duration) {
        let seconds = latency.as_secs_f64();
        if self.usual == 0.0 {
            (self.recent, self.usual) = (seconds, seconds);
        }
        self.recent += (seconds - self.recent) * SOON;
        self.usual += (seconds - self.usual) * LATE;
    }

    fn is_slow(&self) -> bool {
        self.recent > self.usual * SLOWER && self.recent > SLOW.as_secs_f64()
    }

    fn cut(&mut self, by: f64, now: Duration) {
        if self.cut_at.is_some_and(|at| now < at + SETTLE) {
            return;
        }
        self.cut_at = Some(now);
        self.limit = (self.limit * by).max(LEAST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Duration = Duration::from_millis(5);

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Sends as many as may be sent; how many that were.
    fn fill(pace: &mut Pace, now: Duration) -> usize {
        let mut sent = 0;
        while pace.has_room(now) {
            pace.sent();
            sent += 1;
        }
        sent
    }

    #[test]
    fn a_server_that_answers_well_gets_more_at_once() {
        let mut pace = Pace::default();
        for _ in 0..2_000 {
            fill(&mut pace, secs(0));
            pace.answered(Pulse::Well, FAST, secs(0));
        }
        assert!(pace.limit > 60.0, "{}", pace.limit);
    }

    #[test]
    fn too_many_halves_once_a_second_and_waits_as_long_as_asked() {
        let mut pace = Pace::default();
        assert_eq!(fill(&mut pace, secs(0)), 16);
        for _ in 0..16 {
            pace.answered(Pulse::TooMany(Some(secs(3))), FAST, secs(10));
        }
        assert_eq!(
            (fill(&mut pace, secs(12)), pace.paused_until(secs(12))),
            (0, Some(secs(13)))
        );
        assert_eq!(fill(&mut pace, secs(13)), 8);
    }

    #[test]
    fn answers_that_become_slow_make_fewer() {
        let mut pace = Pace::default();
        for _ in 0..100 {
            pace.sent();
            pace.answered(Pulse::Well, FAST, secs(0));
        }
        for second in 1..30 {
            pace.sent();
            pace.answered(Pulse::Well, secs(1), secs(second));
        }
        assert!(pace.limit < FIRST, "{}", pace.limit);
        assert!(fill(&mut pace, secs(60)) >= 2, "some always go through");
    }
}
