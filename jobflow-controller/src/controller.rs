//! The controller put together: for the program, and for operators that bring their own client, clock or predicates.
//!
//! ```text
//! elector ──► Leading(term) ──► a driver of its own a term, until it is lost or we are told to end
//! checks ───► health, metrics          │ tells
//! pages ◄──── health, metrics ◄── telemetry ──► events
//! ```
//!
//! Comes in: settings. Goes out: nothing, once it is told to end. A lost term drops its driver with everything that is
//! on its way; an end that was asked for waits for that first, and then gives the lease up. Deliberately absent:
//! decisions about flows.

mod connect;
mod lead;

use std::future::Future;
use std::sync::Arc;

use jobflow_k8s::client::Extensions;
use kube::Client;
use thiserror::Error;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::arguments::Settings;
use crate::checks::{self, Reports};
use crate::clock::{Clock, SystemClock};
use crate::events::Sender;
use crate::health::Health;
use crate::lease::{Elector, Identity, Leadership, LeaseName, LeaseTerm, Machine};
use crate::metrics::Metrics;
use crate::observer::Telemetry;
use crate::serve::{self, Pages};
use lead::Leader;

/// Why a controller could not run, or ended without being told to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The cluster can't be reached with what is configured.
    #[error(
        "cannot tell how the cluster is reached: give --kubeconfig, or run in a pod with a service account"
    )]
    Connect(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An address can't be listened on.
    #[error("cannot listen on {address}, given as {argument}")]
    Listen {
        /// The argument.
        argument: &'static str,
        /// The address.
        address: std::net::SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// A part of the program ended that never does.
    #[error("{0} ended unexpectedly")]
    Ended(&'static str),
}

/// A controller to be run.
///
/// ```no_run
/// use jobflow_controller::{Arguments, Controller, Parser};
///
/// # async fn run(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let settings = Arguments::parse_from(["my-operator", "--health-address=off"]).settings()?;
/// Controller::new(settings).with_client(client).run_until(std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
pub struct Controller {
    settings: Settings,
    extensions: Extensions,
    client: Option<Client>,
    clock: Arc<dyn Clock>,
    identity: Option<Identity>,
}

/// What the parts of a running controller share.
#[derive(Clone)]
struct Shared {
    client: Client,
    settings: Arc<Settings>,
    extensions: Extensions,
    clock: Arc<dyn Clock>,
    health: Arc<Health>,
    metrics: Arc<Metrics>,
    telemetry: Arc<Telemetry>,
    reports: Reports,
    own_namespace: Option<String>,
}

impl Controller {
    /// With the cluster that the settings name, and without extensions.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            extensions: Extensions::default(),
            client: None,
            clock: Arc::new(SystemClock),
            identity: None,
        }
    }

    /// With kinds of predicates, and the sources of their facts.
    #[must_use]
    pub fn with_extensions(self, extensions: Extensions) -> Self {
        Self { extensions, ..self }
    }

    /// With a client of the embedding program, best made by [`connect`](crate::connect()). It must repeat nothing by
    /// itself (`default_retry` of its configuration): a lost lease has to stop everything at once.
    #[must_use]
    pub fn with_client(self, client: Client) -> Self {
        Self {
            client: Some(client),
            ..self
        }
    }

    /// By other clocks than the machine's.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Called like this in the Lease, instead of by the name of the host.
    #[must_use]
    pub fn with_identity(self, identity: Identity) -> Self {
        Self {
            identity: Some(identity),
            ..self
        }
    }

    /// Runs until `stop` comes: then what is on its way is awaited for the grace that the settings give, and the lease
    /// is given up.
    ///
    /// # Errors
    ///
    /// The cluster can't be reached with what is configured, an address can't be listened on, or a part of the program
    /// ended unexpectedly.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), RunError> {
        let identity = self.identity.clone().unwrap_or_else(connect::identity);
        let shared = self.shared(&identity).await?;
        let lease_namespace = connect::lease_namespace(&shared.settings, &shared.client);
        let mut parts = JoinSet::new();
        serve_pages(&shared, &mut parts).await?;
        {
            let (shared, namespace) = (shared.clone(), lease_namespace.clone());
            parts.spawn(async move {
                checks::run(shared.client, &shared.settings, &namespace, &shared.reports).await;
                "the checks"
            });
        }
        let leave = CancellationToken::new();
        let leadership = election(&shared, &identity, lease_namespace, &leave, &mut parts);
        let leader = Leader::new(shared.clone(), leadership);
        let finished = tokio::select! {
            finished = leader.run(stop) => finished?,
            ended = parts.join_next() => return Err(RunError::Ended(part(ended))),
        };
        if finished && shared.elects() {
            leave.cancel();
            // The elector is the part that ends when it is told to leave.
            let _ = tokio::time::timeout(shared.settings.shutdown_grace, parts.join_next()).await;
        }
        info!("ended");
        Ok(())
    }

    async fn shared(self, identity: &Identity) -> Result<Shared, RunError> {
        let client = match self.client {
            Some(client) => client,
            None => connect::client(&self.settings).await?,
        };
        let metrics = Arc::new(Metrics::new());
        let sends = self.settings.events && !self.settings.dry_run;
        let events = sends.then(|| {
            let sender = Sender::new(Arc::clone(&metrics), Arc::clone(&self.clock), identity.as_str());
            Arc::new(sender)
        });
        let health = Arc::<Health>::default();
        let (of_health, of_metrics) = (Arc::clone(&health), Arc::clone(&metrics));
        let reports = Reports::new(&self.settings, of_health, of_metrics, Arc::clone(&self.clock));
        Ok(Shared {
            client,
            extensions: self.extensions,
            clock: self.clock,
            reports: reports.clone(),
            health,
            telemetry: Arc::new(Telemetry::new(Arc::clone(&metrics), events, reports)),
            metrics,
            settings: Arc::new(self.settings),
            own_namespace: connect::own_namespace(),
        })
    }
}

