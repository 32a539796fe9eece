//! The checks at start, and all the time after: definitions, rights, other controllers.
//!
//! Comes in: a client. Goes out: findings on the board of health, a line in the log when one begins or ends, a metric.
//! Every check goes on for ever, and one that can't be made is a finding too. Deliberately absent: judgement, which is
//! in [`crate::findings`], and writes.

mod definitions;
mod openapi;
mod rights;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::Client;
use tracing::{info, warn};

use crate::arguments::Settings;
use crate::clock::Clock;
use crate::escape;
use crate::findings::Check;
use crate::findings::definitions::needed;
use crate::findings::rivals::Rivals;
use crate::health::Health;
use crate::metrics::{Metrics, Scope};

/// How often other controllers are forgotten.
const RIVALS: std::time::Duration = std::time::Duration::from_secs(30);

/// Where findings are reported to.
#[derive(Clone)]
pub(crate) struct Reports {
    health: Arc<Health>,
    metrics: Arc<Metrics>,
    /// The lines of each check, by who found them.
    reported: Arc<Mutex<BTreeMap<String, Option<Reported>>>>,
    rivals: Arc<Mutex<Rivals>>,
    clock: Arc<dyn Clock>,
}

/// What one of them found.
#[derive(Clone)]
struct Reported {
    check: Check,
    lines: Vec<String>,
}

impl Reports {
    /// The checks at start are made when all who are expected have reported.
    pub(crate) fn new(
        settings: &Settings,
        health: Arc<Health>,
        metrics: Arc<Metrics>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        for check in Check::ALL {
            metrics.finding(check.name(), Scope::Cluster, 0);
        }
        let definitions = needed(settings.commands).into_iter().map(|needed| needed.name);
        let expected = definitions.chain([rights::WHO.to_owned()]);
        Self {
            health,
            metrics,
            reported: Arc::new(Mutex::new(expected.map(|who| (who, None)).collect())),
            rivals: Arc::default(),
            clock,
        }
    }

    /// All is well, or what is not; what the same one reported before is forgotten.
    pub(crate) fn report(&self, who: &str, check: Check, lines: Vec<String>) {
        let all = {
            let mut reported = self.reported();
            reported.insert(who.to_owned(), Some(Reported { check, lines }));
            reported.clone()
        };
        for check in Check::ALL {
            let of_it = all.values().flatten().filter(|reported| reported.check == check);
            self.publish(check, of_it.flat_map(|reported| reported.lines.clone()).collect());
        }
        if all.values().all(Option::is_some) {
            self.health.checked();
        }
    }

    /// Another controller was seen at work.
    pub(crate) fn saw_rival(&self, name: &str) {
        let now = self.clock.now();
        let lines = {
            let mut rivals = self.rivals.lock().unwrap_or_else(PoisonError::into_inner);
            rivals.saw(name, now);
            rivals.lines(now)
        };
        self.report("rivals", Check::AnotherController, lines);
    }

    /// For ever: one that isn't seen any more is forgotten.
    async fn forget_rivals(&self) {
        loop {
            tokio::time::sleep(RIVALS).await;
            let now = self.clock.now();
            let mut rivals = self.rivals.lock().unwrap_or_else(PoisonError::into_inner);
            let lines = rivals.lines(now);
            drop(rivals);
            self.report("rivals", Check::AnotherController, lines);
        }
    }

    fn reported(&self) -> MutexGuard<'_, BTreeMap<String, Option<Reported>>> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, check: Check, lines: Vec<String>) {
        self.metrics.finding(check.name(), Scope::Cluster, lines.len());
        if !self.health.found(check, lines.clone()) {
            return;
        }
        if lines.is_empty() {
            info!(finding = check.name(), "is well again");
        }
        for line in lines {
            warn!(finding = check.name(), "{}", escape::text(&line));
        }
    }
}

/// Checks for ever.
pub(crate) async fn run(client: Client, settings: &Settings, lease_namespace: &str, reports: &Reports) {
    let needed = needed(settings.commands);
    let definitions = needed
        .iter()
        .map(|needed| definitions::watch(&client, needed, reports));
    tokio::join!(
        futures::future::join_all(definitions),
        rights::ask(&client, settings, lease_namespace, reports),
        reports.forget_rivals(),
    );
}
