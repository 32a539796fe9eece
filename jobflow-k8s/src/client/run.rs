//! A driver at work: watches fill the hub, workers plan flows, and one loop sends what they ask for.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jobflow_core::Time;
use jobflow_core::facts::FactKey;
use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::call::{Called, Caller};
use super::cell::Cell;
use super::extensions::Extensions;
use super::flow::{Input, Stepped};
use super::hub::{Hub, Order};
use super::observer::{Observer, Silent};
use super::pace::{Pace, Pulse};
use super::pods;
use super::probing::{LOOKS, Probed, Wanted};
use super::progress::{PODS, Progress, QUEUES};
use super::queue::FairLine;
use super::request::{Request, Response, Ticket};
use super::settings::Settings;
use super::term::{Term, Unlimited};
use super::uses::Template;
use super::watch::{Watching, watch, watch_cluster};
use crate::probe::{Permits, Prober};

/// Tells the time of day. Waiting is tokio's business, so that tests can pause it.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

/// The longest that a flow is left without a look when it asked for one at a later time: the clock may be set.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// Runs the flows of a cluster, for one term.
///
/// ```no_run
/// use jobflow_k8s::client::{Driver, Settings};
///
/// # async fn run(client: kube::Client) {
/// Driver::new(client, Settings::default()).run().await;
/// # }
/// ```
pub struct Driver {
    client: Client,
    settings: Settings,
    extensions: Extensions,
    term: Arc<dyn Term>,
    observer: Arc<dyn Observer>,
    clock: Clock,
    progress: Progress,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Driver {
    /// A driver without extensions that has no rival and tells nobody anything. The client must not retry by itself
    /// (`default_retry` of its configuration): a lost lease has to stop everything at once.
    #[must_use]
    pub fn new(client: Client, settings: Settings) -> Self {
        Self {
            client,
            progress: Progress::of(&settings),
            settings,
            extensions: Extensions::default(),
            term: Arc::new(Unlimited),
            observer: Arc::new(Silent),
            clock: Arc::new(|| Time(jiff::Timestamp::now().as_millisecond())),
        }
    }

    /// With kinds of predicates, and the sources of their facts.
    #[must_use]
    pub fn with_extensions(self, extensions: Extensions) -> Self {
        Self { extensions, ..self }
    }

    /// Within a term.
    #[must_use]
    pub fn with_term(self, term: Arc<dyn Term>) -> Self {
        Self { term, ..self }
    }

    /// With somebody who hears what happens.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer, ..self }
    }

    /// By another clock than the machine's.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// What the driver hears, to be asked while it runs.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Runs until it is dropped, which stops everything at once.
    pub async fn run(self) {
        self.run_until(std::future::pending()).await;
    }

    /// Runs until `stop` comes; then nothing new is sent, and what is on its way is awaited.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let Self {
            client,
            settings,
            extensions,
            term,
            observer,
            clock,
            progress,
        } = self;
        let (sender, orders) = mpsc::unbounded_channel();
        let caller = Arc::new(Caller {
            client: client.clone(),
            timeout: settings.request_timeout,
            term,
            observer: Arc::clone(&observer),
            extensions: extensions.clone(),
        });
        let hub = Hub::new(settings, extensions, observer, clock, progress.clone(), sender);
        let hub = Arc::new(hub);
        let mut tasks = JoinSet::new();
        for (scope, beat) in progress.watches() {
            let watching = Watching {
                client: client.clone(),
                namespace: scope.clone(),
                label: (beat.resource() == PODS).then_some(pods::LABEL),
                streaming: hub.settings.streaming_lists,
                beat: Arc::clone(beat),
                observer: Arc::clone(&hub.observer),
            };
            watch_for(&mut tasks, &hub, watching);
        }
        for _ in 0..hub.settings.concurrency.max(1) {
            let hub = Arc::clone(&hub);
            tasks.spawn(async move { hub.work().await });
        }
        let permits = Permits::Cluster {
            denied: hub.settings.denied.clone(),
        };
        let seed = u64::try_from((hub.clock)().0).unwrap_or(0);
        let prober = Prober::new(Probed::of(Arc::downgrade(&hub)), permits, LOOKS, seed);
        tasks.spawn(Arc::clone(&prober).run());
        Sender::new(hub, caller, prober, orders).run(stop).await;
    }
}

