//! One term of leading: whoever is about to write asks it whether the lease is ours for long enough.
//!
//! Comes in: each renewal, from the elector. Goes out: yes or no. It answers by the clock alone, so an elector that
//! hangs loses the lease like one that is gone. Deliberately absent: a way back. A term that was lost never holds again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jobflow_k8s::client::Term;
use tokio_util::sync::CancellationToken;

use crate::clock::{Clock, Moment};

/// Where a controller stands, as it is told to others.
#[derive(Clone, Debug)]
pub enum Leadership {
    /// Another leads, or nobody does yet.
    Following(Other),
    /// We lead, in this term.
    Leading(LeaseTerm),
}

/// Who leads instead of us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Other {
    /// Its identity, if it is known.
    pub holder: Option<String>,
    /// Whether the Lease belongs to a program of another kind.
    pub foreign: bool,
}

/// A time of leading, from getting the lease to losing it.
#[derive(Clone)]
pub struct LeaseTerm {
    number: u64,
    /// Milliseconds of the clock's time; 0 once the term is lost.
    until: Arc<AtomicU64>,
    lost: CancellationToken,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for LeaseTerm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeaseTerm")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl LeaseTerm {
    pub(super) fn begun(number: u64, until: Moment, clock: Arc<dyn Clock>) -> Self {
        let term = Self {
            number,
            until: Arc::default(),
            lost: CancellationToken::new(),
            clock,
        };
        term.renewed(until);
        term
    }

    /// A term that lasts as long as the process, for those who run one controller and know it.
    #[must_use]
    pub fn unlimited(clock: Arc<dyn Clock>) -> Self {
        Self::begun(1, Moment(Duration::from_millis(u64::MAX)), clock)
    }

    /// Which term of this process it is, counted from 1.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Whether the lease is surely ours for at least that long from now on.
    #[must_use]
    pub fn holds_for(&self, duration: Duration) -> bool {
        let until = self.until.load(Ordering::Acquire);
        let until = Moment(Duration::from_millis(until));
        !self.lost.is_cancelled() && self.clock.now().after(duration) <= until
    }

    /// Whether the term is over.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.is_cancelled()
    }

    /// Waits until the term is lost.
    pub async fn lost(&self) {
        self.lost.cancelled().await;
    }

    pub(super) fn renewed(&self, until: Moment) {
        let until = u64::try_from(until.0.as_millis()).unwrap_or(u64::MAX);
        self.until.store(until, Ordering::Release);
    }

    pub(super) fn lose(&self) {
        self.until.store(0, Ordering::Release);
        self.lost.cancel();
    }
}

impl Term for LeaseTerm {
    fn lasts(&self, span: Duration) -> bool {
        self.holds_for(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TokioClock;

    #[tokio::test(start_paused = true)]
    async fn a_term_holds_by_the_clock_alone_and_never_again_once_it_is_lost() {
        let clock = Arc::new(TokioClock::default());
        let term = LeaseTerm::begun(1, clock.now().after(Duration::from_secs(15)), clock.clone());
        assert!(term.holds_for(Duration::from_secs(15)));
        tokio::time::advance(Duration::from_secs(6)).await;
        assert!(term.holds_for(Duration::from_secs(9)));
        assert!(!term.holds_for(Duration::from_millis(9001)));
        assert!(!term.holds_for(Duration::MAX));
        term.lose();
        term.renewed(clock.now().after(Duration::from_secs(100)));
        assert!(!term.holds_for(Duration::ZERO));
        term.lost().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_term_without_a_lease_always_holds() {
        let term = LeaseTerm::unlimited(Arc::new(TokioClock::default()));
        assert!(term.holds_for(Duration::from_secs(1_000_000)));
    }
}
