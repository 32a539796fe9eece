//! The loop: hears what happens on the API server, gives every Job its turn, and carries out what comes of it.
//!
//! One task holds all Jobs. Requests run beside it, at most one a Job, and their answers come back as events; a Job whose
//! request is under way waits.

mod call;
mod hear;
mod job;
mod pods;
mod turn;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use jobflow_core::Time;
use jobflow_core::gang::{Command, PodKey};
use jobflow_k8s::types::Job as JobObject;
use jobflow_local::pod::addresses::{AddressBook, Range};
use kube::Client;
use kube::core::{DynamicObject, PartialObjectMeta};
use kube::runtime::watcher;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::clock::Clock;
use crate::fault::Fault;
use crate::lead::{News, Proposal};
use crate::options::Options;
use crate::processes::Yards;
use crate::volcano::Complaints;
use call::Call;
use job::Job;
pub(crate) use watch::queues;

type PodMeta = PartialObjectMeta<k8s_openapi::api::core::v1::Pod>;
type Events = Pin<Box<dyn Stream<Item = Event> + Send>>;

/// What the loop hears from outside.
enum Event {
    Job(watcher::Event<JobObject>),
    Command(watcher::Event<DynamicObject>),
    Queue(watcher::Event<DynamicObject>),
    Pod(watcher::Event<PodMeta>),
    /// What became of a Job that runs as processes.
    Told(String, News),
}

/// What came of a request.
enum Done {
    /// The status of a Job was written, or not.
    Status {
        uid: String,
        proposal: Proposal,
        answer: call::Answer,
    },
    /// Pods of a Job were made, changed and told to go.
    Pods {
        uid: String,
        outcomes: Vec<(PodKey, pods::Outcome)>,
    },
    /// A Command is gone, and may be acted on.
    Commanded {
        namespace: String,
        job: String,
        command: Command,
    },
    /// Nothing that anybody waits for.
    Nothing,
}

/// The stand-in at work.
pub(crate) struct Engine {
    call: Call,
    options: Options,
    clock: Clock,
    complaints: Complaints,
    events: Events,
    requests: JoinSet<Done>,
    jobs: BTreeMap<String, Job>,
    /// The UID of the Job of that namespace and name.
    names: BTreeMap<(String, String), String>,
    /// Jobs whose turn it is.
    ready: BTreeSet<String>,
    /// When it is whose turn by itself; of each Job, once.
    due: BTreeSet<(Time, String)>,
    queues: BTreeSet<String>,
    /// The addresses of pods that run as processes.
    addresses: AddressBook,
    /// Where Jobs run as processes, if they do.
    yards: Option<Yards>,
    /// UIDs of Jobs that the present list has named so far.
    listed: BTreeSet<String>,
}

/// Looks at queues, so that no Job is judged before they are known.
pub(crate) async fn start(client: Client, options: Options, complaints: Complaints) -> Result<Engine, Fault> {
    let queues = call::queues(&client).await?;
    let (news, told) = mpsc::unbounded_channel();
    let processes = options.processes.clone();
    let network = processes.as_ref().and_then(|processes| processes.network);
    Ok(Engine {
        addresses: AddressBook::of(network.map_or(Range::FIRST, Range::of_network)),
        yards: processes.map(|processes| Yards::new(processes, news, complaints.clone())),
        events: watch::events(&client, &options, told),
        call: Call::new(client, Arc::new(Semaphore::new(options.requests.max(1)))),
        clock: Clock::new(options.speed),
        options,
        complaints,
        requests: JoinSet::new(),
        jobs: BTreeMap::new(),
        names: BTreeMap::new(),
        ready: BTreeSet::new(),
        due: BTreeSet::new(),
        queues,
        listed: BTreeSet::new(),
    })
}

impl Engine {
    /// Works until it is dropped.
    pub(crate) async fn run(mut self) {
        loop {
            self.give_turns();
            let pause = self.due.first().map(|(at, _)| self.clock.until(*at));
            tokio::select! {
                Some(event) = self.events.next() => self.hear(event),
                Some(done) = self.requests.join_next(), if !self.requests.is_empty() => self.finish(done.ok()),
                () = sleep(pause.unwrap_or_default()), if pause.is_some() => {}
                else => return,
            }
        }
    }

    /// Everybody whose time has come, and everybody of whom something was heard.
    fn give_turns(&mut self) {
        let now = self.clock.now();
        while let Some((_, uid)) = self.due.pop_first_if(now) {
            self.ready.insert(uid);
        }
        for uid in std::mem::take(&mut self.ready) {
            self.turn(&uid, now);
        }
    }
}

/// Takes the first that is due.
trait PopDue {
    fn pop_first_if(&mut self, now: Time) -> Option<(Time, String)>;
}

impl PopDue for BTreeSet<(Time, String)> {
    fn pop_first_if(&mut self, now: Time) -> Option<(Time, String)> {
        self.first().filter(|(at, _)| *at <= now)?;
        self.pop_first()
    }
}
