//! What may not be done again before a time, and how often it has failed in a row.

use std::collections::BTreeMap;

use jobflow_core::{Span, Time};

/// The first wait after a failure.
const FIRST: Span = Span::from_secs(1);
/// The longest wait.
const LONGEST: Span = Span::from_secs(60);

/// Waits by what waits.
#[derive(Clone, Debug)]
pub(super) struct Holds<K> {
    held: BTreeMap<K, Hold>,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Time,
    failures: u32,
}

impl<K> Default for Holds<K> {
    fn default() -> Self {
        Self {
            held: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone> Holds<K> {
    /// Notes a failure: the next try is due after a wait that doubles, or when the server wants it, if that is later.
    pub(super) fn failed(&mut self, key: K, asked: Option<Span>, now: Time) {
        let failures = self
            .held
            .get(&key)
            .map_or(0, |hold| hold.failures)
            .saturating_add(1);
        let wait = Span(FIRST.0 << (failures - 1).min(6)).0.min(LONGEST.0);
        let asked = asked.map_or(0, |asked| asked.0);
        let until = now + Span(wait.max(asked));
        self.held.insert(key, Hold { until, failures });
    }

    /// Holds back until a time, without counting a failure.
    pub(super) fn hold(&mut self, key: K, until: Time) {
        let failures = self.held.get(&key).map_or(0, |hold| hold.failures);
        self.held.insert(key, Hold { until, failures });
    }

    /// It went well: nothing is remembered.
    pub(super) fn clear(&mut self, key: &K) {
        self.held.remove(key);
    }

    /// Whether it must wait.
    pub(super) fn holds(&self, key: &K, now: Time) -> bool {
        self.held.get(key).is_some_and(|hold| hold.until > now)
    }

    /// What must wait now.
    pub(super) fn held(&self, now: Time) -> impl Iterator<Item = &K> {
        self.held
            .iter()
            .filter(move |(_, hold)| hold.until > now)
            .map(|(key, _)| key)
    }

    /// When the next wait is over.
    pub(super) fn next(&self, now: Time) -> Option<Time> {
        let waits = self.held.values().map(|hold| hold.until);
        waits.filter(|until| *until > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute() {
        let mut holds = Holds::default();
        let mut waits = Vec::new();
        for _ in 0..9 {
            holds.failed("look", None, Time(0));
            waits.push(holds.next(Time(0)).map_or(0, |until| until.0 / 1000));
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    }

    #[test]
    fn a_server_that_asks_for_more_gets_it() {
        let mut holds = Holds::default();
        holds.failed("look", Some(Span::from_secs(7)), Time(0));
        assert!(holds.holds(&"look", Time(6_999)) && !holds.holds(&"look", Time(7_000)));
        holds.clear(&"look");
        assert!(!holds.holds(&"look", Time(0)));
    }
}
