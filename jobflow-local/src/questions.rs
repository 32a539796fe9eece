//! Questions whose answers take time: how processes answer probes, and what sources of custom predicates say.
//!
//! Comes in: what is wanted now. Goes out: answers, as they come. Deliberately absent: what an answer means. Everything
//! that waits, waits on one thread of its own, which is there from the first question on; a run that asks nothing has
//! none.

mod commands;
mod custom;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Instant,
};

use jobflow_core::{
    facts::{Answer, FactKey},
    probe::{Probe, ProbeAnswer},
};
use jobflow_k8s::{
    extensions::{Asker, Extensions},
    probe::{Field, Permits, Prober},
};
use tokio::{runtime::Builder, sync::oneshot};

pub(crate) use commands::Commands;
use custom::Custom;

use crate::host::ContainerKey;

/// How many looks there are at a time.
const LOOKS: usize = 64;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Of a plan's question, and when it was looked for.
    Fact(FactKey, Answer, Instant),
    /// How a look at a container's readiness went.
    Ready(ContainerKey, bool),
}

/// What a probe is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// A plan wants to know.
    Fact(FactKey),
    /// A container may have become ready.
    Ready(ContainerKey),
}

/// The addresses of the processes that a probe goes to, or why it doesn't.
pub(crate) type Places = Vec<Result<IpAddr, ProbeAnswer>>;

/// Everything that is wanted now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) probes: BTreeMap<Purpose, (Arc<Probe>, Places)>,
    /// Questions of custom predicates: kinds and questions.
    pub(crate) custom: BTreeSet<(Arc<str>, Arc<str>)>,
}

/// Asks what is wanted.
#[derive(Debug)]
pub(crate) struct Questions {
    wanted: Wanted,
    prober: Arc<Prober<Processes>>,
    custom: Custom,
    heard: mpsc::Receiver<Heard>,
    /// Its end is that of the thread.
    _running: oneshot::Sender<()>,
}

impl Wanted {
    pub(crate) fn is_empty(&self) -> bool {
        self.probes.is_empty() && self.custom.is_empty()
    }
}

impl Questions {
    /// Starts the thread that asks.
    pub(crate) fn start(extensions: Extensions, asker: Asker, seed: u64) -> io::Result<Self> {
        let (tell, heard) = mpsc::channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let custom = Custom::new(runtime.handle().clone(), extensions, asker, tell.clone());
        let processes = Processes {
            places: Mutex::default(),
            tell,
        };
        let prober = {
            let _inside = runtime.enter();
            Prober::new(processes, Permits::Loopback, LOOKS, seed)
        };
        let (running, ended) = oneshot::channel();
        let asking = Arc::clone(&prober);
        thread::Builder::new()
            .name("questions".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = asking.run() => {}
                        _ = ended => {}
                    }
                });
            })?;
        Ok(Self {
            wanted: Wanted::default(),
            prober,
            custom,
            heard,
            _running: running,
        })
    }

    /// Asks this from now on, and nothing else.
    pub(crate) fn ask(&mut self, wanted: Wanted) {
        if wanted == self.wanted {
            return;
        }
        let places = wanted.probes.iter();
        let places = places.map(|(purpose, (_, places))| (purpose.clone(), places.clone()));
        *self.prober.field().places() = places.collect();
        let probes = wanted.probes.iter();
        let probes = probes.map(|(purpose, (probe, _))| (purpose.clone(), Arc::clone(probe)));
        self.prober.want(&"run".into(), &"run".into(), probes);
        self.custom.want(&wanted.custom);
        self.wanted = wanted;
    }

    /// The answers that have come since the last time.
    pub(crate) fn heard(&self) -> impl Iterator<Item = Heard> {
        self.heard.try_iter()
    }
}

/// The processes of a run, as a prober sees them.
#[derive(Debug)]
struct Processes {
    places: Mutex<BTreeMap<Purpose, Places>>,
    tell: mpsc::Sender<Heard>,
}

impl Processes {
    fn places(&self) -> std::sync::MutexGuard<'_, BTreeMap<Purpose, Places>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Field for Processes {
    type Key = Purpose;

    fn addresses(&self, key: &Purpose, _probe: &Probe) -> Places {
        self.places().get(key).cloned().unwrap_or_default()
    }

    fn answered(&self, key: Purpose, answer: ProbeAnswer) {
        let heard = match key {
            Purpose::Fact(key) => Heard::Fact(key, Answer::Probe(answer), Instant::now()),
            Purpose::Ready(key) => Heard::Ready(key, answer == ProbeAnswer::Success),
        };
        // Whoever doesn't listen any more has ended.
        let _ = self.tell.send(heard);
    }
}
