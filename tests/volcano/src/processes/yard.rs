//! The Jobs of one namespace as processes: a thread that hears orders and the executor, and tells what becomes of Jobs.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jobflow_core::{JobKey, NodeId, Time};
use jobflow_local::client::{Client, ClientError, Launch, Message};
use jobflow_local::host::{Ask, ContainerKey, Host, JobPlan, Round};
use jobflow_local::kit::{Kit, KitSettings, Prepared};
use jobflow_local::pod::addresses::Addresses;
use jobflow_local::pod::config::ConfigObjects;
use jobflow_local::pod::identity::JobIdentity;
use jobflow_local::pod::inherited::Inherit;
use jobflow_local::resources::Machine;
use jobflow_local::rundir::{Identity, RunDir, RunId, RunRecord, StateRoot};
use jobflow_local::task::TaskSpec;
use rustix::process::Signal;
use tokio::sync::mpsc::UnboundedSender;

use super::{Order, Processes, Run};
use crate::lead::News;
use crate::volcano::Complaints;

/// How long it takes at most until an order is heard.
const TICK: Duration = Duration::from_millis(10);

/// Why nothing can run any more.
pub(super) type Broken = Box<dyn std::error::Error + Send + Sync>;

struct Held {
    uid: String,
    prepared: Prepared,
    addresses: Addresses,
}

/// The yard.
pub(super) struct Yard {
    /// Held, since nobody else may decide for it meanwhile.
    run: RunDir,
    launch: Launch,
    kit: Kit,
    client: Client,
    /// How far the executor's journal was heard.
    offset: u64,
    host: Host,
    held: BTreeMap<JobKey, Held>,
    keys: BTreeMap<String, JobKey>,
    made: u32,
    news: UnboundedSender<(String, News)>,
    complaints: Complaints,
}

impl Yard {
    /// Opens one for a namespace, in a new folder below that of all.
    pub(super) fn open(
        processes: &Processes,
        namespace: &str,
        news: UnboundedSender<(String, News)>,
        complaints: Complaints,
    ) -> Result<Self, Broken> {
        let Processes {
            folder: root,
            program,
            network: _,
            inherit,
        } = processes;
        let run = new_folder(root, namespace)?;
        let folder = run.path().to_owned();
        let launch = Processes::launch(program);
        let mut client = Client::connect_or_launch(&folder, &launch)?;
        client.watch(0)?;
        let settings = KitSettings {
            work: folder.clone(),
            inherit: Inherit::Named(inherit.clone()),
            enter: vec![program.display().to_string(), "__enter".to_owned()],
            ..KitSettings::default()
        };
        let machine = Machine::of_this_system();
        let kit = Kit::new(&folder, &settings, ConfigObjects::default(), &machine, true);
        Ok(Self {
            run,
            launch,
            kit,
            client,
            offset: 0,
            host: Host::default(),
            held: BTreeMap::new(),
            keys: BTreeMap::new(),
            made: 0,
            news,
            complaints,
        })
    }

    /// Works until nobody gives orders any more, and ends what runs then.
    pub(super) fn work(mut self, orders: &Receiver<Order>) -> Result<(), Broken> {
        loop {
            loop {
                match orders.try_recv() {
                    Ok(order) => self.obey(order),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Ok(self.client.shut_down(Duration::ZERO)?),
                }
            }
            let round = self.host.round(now());
            self.carry_out(round)?;
            self.hear()?;
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Run(run) => self.run(*run),
            Order::Command(uid, command) => self.with(&uid, |host, key| host.command(key, command)),
            Order::Evict(uid) => self.with(&uid, Host::evict),
            Order::Delete(uid) => {
                self.with(&uid, Host::delete);
                self.keys.remove(&uid);
            }
        }
    }

    fn with(&mut self, uid: &str, act: impl FnOnce(&mut Host, JobKey)) {
        if let Some(key) = self.keys.get(uid) {
            act(&mut self.host, *key);
        }
    }