impl Shared {
    /// Whether there is an election: a dry run writes nothing, a Lease included.
    fn elects(&self) -> bool {
        self.settings.lease.is_some() && !self.settings.dry_run
    }
}

/// Listens before anything else happens, so that an address that is taken is told at start.
async fn serve_pages(shared: &Shared, parts: &mut JoinSet<&'static str>) -> Result<(), RunError> {
    let pages = Pages {
        health: Arc::clone(&shared.health),
        metrics: Arc::clone(&shared.metrics),
        clock: Arc::clone(&shared.clock),
    };
    let (health, metrics) = (serve::health(pages.clone()), serve::metrics(pages));
    let served = [
        ("--health-address", shared.settings.health_address, health),
        ("--metrics-address", shared.settings.metrics_address, metrics),
    ];
    for (argument, address, router) in served {
        let Some(address) = address else {
            continue;
        };
        let listener = serve::listen(address).await.map_err(|source| RunError::Listen {
            argument,
            address,
            source,
        })?;
        let bound = listener.address().unwrap_or(address);
        info!(argument, address = %bound, "listening");
        parts.spawn(async move {
            let _ = axum::serve(listener, router).await;
            "a page"
        });
    }
    Ok(())
}

fn election(
    shared: &Shared,
    identity: &Identity,
    namespace: String,
    leave: &CancellationToken,
    parts: &mut JoinSet<&'static str>,
) -> tokio::sync::watch::Receiver<Leadership> {
    let Some(lease) = shared.settings.lease.as_ref().filter(|_| shared.elects()) else {
        let term = LeaseTerm::unlimited(Arc::clone(&shared.clock));
        return tokio::sync::watch::channel(Leadership::Leading(term)).1;
    };
    let name = LeaseName {
        namespace,
        name: lease.name.clone(),
    };
    let machine = Machine::new(identity.clone(), name.clone(), lease.timings, connect::random());
    let (elector, leadership) =
        Elector::new(shared.client.clone(), &name, machine, Arc::clone(&shared.clock));
    let leave = leave.clone();
    parts.spawn(async move {
        elector.run(leave).await;
        "the election"
    });
    leadership
}

fn part(ended: Option<Result<&'static str, tokio::task::JoinError>>) -> &'static str {
    ended.and_then(Result::ok).unwrap_or("a part that failed")
}