fn watch_for(tasks: &mut JoinSet<()>, hub: &Arc<Hub>, watching: Watching) {
    let (hub, scope) = (Arc::clone(hub), watching.namespace.clone());
    match watching.beat.resource() {
        "jobflows" => tasks.spawn(watch(watching, move |shown| hub.flow(scope.as_deref(), shown))),
        "jobs" => tasks.spawn(watch(watching, move |shown| hub.job(scope.as_deref(), shown))),
        PODS => tasks.spawn(watch(watching, move |shown| hub.pod(scope.as_deref(), shown))),
        QUEUES => tasks.spawn(watch_cluster(watching, move |shown| hub.job_queue(shown))),
        _ => tasks.spawn(watch(watching, move |shown| {
            hub.template_shown(scope.as_deref(), shown)
        })),
    };
}

/// A request that came back.
enum Done {
    /// Of a flow.
    Flow(Arc<Cell>, Ticket, Called),
    /// The list of a template.
    Template(Template, Called),
}

/// Sends what flows ask for, in turn and at the pace that the server bears, and wakes them when they want to.
struct Sender {
    hub: Arc<Hub>,
    caller: Arc<Caller>,
    orders: mpsc::UnboundedReceiver<Order>,
    waiting: FairLine<(Arc<Cell>, Ticket, Request)>,
    calls: JoinSet<Done>,
    pace: Pace,
    timers: Timers,
    began: Instant,
    prober: Arc<Prober<Probed>>,
}

impl Sender {
    fn new(
        hub: Arc<Hub>,
        caller: Arc<Caller>,
        prober: Arc<Prober<Probed>>,
        orders: mpsc::UnboundedReceiver<Order>,
    ) -> Self {
        Self {
            hub,
            caller,
            orders,
            waiting: FairLine::default(),
            calls: JoinSet::new(),
            pace: Pace::default(),
            timers: Timers::default(),
            began: Instant::now(),
            prober,
        }
    }

