//! One flow of a running driver: its machine, what has arrived for it, and how often it may be looked at.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jobflow_core::Time;
use tokio::time::Instant;

use super::extensions::Asker;
use super::flow::{FlowDriver, Input, has_ended};
use super::observer::FlowRef;
use crate::types::JobFlow;

/// How many looks a flow may have at once, how many more a second, and how many for each Job that it starts.
const BURST: f64 = 50.0;
const RATE: f64 = 5.0;
const EARNED: f64 = 10.0;

/// A flow that is known.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) asker: Asker,
    pub(super) uid: String,
    /// None while the flow is left alone: it can't be read, made the program panic, or is at rest.
    driver: Mutex<Option<FlowDriver>>,
    inbox: Mutex<Vec<Input>>,
    bucket: Mutex<Bucket>,
    /// The newest version that the machine has taken in.
    version: AtomicU64,
    parked: Mutex<Option<Parked>>,
    templates: Mutex<Arc<BTreeSet<String>>>,
    queues: Mutex<Arc<BTreeSet<Arc<str>>>>,
}

/// Until when a flow is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parked {
    /// Until it can be read.
    Unreadable,
    /// Until its spec is of another generation.
    Panicked(i64),
    /// It has ended, and nothing is left to do until it changes, or a time comes.
    AtRest(Option<Time>),
}