    /// A Job that can't be run here stays as Volcano leaves one that it can't schedule.
    fn run(&mut self, run: Run) {
        let identity = JobIdentity {
            name: run.name.clone(),
            namespace: run.namespace,
            uid: run.uid.clone(),
            queue: run.view.queue.clone(),
        };
        let prepared = match self.kit.prepare(&run.name, identity, &run.spec, &run.view) {
            Ok(prepared) => prepared,
            Err(faults) => {
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                let faults = faults.join("; ");
                return self
                    .complaints
                    .add(format!("the Job `{}` can't run here: {faults}", run.name));
            }
        };
        let key = JobKey {
            node: NodeId(self.made),
            index: 0,
            attempt: 1,
        };
        self.made += 1;
        let plan = JobPlan {
            name: run.name,
            uid: run.uid.clone(),
            pods: prepared.pods(),
        };
        self.keys.insert(run.uid.clone(), key);
        self.held.insert(
            key,
            Held {
                uid: run.uid,
                prepared,
                addresses: run.addresses,
            },
        );
        self.host.create(key, plan, run.view.gang(), now());
    }

    /// A gang gets its place after its first look, as soon as it is seen to wait for it.
    fn carry_out(&mut self, round: Round) -> Result<(), ClientError> {
        let Round {
            changed,
            asks,
            wake_at: _,
        } = round;
        for key in changed {
            self.tell(key);
            self.host.admit(key, true);
        }
        for ask in asks {
            self.ask(&ask)?;
        }
        let host = &self.host;
        self.held.retain(|key, _| host.job(*key).is_some());
        Ok(())
    }

    /// Nobody listens any more when the stand-in is about to end.
    fn tell(&self, key: JobKey) {
        let (Some(job), Some(held)) = (self.host.job(key), self.held.get(&key)) else {
            return;
        };
        let news = News {
            gang: job.gang().clone(),
            pods: job.pods().collect(),
        };
        let _heard = self.news.send((held.uid.clone(), news));
    }

    fn ask(&mut self, ask: &Ask) -> Result<(), ClientError> {
        let asked = match ask {
            Ask::Start(key) => match self.task(*key) {
                Some(spec) => self
                    .client
                    .start(key.task().map_err(std::io::Error::other)?, spec),
                None => return Ok(()),
            },
            Ask::Stop(key, grace) => {
                let key = key.task().map_err(std::io::Error::other)?;
                self.client.stop(key, Signal::TERM.as_raw(), Some(*grace))
            }
        };
        match asked {
            Err(ClientError::ExecutorGone) => self.replace_executor(),
            other => other,
        }
    }

    fn task(&self, key: ContainerKey) -> Option<TaskSpec> {
        let (job, held) = (self.host.job(key.job)?, self.held.get(&key.job)?);
        let version = job.gang().version_of(key.pod).unwrap_or_default();
        let retries = job.gang().status.retry_count;
        Some(held.prepared.task(key, version, retries, held.addresses))
    }

    /// At least one message, unless a tick goes by.
    fn hear(&mut self) -> Result<(), ClientError> {
        let mut timeout = TICK;
        loop {
            match self.client.next(timeout) {
                Ok(Some(Message::Line(line, next))) => {
                    self.host.hear(&line);
                    self.offset = next;
                }
                Ok(Some(Message::Blocked(_) | Message::State(..))) => {}
                Ok(None) => return Ok(()),
                Err(ClientError::ExecutorGone) => return self.replace_executor(),
                Err(other) => return Err(other),
            }
            timeout = Duration::ZERO;
        }
    }

    /// One that had nothing to do leaves; what ran under one that was killed is lost.
    fn replace_executor(&mut self) -> Result<(), ClientError> {
        self.client = Client::connect_or_launch(self.run.path(), &self.launch)?;
        self.client.watch(self.offset)
    }
}

fn new_folder(root: &Path, namespace: &str) -> Result<RunDir, Broken> {
    fs::create_dir_all(root)?;
    let mut token = [0_u8; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut token)?;
    let token: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    let created = now().0;
    let record = RunRecord {
        id: RunId::new(namespace, created, &token[..6])?,
        flow: namespace.to_owned(),
        created,
        identity: Identity::of_this_process(),
    };
    Ok(StateRoot::at(root.canonicalize()?).create(record, &token)?)
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
