//! Other controllers that write the status of flows.
//!
//! Comes in: sightings, each with a name. Goes out: a line a name, until it was not seen for a while. Deliberately
//! absent: readiness. Whoever may write a flow can forge a trace.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::Moment;
use crate::escape;

/// How long one that isn't seen any more is told about.
const REMEMBERED: Duration = Duration::from_secs(600);
/// The most that are told about.
const MOST: usize = 5;

/// The other controllers that were seen lately.
#[derive(Debug, Default)]
pub struct Rivals(BTreeMap<String, Moment>);

impl Rivals {
    /// One was seen. A name is anybody's text.
    pub fn saw(&mut self, name: &str, now: Moment) {
        let name = escape::cut(&escape::text(name), 128);
        if self.0.len() < MOST || self.0.contains_key(&name) {
            self.0.insert(name, now);
        }
    }

    /// What there is to say.
    pub fn lines(&mut self, now: Moment) -> Vec<String> {
        self.0.retain(|_, seen| seen.until(now) < REMEMBERED);
        let names = self.0.keys();
        names
            .map(|name| format!("{name} writes the status of flows that were started here"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_not_seen_any_more_is_forgotten_and_many_are_few() {
        let at = |seconds| Moment(Duration::from_secs(seconds));
        let mut rivals = Rivals::default();
        rivals.saw("vc-controller-manager", at(0));
        rivals.saw("x\n\u{1b}[2J", at(500));
        assert_eq!(rivals.lines(at(599)).len(), 2);
        let left = rivals.lines(at(600));
        assert_eq!(
            left,
            ["x\\u{a}\\u{1b}[2J writes the status of flows that were started here"]
        );
        for index in 0..100 {
            rivals.saw(&index.to_string(), at(600));
        }
        assert_eq!(rivals.lines(at(600)).len(), MOST);
    }
}
