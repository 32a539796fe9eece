//! The watch cache of one API server of several: it may lag behind the store, kind by kind.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::kind::Kind;

/// What one API server knows without asking the store.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    lag: BTreeMap<&'static Kind, Duration>,
    arrivals: BTreeMap<&'static Kind, Vec<(u64, Instant)>>,
}

impl Replica {
    /// From now on changes of this kind come that much later; those on their way aren't overtaken.
    pub fn lags(&mut self, kind: &'static Kind, lag: Duration) {
        self.lag.insert(kind, lag);
    }

    /// Everything of this kind that is on its way has come, and what follows comes at once.
    pub fn catches_up(&mut self, kind: &'static Kind) {
        self.lag.remove(kind);
        let now = Instant::now();
        for (_, due) in self.arrivals.entry(kind).or_default() {
            *due = (*due).min(now);
        }
    }

    pub(super) fn hear(&mut self, kind: &'static Kind, version: u64, at: Instant) {
        let lag = self.lag.get(kind).copied().unwrap_or_default();
        let arrivals = self.arrivals.entry(kind).or_default();
        let before = arrivals.last().map_or(at, |(_, due)| *due);
        arrivals.push((version, before.max(at + lag)));
    }

    /// How far it has come with a kind: the version of the last change that arrived, and when the next one does.
    #[must_use]
    pub fn reached(&self, kind: &Kind, now: Instant) -> (u64, Option<Instant>) {
        let arrivals = self.arrivals.get(kind).map_or(&[][..], Vec::as_slice);
        let come = arrivals.partition_point(|(_, due)| *due <= now);
        let reached = come
            .checked_sub(1)
            .and_then(|last| arrivals.get(last))
            .map_or(1, |(version, _)| *version);
        (reached, arrivals.get(come).map(|(_, due)| *due))
    }
}