    async fn run(mut self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        loop {
            let next = self.next_wake();
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(order) = self.orders.recv() => self.heed(order),
                Some(done) = self.calls.join_next() => self.answered(done.ok()),
                () = tokio::time::sleep_until(next) => {}
            }
            while let Ok(order) = self.orders.try_recv() {
                self.heed(order);
            }
            for cell in self.timers.due(Instant::now()) {
                self.hub.wake(&cell);
            }
            self.send();
        }
        while self.calls.join_next().await.is_some() {}
    }

    fn next_wake(&self) -> Instant {
        let now = Instant::now();
        let paused = self
            .pace
            .paused_until(now - self.began)
            .map(|until| self.began + until);
        let paused = paused.filter(|_| !self.waiting.is_empty());
        let idle = self.waiting.is_empty() && self.pace.has_room(now - self.began);
        let lists = self.hub.next_list().filter(|_| idle && self.hub.is_started());
        let next = self.timers.next().into_iter().chain(paused).chain(lists).min();
        next.unwrap_or(now + LONGEST_SLEEP)
    }

    fn heed(&mut self, order: Order) {
        match order {
            Order::Later(cell, at) => self.timers.set(cell, at),
            Order::Forgotten(namespace, uid) => self.probe(&namespace, &uid, Vec::new()),
            Order::Stepped(
                cell,
                Stepped {
                    requests,
                    probes,
                    wake_at,
                },
            ) => {
                if let Some(probes) = probes {
                    self.probe(&cell.asker.namespace, &cell.uid, probes);
                }
                let creates = requests
                    .iter()
                    .filter(|(_, request)| matches!(request, Request::CreateJob { .. }));
                cell.earn(creates.count());
                if let Some(at) = wake_at {
                    let now = (self.hub.clock)();
                    let wait = Duration::from_millis(at.since(now).0).min(LONGEST_SLEEP);
                    self.timers.set(Arc::clone(&cell), Instant::now() + wait);
                }
                for (ticket, request) in requests {
                    let (namespace, uid) = (cell.asker.namespace.clone(), cell.uid.clone());
                    self.waiting
                        .push(&namespace, &uid, (Arc::clone(&cell), ticket, request));
                }
            }
        }
    }

    /// A flow asks this of pods from now on.
    fn probe(&self, namespace: &str, uid: &str, probes: Vec<(FactKey, String)>) {
        self.prober.field().keep(uid, &probes);
        let flow: Arc<str> = uid.into();
        let wanted = probes.into_iter().filter_map(|(fact, job)| {
            let FactKey::Probe { probe, .. } = &fact else {
                return None;
            };
            let (probe, flow) = (Arc::clone(probe), Arc::clone(&flow));
            Some((Wanted { flow, job, fact }, probe))
        });
        let wanted: Vec<_> = wanted.collect();
        self.prober.want(&namespace.into(), &flow, wanted);
    }

    fn send(&mut self) {
        while self.pace.has_room(self.began.elapsed()) {
            let Some((cell, ticket, request)) = self.waiting.pop() else {
                return self.send_lists();
            };
            self.pace.sent();
            let caller = Arc::clone(&self.caller);
            self.calls.spawn(async move {
                let called = AssertUnwindSafe(caller.call(&cell.asker, &request))
                    .catch_unwind()
                    .await;
                let called = called.unwrap_or_else(|_| Called {
                    response: Response::Unanswered("the program panicked".to_owned()),
                    code: None,
                    latency: Duration::ZERO,
                });
                Done::Flow(cell, ticket, called)
            });
        }
    }

    /// Lists are for people: they are sent when nothing else waits.
    fn send_lists(&mut self) {
        for (template, list) in self.hub.template_lists() {
            self.pace.sent();
            let caller = Arc::clone(&self.caller);
            self.calls.spawn(async move {
                let called = caller.write_template(&template, &list).await;
                Done::Template(template, called)
            });
        }
    }

    fn answered(&mut self, done: Option<Done>) {
        match done {
            Some(Done::Flow(cell, ticket, called)) => {
                self.note_pace(&called);
                self.hub.deliver(&cell, Input::Answered(ticket, called.response));
            }
            Some(Done::Template(template, called)) => {
                self.note_pace(&called);
                if called.code != Some(200) && called.code != Some(404) {
                    self.hub.list_failed(template);
                }
            }
            None => self
                .pace
                .answered(Pulse::Other, Duration::ZERO, self.began.elapsed()),
        }
    }

    fn note_pace(&mut self, called: &Called) {
        let pulse = match (called.code, &called.response) {
            (Some(429), Response::Refused(said)) => {
                let asked = said
                    .retry_after
                    .as_deref()
                    .and_then(|seconds| seconds.parse().ok());
                Pulse::TooMany(asked.map(Duration::from_secs))
            }
            (Some(503 | 504), _) => Pulse::TooMany(None),
            (Some(code), _) if code < 500 => Pulse::Well,
            (Some(_) | None, _) => Pulse::Other,
        };
        self.pace.answered(pulse, called.latency, self.began.elapsed());
    }
}

/// When flows want to be looked at; of several times of one flow the earliest.
#[derive(Default)]
struct Timers {
    by_time: BTreeSet<(Instant, String)>,
    by_flow: BTreeMap<String, (Instant, Arc<Cell>)>,
}

impl Timers {
    fn set(&mut self, cell: Arc<Cell>, at: Instant) {
        let uid = cell.uid.clone();
        if let Some((earlier, _)) = self.by_flow.get(&uid) {
            if *earlier <= at {
                return;
            }
            self.by_time.remove(&(*earlier, uid.clone()));
        }
        self.by_time.insert((at, uid.clone()));
        self.by_flow.insert(uid, (at, cell));
    }

    fn next(&self) -> Option<Instant> {
        self.by_time.first().map(|(at, _)| *at)
    }

    fn due(&mut self, now: Instant) -> Vec<Arc<Cell>> {
        let mut due = Vec::new();
        while let Some((at, _)) = self.by_time.first() {
            if *at > now {
                break;
            }
            if let Some((_, uid)) = self.by_time.pop_first()
                && let Some((_, cell)) = self.by_flow.remove(&uid)
            {
                due.push(cell);
            }
        }
        due
    }
}
