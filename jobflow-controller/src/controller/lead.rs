//! Runs a driver a term.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;

use jobflow_k8s::client::Driver;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{RunError, Shared, connect};
use crate::findings::Check;
use crate::lease::{Leadership, LeaseTerm, Other};

/// Waits for terms, and leads in each.
pub(super) struct Leader {
    shared: Shared,
    leadership: watch::Receiver<Leadership>,
}

/// How a term went.
enum Outcome {
    /// The lease was lost.
    Lost,
    /// We were told to end; whether everything that was on its way came to its end.
    Stopped { finished: bool },
}

impl Leader {
    pub(super) const fn new(shared: Shared, leadership: watch::Receiver<Leadership>) -> Self {
        Self { shared, leadership }
    }

    /// Until `stop` comes. Says whether the lease may be given up: nothing of ours is on its way any more.
    pub(super) async fn run(mut self, stop: impl Future<Output = ()>) -> Result<bool, RunError> {
        let mut stop = pin!(stop);
        loop {
            let term = self.term();
            let outcome = match term {
                Some(term) => self.lead(&term, stop.as_mut()).await?,
                None => tokio::select! {
                    () = &mut stop => Outcome::Stopped { finished: true },
                    changed = self.leadership.changed() => {
                        changed.map_err(|_| RunError::Ended("the election"))?;
                        continue;
                    }
                },
            };
            match outcome {
                Outcome::Lost => {}
                Outcome::Stopped { finished } => return Ok(finished),
            }
        }
    }

    /// The term that we lead in, if we do. News of its end may come later than the end itself.
    fn term(&mut self) -> Option<LeaseTerm> {
        match &*self.leadership.borrow_and_update() {
            Leadership::Leading(term) => Some(term.clone()).filter(|term| !term.is_lost()),
            Leadership::Following(leader) => {
                self.shared
                    .reports
                    .report("the lease", Check::LeaseForeign, foreign(leader));
                None
            }
        }
    }

    /// One term, with a driver of its own.
    async fn lead(
        &self,
        term: &LeaseTerm,
        stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Outcome, RunError> {
        let Shared {
            client,
            settings,
            extensions,
            clock,
            health,
            metrics,
            telemetry,
            own_namespace,
            reports: _,
        } = &self.shared;
        let mut settings = settings.driver(own_namespace.as_deref());
        settings.denied.extend(connect::api_server());
        let driver = Driver::new(client.clone(), settings)
            .with_extensions(extensions.clone())
            .with_term(Arc::new(term.clone()))
            .with_observer(Arc::clone(telemetry) as Arc<_>);
        health.leads(Arc::new(driver.progress()), clock.now());
        metrics.leads(true);
        info!(term = term.number(), "leads");
        let outcome = self.drive(driver, term, stop).await;
        health.follows();
        metrics.leads(false);
        telemetry.forget();
        outcome
    }

    /// A task of its own, so that a panic in it is an end and not a silence. Dropping the set ends it at once.
    async fn drive(
        &self,
        driver: Driver,
        term: &LeaseTerm,
        stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Outcome, RunError> {
        let mut tasks = tokio::task::JoinSet::new();
        let end = CancellationToken::new();
        let ending = end.clone();
        tasks.spawn(async move { driver.run_until(ending.cancelled_owned()).await });
        let silence = CancellationToken::new();
        let mut events = pin!(async {
            match &self.shared.telemetry.events {
                Some(events) => events.run(&self.shared.client, term, &silence).await,
                None => silence.cancelled().await,
            }
        });
        tokio::select! {
            biased;
            () = term.lost() => return Ok(Outcome::Lost),
            () = stop => {}
            _ = tasks.join_next() => return Err(RunError::Ended("the driver")),
            () = &mut events => return Ok(Outcome::Lost),
        }
        info!("told to end: what is on its way is awaited");
        self.shared.health.ends();
        end.cancel();
        let until = Instant::now() + self.shared.settings.shutdown_grace;
        let finished = tokio::select! {
            biased;
            () = term.lost() => false,
            done = tokio::time::timeout_at(until, tasks.join_next()) => matches!(done, Ok(Some(Ok(())))),
            () = &mut events => false,
        };
        if finished {
            // Nothing more happens; what has happened is told.
            silence.cancel();
            let _ = tokio::time::timeout_at(until, events).await;
        } else {
            warn!("requests are still on their way: the lease is kept and ends by itself");
        }
        Ok(Outcome::Stopped { finished })
    }
}

/// What there is to say about a Lease that a program of another kind holds.
fn foreign(leader: &Other) -> Vec<String> {
    let holder = leader.holder.iter().filter(|_| leader.foreign);
    holder
        .map(|holder| {
            format!(
                "the Lease is held by {holder}, which is no jobflow-controller; choose another --lease-name"
            )
        })
        .collect()
}
