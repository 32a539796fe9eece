//! Tells of changes. Whoever listens is woken in the order in which they began to wait, so that a run is the same each
//! time; tokio's own channels wake in an order of chance.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Where changes are told; a clone is the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct News {
    changes: Arc<Changes>,
}

#[derive(Debug, Default)]
struct Changes {
    number: AtomicU64,
    notify: Notify,
}

/// Hears of changes.
#[derive(Clone, Debug)]
pub struct Listener {
    changes: Arc<Changes>,
    seen: u64,
}

impl News {
    pub(crate) fn tell(&self) {
        self.changes.number.fetch_add(1, Ordering::SeqCst);
        self.changes.notify.notify_waiters();
    }

    /// Hears of all that changes from now on.
    pub(crate) fn listen(&self) -> Listener {
        Listener {
            changes: Arc::clone(&self.changes),
            seen: self.changes.number.load(Ordering::SeqCst),
        }
    }
}

impl Listener {
    /// What has changed until now is known.
    pub fn mark_unchanged(&mut self) {
        self.seen = self.changes.number.load(Ordering::SeqCst);
    }

    /// Waits until something has changed since the last time.
    pub async fn changed(&mut self) {
        loop {
            let notified = self.changes.notify.notified();
            let number = self.changes.number.load(Ordering::SeqCst);
            if std::mem::replace(&mut self.seen, number) != number {
                return;
            }
            notified.await;
        }
    }
}