/// Looks that a flow still has.
#[derive(Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Cell {
    pub(super) fn new(flow: Arc<JobFlow>, now: Time) -> Self {
        let cell = Self::left_alone(&flow);
        Self {
            driver: Mutex::new(Some(FlowDriver::new(flow, now))),
            ..cell
        }
    }

    /// A flow that nothing is done with.
    pub(super) fn left_alone(flow: &JobFlow) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self {
            asker: Asker {
                namespace: text(&flow.metadata.namespace),
                flow: text(&flow.metadata.name),
            },
            uid: text(&flow.metadata.uid),
            driver: Mutex::new(None),
            inbox: Mutex::default(),
            bucket: Mutex::new(Bucket {
                tokens: BURST,
                at: Instant::now(),
            }),
            version: AtomicU64::new(0),
            parked: Mutex::new(None),
            templates: Mutex::default(),
            queues: Mutex::default(),
        }
    }

    pub(super) fn flow(&self) -> FlowRef<'_> {
        FlowRef {
            namespace: &self.asker.namespace,
            name: &self.asker.flow,
            uid: &self.uid,
        }
    }

    pub(super) fn driver(&self) -> MutexGuard<'_, Option<FlowDriver>> {
        locked(&self.driver)
    }

    /// Keeps what has arrived; nothing, while the flow is left alone.
    pub(super) fn put(&self, input: Input) {
        let left_alone = matches!(
            *locked(&self.parked),
            Some(Parked::Unreadable | Parked::Panicked(_))
        );
        if !left_alone {
            locked(&self.inbox).push(input);
        }
    }

    pub(super) fn take(&self) -> Vec<Input> {
        std::mem::take(&mut locked(&self.inbox))
    }

    /// Leaves the flow alone.
    pub(super) fn park(&self, parked: Parked) {
        *locked(&self.parked) = Some(parked);
        *self.driver() = None;
        locked(&self.inbox).clear();
    }

    /// Takes a parked flow up again if it isn't any more what it was parked for.
    pub(super) fn unpark(&self, flow: &Arc<JobFlow>, now: Time) -> bool {
        let mut parked = locked(&self.parked);
        let changed = match *parked {
            Some(Parked::Panicked(generation)) => flow.metadata.generation != Some(generation),
            Some(Parked::Unreadable) => true,
            Some(Parked::AtRest(_)) | None => false,
        };
        if changed {
            *parked = None;
            *self.driver() = Some(FlowDriver::new(Arc::clone(flow), now));
        }
        changed
    }

    /// Drops what is known of the flow until it changes or that time comes, unless something has arrived for it. The
    /// machine is the one that `driver` guards.
    pub(super) fn rest(&self, driver: &mut Option<FlowDriver>, until: Option<Time>) -> bool {
        let mut parked = locked(&self.parked);
        let rests = parked.is_none() && locked(&self.inbox).is_empty();
        if rests {
            *parked = Some(Parked::AtRest(until));
            *driver = None;
        }
        rests
    }

    /// If the flow is at rest: until when.
    pub(super) fn resting(&self) -> Option<Option<Time>> {
        match *locked(&self.parked) {
            Some(Parked::AtRest(until)) => Some(until),
            Some(Parked::Unreadable | Parked::Panicked(_)) | None => None,
        }
    }

    /// Takes a flow that is at rest up again, of which nothing is known any more.
    pub(super) fn rouse(&self, now: Time) {
        let mut driver = self.driver();
        let mut parked = locked(&self.parked);
        if matches!(*parked, Some(Parked::AtRest(_))) {
            *parked = None;
            let Asker { namespace, flow } = &self.asker;
            *driver = Some(FlowDriver::unknown(namespace, flow, &self.uid, now));
        }
    }

    /// Whether a flow that is at rest has to be looked at for what has arrived: another version of it, or a Job of it that
    /// somebody runs again.
    pub(super) fn is_roused_by(&self, input: &Input) -> bool {
        match input {
            Input::Flow(flow) => flow.metadata.deletion_timestamp.is_none() && !self.knows(flow),
            Input::Job(job) => !has_ended(job),
            Input::Relisted(jobs) => !jobs.iter().all(|job| has_ended(job)),
            Input::JobGone(_)
            | Input::Pods(..)
            | Input::Probed(..)
            | Input::Template(_)
            | Input::Frozen(_)
            | Input::FrozenGone(_)
            | Input::Queue(_)
            | Input::Answered(..) => false,
        }
    }

    /// Whether the machine has seen this version, or a newer one.
    pub(super) fn knows(&self, flow: &JobFlow) -> bool {
        let version = flow.metadata.resource_version.as_deref();
        let version = version.and_then(|version| version.parse::<u64>().ok());
        let deleting = flow.metadata.deletion_timestamp.is_some();
        !deleting && version.is_some_and(|version| version <= self.version.load(Ordering::Relaxed))
    }

    /// Notes what the machine stands at.
    pub(super) fn note(&self, driver: &FlowDriver) {
        let version = driver.version().and_then(|version| version.parse().ok());
        self.version.store(version.unwrap_or(0), Ordering::Relaxed);
        if let Some(templates) = driver.templates() {
            share(&self.templates, templates);
        }
        share(&self.queues, driver.queues());
    }

    /// The queues that it has asked about.
    pub(super) fn queues(&self) -> Arc<BTreeSet<Arc<str>>> {
        Arc::clone(&locked(&self.queues))
    }

    pub(super) fn uses_template(&self, name: &str) -> bool {
        locked(&self.templates).contains(name)
    }

    /// None if it may be looked at now, else when.
    pub(super) fn spend(&self) -> Option<Instant> {
        let mut bucket = locked(&self.bucket);
        bucket.fill();
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return None;
        }
        let wait = Duration::from_secs_f64((1.0 - bucket.tokens) / RATE);
        Some(bucket.at + wait)
    }

    /// It has started so many Jobs: progress is never held up.
    pub(super) fn earn(&self, jobs: usize) {
        let mut bucket = locked(&self.bucket);
        bucket.fill();
        let jobs = f64::from(u32::try_from(jobs).unwrap_or(u32::MAX));
        bucket.tokens = (bucket.tokens + jobs * EARNED).min(BURST);
    }
}

impl Bucket {
    fn fill(&mut self) {
        let now = Instant::now();
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        self.tokens = (self.tokens + since * RATE).min(BURST);
        self.at = now;
    }
}

fn share<T>(known: &Mutex<Arc<T>>, now: &Arc<T>) {
    let mut known = locked(known);
    if !Arc::ptr_eq(&known, now) {
        *known = Arc::clone(now);
    }
}

/// A lock that outlives a panic: what it guards is replaced after one.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
