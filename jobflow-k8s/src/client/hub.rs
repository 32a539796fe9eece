//! Everything that the tasks of a running driver share: what the watches have shown, the flows, and who is next.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jobflow_core::Time;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::cell::{Cell, Parked, locked};
use super::extensions::Extensions;
use super::flow::{Input, Stepped, Surroundings};
use super::guard::Poison;
use super::job_queues::JobQueues;
use super::observer::{Finding, FlowRef, Observer};
use super::pods::{self, Place, Pods};
use super::progress::Progress;
use super::queue::FairQueue;
use super::rival::rival;
use super::run::Clock;
use super::settings::Settings;
use super::uses::{Template, Uses};
use super::watch::Shown;
use crate::frozen;
use crate::names::{CREATED_BY_TEMPLATE, is_dns_subdomain};
use crate::observe::{SlimJob, SlimPod, SlimQueue, SlimTemplate};
use crate::schema::Schemas;
use crate::types::{FLOW_GROUP, JobFlow, JobFlowSpec};

type Jobs = BTreeMap<String, Arc<SlimJob>>;

/// A flow as a Job names its owner: the Job's own namespace, and the UID. A Job may name the UID of any flow; an owner is
/// in its namespace.
type Owner = (String, String);

/// What the sender of requests is told.
#[derive(Debug)]
pub(super) enum Order {
    /// A flow was planned.
    Stepped(Arc<Cell>, Stepped),
    /// A flow is to be looked at, but not before.
    Later(Arc<Cell>, Instant),
    /// A flow, of this namespace and UID, is gone.
    Forgotten(String, String),
}

/// Built once for all drivers of a process: a new term need not wait for it.
static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::new);

/// What is shared.
pub(super) struct Hub {
    pub(super) settings: Settings,
    pub(super) extensions: Extensions,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) clock: Clock,
    pub(super) orders: mpsc::UnboundedSender<Order>,
    schema_keeps: AtomicBool,
    progress: Progress,
    started: AtomicBool,
    flows: RwLock<BTreeMap<String, Arc<Cell>>>,
    /// Jobs by the flow that owns them, then by their own UID.
    jobs: RwLock<BTreeMap<Owner, Jobs>>,
    templates: RwLock<BTreeMap<(String, String), Arc<SlimTemplate>>>,
    /// Frozen templates by the flow that owns them, then by name.
    frozen: RwLock<BTreeMap<Owner, BTreeMap<String, Arc<SlimTemplate>>>>,
    /// The flow that owns a Job, by the Job's UID.
    owners: RwLock<BTreeMap<String, Owner>>,
    pods: Mutex<Pods>,
    job_queues: Mutex<JobQueues>,
    uses: Mutex<Uses>,
    queue: Mutex<FairQueue>,
    ready: Notify,
    began: Instant,
}

impl Hub {
    pub(super) fn new(
        settings: Settings,
        extensions: Extensions,
        observer: Arc<dyn Observer>,
        clock: Clock,
        progress: Progress,
        orders: mpsc::UnboundedSender<Order>,
    ) -> Self {
        Self {
            settings,
            extensions,
            observer,
            clock,
            orders,
            schema_keeps: AtomicBool::new(false),
            progress,
            started: AtomicBool::new(false),
            flows: RwLock::default(),
            jobs: RwLock::default(),
            templates: RwLock::default(),
            frozen: RwLock::default(),
            owners: RwLock::default(),
            pods: Mutex::default(),
            job_queues: Mutex::default(),
            uses: Mutex::default(),
            queue: Mutex::default(),
            ready: Notify::new(),
            began: Instant::now(),
        }
    }

    fn now(&self) -> Time {
        (self.clock)()
    }

    /// Plans flows as they come, for ever.
    pub(super) async fn work(&self) {
        loop {
            let next = locked(&self.queue).pop();
            let Some(uid) = next else {
                self.ready.notified().await;
                continue;
            };
            if let Some(cell) = self.cell(&uid) {
                self.work_on(&cell);
            }
            locked(&self.queue).done(&uid);
            self.ready.notify_one();
            tokio::task::yield_now().await;
        }
    }

    fn work_on(&self, cell: &Arc<Cell>) {
        if let Some(until) = cell.resting() {
            return self.look_at_resting(cell, until);
        }
        let began = std::time::Instant::now();
        let queues = cell.queues();
        match catch_unwind(AssertUnwindSafe(|| self.step(cell))) {
            Ok(Some(stepped)) => {
                // One that came or went meanwhile was not told to a flow of which nobody knew that it asks.
                for queue in cell.queues().difference(&queues) {
                    self.deliver(cell, Input::Queue(Arc::clone(queue)));
                }
                self.observer.reconciled(cell.flow(), began.elapsed());
                // Nobody listens any more when the run has ended.
                let _ = self.orders.send(Order::Stepped(Arc::clone(cell), stepped));
            }
            Ok(None) => {}
            Err(panic) => self.park(cell, &*panic),
        }
    }

    /// Something has arrived for a flow of which nothing is known any more, or is due.
    fn look_at_resting(&self, cell: &Arc<Cell>, until: Option<Time>) {
        let now = self.now();
        let news = cell.take().iter().any(|input| cell.is_roused_by(input));
        if news || until.is_some_and(|until| until <= now) {
            cell.rouse(now);
            return self.introduce(cell);
        }
        let Some(until) = until else { return };
        let stepped = Stepped {
            wake_at: Some(until),
            ..Stepped::default()
        };
        let _ = self.orders.send(Order::Stepped(Arc::clone(cell), stepped));
    }

    fn step(&self, cell: &Cell) -> Option<Stepped> {
        let mut guard = cell.driver();
        let driver = guard.as_mut()?;
        let templates = |name: &str| self.template(&cell.asker.namespace, name);
        let queues = |name: &str| locked(&self.job_queues).takes_jobs(name);
        let is_alive = |uid: &str| read(&self.flows).contains_key(uid);
        let around = Surroundings {
            settings: &self.settings,
            schemas: &SCHEMAS,
            templates: &templates,
            queues: &queues,
            is_alive: &is_alive,
            extensions: &self.extensions,
            schema_keeps: &self.schema_keeps,
            observer: &*self.observer,
        };
        let now = self.now();
        for input in cell.take() {
            driver.receive(input, &around, now);
        }
        let stepped = driver.step(&around, now);
        cell.note(driver);
        if driver.is_at_rest(&stepped, now) && cell.rest(&mut guard, stepped.wake_at) {
            self.observer.rests(cell.flow());
        }
        Some(stepped)
    }

    /// A flow that made the program panic is left alone until its spec changes; others go on.
    fn park(&self, cell: &Cell, panic: &(dyn std::any::Any + Send)) {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        let generation = cell.driver().as_ref().and_then(|driver| driver.generation());
        cell.park(Parked::Panicked(generation.unwrap_or(0)));
        let finding = Finding::Panicked(words.unwrap_or("no words").to_owned());
        self.observer.found(cell.flow(), &finding);
    }

    pub(super) fn cell(&self, uid: &str) -> Option<Arc<Cell>> {
        read(&self.flows).get(uid).map(Arc::clone)
    }

    /// The flow that a Job names as its owner.
    fn cell_of(&self, (namespace, uid): &Owner) -> Option<Arc<Cell>> {
        self.cell(uid).filter(|cell| cell.asker.namespace == *namespace)
    }

    fn template(&self, namespace: &str, name: &str) -> Option<Arc<SlimTemplate>> {
        let key = (namespace.to_owned(), name.to_owned());
        read(&self.templates).get(&key).map(Arc::clone)
    }

    /// Something arrived for a flow. Answers are looked at at once, what watches show as often as a flow may be.
    pub(super) fn deliver(&self, cell: &Arc<Cell>, input: Input) {
        let answer = matches!(input, Input::Answered(..));
        cell.put(input);
        if !self.is_started() {
            return;
        }
        match cell.spend().filter(|_| !answer) {
            None => self.wake(cell),
            Some(at) => {
                let _ = self.orders.send(Order::Later(Arc::clone(cell), at));
            }
        }
    }

    /// Whether flows are planned.
    pub(super) fn is_started(&self) -> bool {
        self.started.load(Ordering::Acquire)
    }

    /// Lets a flow be planned when it is its turn.
    pub(super) fn wake(&self, cell: &Cell) {
        let depth = {
            let mut queue = locked(&self.queue);
            queue.push(&cell.asker.namespace, &cell.uid);
            queue.len()
        };
        self.observer.queued(depth);
        self.ready.notify_one();
    }

    /// Once every watch has shown a whole list, flows are planned; never before.
    fn start_if_synced(&self) {
        if !self.is_started() && self.progress.is_synced() && !self.started.swap(true, Ordering::AcqRel) {
            let cells: Vec<Arc<Cell>> = read(&self.flows).values().map(Arc::clone).collect();
            cells.iter().for_each(|cell| self.wake(cell));
        }
    }

    pub(super) fn flow(&self, scope: Option<&str>, shown: Shown<JobFlow>) {
        match shown {
            Shown::There(flow) => self.flow_there(flow),
            Shown::Unreadable(poison) => self.flow_unreadable(&poison),
            Shown::Gone(flow) => self.flow_gone(flow.metadata.uid.as_deref().unwrap_or_default()),
            Shown::UnreadableGone(poison) => {
                self.flow_gone(poison.metadata.uid.as_deref().unwrap_or_default())
            }
            Shown::NotListed => {}
            Shown::Listed(uids) => {
                let gone: Vec<String> = read(&self.flows)
                    .iter()
                    .filter(|(uid, cell)| in_scope(scope, &cell.asker.namespace) && !uids.contains(*uid))
                    .map(|(uid, _)| uid.clone())
                    .collect();
                gone.iter().for_each(|uid| self.flow_gone(uid));
                self.start_if_synced();
            }
        }
    }

    fn flow_there(&self, mut flow: JobFlow) {
        let rival = rival(&flow.metadata).map(str::to_owned);
        flow.metadata.managed_fields = None;
        let uid = flow.metadata.uid.clone().unwrap_or_default();
        if !self
            .settings
            .covers(flow.metadata.namespace.as_deref().unwrap_or_default())
        {
            return;
        }
        if let Some(rival) = rival {
            let (namespace, name) = (flow.metadata.namespace.as_deref(), flow.metadata.name.as_deref());
            let flow = FlowRef {
                namespace: namespace.unwrap_or_default(),
                name: name.unwrap_or_default(),
                uid: &uid,
            };
            self.observer.overwritten(flow, &rival);
        }
        let flow = Arc::new(flow);
        let Some(cell) = self.cell(&uid) else {
            let cell = Arc::new(Cell::new(flow, self.now()));
            write(&self.flows).insert(uid, Arc::clone(&cell));
            return self.introduce(&cell);
        };
        if cell.unpark(&flow, self.now()) {
            self.observer.cleared(cell.flow());
            return self.introduce(&cell);
        }
        if !cell.knows(&flow) {
            self.deliver(&cell, Input::Flow(flow));
        }
    }

    /// Tells a flow that is new here which Jobs and frozen templates it owns, and what the pods of the Jobs tell.
    fn introduce(&self, cell: &Arc<Cell>) {
        let owner = (cell.asker.namespace.clone(), cell.uid.clone());
        let frozen = read(&self.frozen).get(&owner).cloned().unwrap_or_default();
        frozen
            .into_values()
            .for_each(|template| cell.put(Input::Frozen(template)));
        let jobs = read(&self.jobs)
            .get(&owner)
            .map(|jobs| jobs.values().map(Arc::clone).collect());
        let jobs: Vec<Arc<SlimJob>> = jobs.unwrap_or_default();
        for job in &jobs {
            if let Some(pods) = locked(&self.pods).seen(job) {
                cell.put(Input::Pods(job.uid().to_owned(), Arc::new(pods)));
            }
        }
        self.deliver(cell, Input::Relisted(jobs));
    }

    pub(super) fn pod(&self, scope: Option<&str>, shown: Shown<SlimPod>) {
        let changed = match shown {
            Shown::There(pod) => locked(&self.pods).there(pod).into_iter().collect(),
            Shown::Gone(pod) => self.pod_gone(&pod),
            Shown::Unreadable(_) | Shown::UnreadableGone(_) => Vec::new(),
            Shown::Listed(uids) => locked(&self.pods).listed(|pod| {
                let (namespace, uid) = (pod.metadata.namespace.as_deref(), pod.metadata.uid.as_ref());
                !in_scope(scope, namespace.unwrap_or_default()) || uid.is_some_and(|uid| uids.contains(uid))
            }),
            Shown::NotListed => Vec::new(),
        };
        changed.iter().for_each(|job| self.pods_changed(job));
        self.start_if_synced();
    }

    fn pod_gone(&self, pod: &SlimPod) -> Vec<Place> {
        let job = pods::job_of(pod).and_then(|place| self.job_at(&place));
        let gone = locked(&self.pods).gone(pod, job.as_deref());
        gone.into_iter().collect()
    }

    /// What somebody finds out about a Job of a flow and its pods.
    pub(super) fn pods_of<T>(
        &self,
        flow: &str,
        job: &str,
        find: impl FnOnce(&SlimJob, &mut dyn Iterator<Item = &SlimPod>) -> T,
    ) -> Option<T> {
        let job = self.job_of(job).filter(|job| {
            let owner = owner(job);
            owner.is_some_and(|(_, uid)| uid == flow)
        })?;
        let pods = locked(&self.pods);
        Some(find(&job, &mut pods.of(&job)))
    }

    fn job_of(&self, uid: &str) -> Option<Arc<SlimJob>> {
        let owner = read(&self.owners).get(uid).cloned()?;
        read(&self.jobs).get(&owner)?.get(uid).map(Arc::clone)
    }

    fn job_at(&self, (namespace, uid): &Place) -> Option<Arc<SlimJob>> {
        let is_there = |job: &Arc<SlimJob>| job.metadata.namespace.as_ref() == Some(namespace);
        self.job_of(uid).filter(is_there)
    }

    /// Tells the flow, if the Job is a flow's.
    fn pods_changed(&self, place: &Place) {
        let Some(job) = self.job_at(place) else { return };
        let pods = locked(&self.pods).seen(&job);
        let cell = owner(&job).and_then(|owner| self.cell_of(&owner));
        if let Some((cell, pods)) = cell.zip(pods) {
            self.deliver(&cell, Input::Pods(job.uid().to_owned(), Arc::new(pods)));
        }
    }

    fn flow_unreadable(&self, poison: &Poison) {
        let mut flow = JobFlow::new("", JobFlowSpec::default());
        flow.metadata = poison.metadata.clone();
        if !self
            .settings
            .covers(flow.metadata.namespace.as_deref().unwrap_or_default())
        {
            return;
        }
        let uid = flow.metadata.uid.clone().unwrap_or_default();
        let cell = self.cell(&uid).unwrap_or_else(|| {
            let cell = Arc::new(Cell::left_alone(&flow));
            write(&self.flows).insert(uid, Arc::clone(&cell));
            cell
        });
        cell.park(Parked::Unreadable);
        self.observer
            .found(cell.flow(), &Finding::Unreadable(poison.error.clone()));
    }

    fn flow_gone(&self, uid: &str) {
        let gone = write(&self.flows).remove(uid);
        if let Some(cell) = gone {
            self.observer.forgotten(cell.flow());
            let forgotten = Order::Forgotten(cell.asker.namespace.clone(), uid.to_owned());
            let _ = self.orders.send(forgotten);
        }
    }

    pub(super) fn job(&self, scope: Option<&str>, shown: Shown<SlimJob>) {
        match shown {
            Shown::There(job) => self.job_there(job),
            Shown::Unreadable(poison) => self.job_unreadable(&poison),
            Shown::Gone(job) => self.job_gone(&Arc::new(job)),
            Shown::UnreadableGone(_) | Shown::NotListed => {}
            Shown::Listed(uids) => {
                self.jobs_listed(scope, &uids);
                self.start_if_synced();
            }
        }
    }

    fn job_there(&self, job: SlimJob) {
        let Some(owner) = owner(&job) else {
            return;
        };
        if !self
            .settings
            .covers(job.metadata.namespace.as_deref().unwrap_or_default())
        {
            return;
        }
        let job = Arc::new(job);
        write(&self.jobs)
            .entry(owner.clone())
            .or_default()
            .insert(job.uid().to_owned(), Arc::clone(&job));
        write(&self.owners).insert(job.uid().to_owned(), owner.clone());
        if let Some(template) = template_of(&job) {
            let created = job.created().unwrap_or_default();
            locked(&self.uses).there(template, created, job.name(), self.began.elapsed());
        }
        if let Some(cell) = self.cell_of(&owner) {
            let uid = job.uid().to_owned();
            if let Some(pods) = locked(&self.pods).seen(&job) {
                cell.put(Input::Pods(uid, Arc::new(pods)));
            }
            self.deliver(&cell, Input::Job(job));
        }
    }

    /// A Job that can't be read: the flow that owns it can't go on past it, others can.
    fn job_unreadable(&self, poison: &Poison) {
        let Some(cell) = flow_of(&poison.metadata).and_then(|owner| self.cell_of(&owner)) else {
            return;
        };
        let name = poison.metadata.name.as_deref().unwrap_or_default();
        let finding = Finding::Unreadable(format!("Job `{name}`: {}", poison.error));
        self.observer.found(cell.flow(), &finding);
    }

    fn job_gone(&self, job: &Arc<SlimJob>) {
        let Some(owner) = owner(job) else { return };
        let mut all = write(&self.jobs);
        if let Some(jobs) = all.get_mut(&owner) {
            jobs.remove(job.uid());
            if jobs.is_empty() {
                all.remove(&owner);
            }
        }
        drop(all);
        self.unused(job);
        if let Some(cell) = self.cell_of(&owner) {
            self.deliver(&cell, Input::JobGone(Arc::clone(job)));
        }
    }

    fn unused(&self, job: &SlimJob) {
        write(&self.owners).remove(job.uid());
        locked(&self.pods).forget(job);
        if let Some(template) = template_of(job) {
            let created = job.created().unwrap_or_default();
            locked(&self.uses).gone(template, created, job.name(), self.began.elapsed());
        }
    }

    /// The lists of templates that may be written now and aren't there yet.
    pub(super) fn template_lists(&self) -> Vec<(Template, Vec<String>)> {
        if self.settings.dry_run || !self.is_started() {
            return Vec::new();
        }
        let mut lists = locked(&self.uses).take(self.began.elapsed());
        lists.retain(|((namespace, name), list)| {
            let written = |template: &SlimTemplate| {
                let status = template.status.as_ref();
                status
                    .and_then(|status| status.job_depends_on_list.clone())
                    .unwrap_or_default()
            };
            self.template(namespace, name)
                .is_some_and(|template| written(&template) != *list)
        });
        lists
    }

    /// When the next list may be written.
    pub(super) fn next_list(&self) -> Option<Instant> {
        locked(&self.uses).next().map(|at| self.began + at)
    }

    /// A list couldn't be written.
    pub(super) fn list_failed(&self, template: Template) {
        locked(&self.uses).change(template, self.began.elapsed());
    }

    /// Flows are told all that is there now, so that they look for what isn't.
    fn jobs_listed(&self, scope: Option<&str>, uids: &BTreeSet<String>) {
        let mut gone = Vec::new();
        write(&self.jobs).retain(|_, jobs| {
            let stays = |job: &SlimJob| {
                let namespace = job.metadata.namespace.as_deref().unwrap_or_default();
                !in_scope(scope, namespace) || uids.contains(job.uid())
            };
            gone.extend(jobs.values().filter(|job| !stays(job)).map(Arc::clone));
            jobs.retain(|_, job| stays(job));
            !jobs.is_empty()
        });
        gone.iter().for_each(|job| self.unused(job));
        let cells: Vec<Arc<Cell>> = read(&self.flows).values().map(Arc::clone).collect();
        let here = cells.iter().filter(|cell| in_scope(scope, &cell.asker.namespace));
        here.for_each(|cell| self.introduce(cell));
    }

    pub(super) fn template_shown(&self, scope: Option<&str>, shown: Shown<SlimTemplate>) {
        match shown {
            Shown::There(template) => self.template_there(template),
            Shown::Unreadable(poison) | Shown::UnreadableGone(poison) => {
                let (namespace, name) = (poison.metadata.namespace, poison.metadata.name);
                self.template_gone(namespace.unwrap_or_default(), name.unwrap_or_default());
            }
            Shown::Gone(template) => {
                let (namespace, name) = names(&template);
                self.template_gone(namespace, name);
            }
            Shown::NotListed => {}
            Shown::Listed(uids) => {
                let is_gone = |template: &SlimTemplate| {
                    template
                        .metadata
                        .uid
                        .as_ref()
                        .is_none_or(|uid| !uids.contains(uid))
                };
                let gone: Vec<(String, String)> = read(&self.templates)
                    .iter()
                    .filter(|((namespace, _), template)| in_scope(scope, namespace) && is_gone(template))
                    .map(|(key, _)| key.clone())
                    .collect();
                gone.into_iter()
                    .for_each(|(namespace, name)| self.template_gone(namespace, name));
                self.start_if_synced();
            }
        }
    }

    pub(super) fn job_queue(&self, shown: Shown<SlimQueue>) {
        let changed = match shown {
            Shown::There(queue) => locked(&self.job_queues).there(queue),
            Shown::Gone(queue) => locked(&self.job_queues).gone(queue.metadata.name.as_deref()),
            Shown::UnreadableGone(poison) => locked(&self.job_queues).gone(poison.metadata.name.as_deref()),
            Shown::Unreadable(_) => None,
            Shown::NotListed => return self.start_if_synced(),
            Shown::Listed(uids) => {
                locked(&self.job_queues).listed(&uids);
                self.job_queues_changed(|_| true);
                return self.start_if_synced();
            }
        };
        if let Some(name) = changed {
            self.job_queues_changed(|queue| *queue == *name);
        }
    }

    /// Tells flows of the queues that they have asked about.
    fn job_queues_changed(&self, is_changed: impl Fn(&str) -> bool) {
        let cells: Vec<Arc<Cell>> = read(&self.flows).values().map(Arc::clone).collect();
        for cell in cells {
            for queue in cell.queues().iter().filter(|queue| is_changed(queue)) {
                self.deliver(&cell, Input::Queue(Arc::clone(queue)));
            }
        }
    }

    fn template_there(&self, template: SlimTemplate) {
        let key = names(&template);
        let template = Arc::new(template);
        let before = write(&self.templates).insert(key.clone(), Arc::clone(&template));
        if let Some(before) = before
            .as_ref()
            .filter(|before| frozen_for(before) != frozen_for(&template))
        {
            self.frozen_gone(before);
        }
        self.frozen_there(&template);
        let now = read(&self.templates).get(&key).map(Arc::clone);
        if !before
            .zip(now)
            .is_some_and(|(before, now)| makes_the_same(&before, &now))
        {
            self.template_changed(&key.0, &key.1);
        }
    }

    fn template_gone(&self, namespace: String, name: String) {
        let key = (namespace, name);
        let gone = write(&self.templates).remove(&key);
        if let Some(template) = gone {
            self.frozen_gone(&template);
            self.template_changed(&key.0, &key.1);
        }
    }

    fn frozen_there(&self, template: &Arc<SlimTemplate>) {
        let Some(owner) = frozen_for(template) else {
            return;
        };
        let name = names(template).1;
        write(&self.frozen)
            .entry(owner.clone())
            .or_default()
            .insert(name, Arc::clone(template));
        if let Some(cell) = self.cell_of(&owner) {
            self.deliver(&cell, Input::Frozen(Arc::clone(template)));
        }
    }

    fn frozen_gone(&self, template: &SlimTemplate) {
        let Some(owner) = frozen_for(template) else {
            return;
        };
        let name = names(template).1;
        let mut all = write(&self.frozen);
        if let Some(frozen) = all.get_mut(&owner) {
            frozen.remove(&name);
            if frozen.is_empty() {
                all.remove(&owner);
            }
        }
        drop(all);
        if let Some(cell) = self.cell_of(&owner) {
            self.deliver(&cell, Input::FrozenGone(name));
        }
    }

    fn template_changed(&self, namespace: &str, name: &str) {
        let flows = read(&self.flows);
        let using = flows
            .values()
            .filter(|cell| cell.asker.namespace == namespace && cell.uses_template(name));
        let using: Vec<Arc<Cell>> = using.map(Arc::clone).collect();
        drop(flows);
        for cell in using {
            self.deliver(&cell, Input::Template(name.to_owned()));
        }
    }
}

fn in_scope(scope: Option<&str>, namespace: &str) -> bool {
    scope.is_none_or(|scope| scope == namespace)
}

fn names(template: &SlimTemplate) -> (String, String) {
    let metadata = template.meta();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    (text(&metadata.namespace), text(&metadata.name))
}

/// Whether Jobs made from both are the same; a status doesn't go into them.
fn makes_the_same(one: &SlimTemplate, other: &SlimTemplate) -> bool {
    let (first, second) = (&one.metadata, &other.metadata);
    first.uid == second.uid
        && first.generation == second.generation
        && first.labels == second.labels
        && first.annotations == second.annotations
        && one.spec == other.spec
}

/// The template that a Job says it was made from. The namespace is known, and has no dots: nothing is guessed.
fn template_of(job: &SlimJob) -> Option<Template> {
    let namespace = job.metadata.namespace.as_deref()?;
    let made_from = job.metadata.annotations.as_ref()?.get(CREATED_BY_TEMPLATE)?;
    let name = made_from.strip_prefix(namespace)?.strip_prefix('.')?;
    is_dns_subdomain(name).then(|| (namespace.to_owned(), name.to_owned()))
}

/// The flow that a template says it was frozen for.
fn frozen_for(template: &SlimTemplate) -> Option<Owner> {
    let uid = frozen::flow_of(&template.metadata)?;
    Some((names(template).0, uid.to_owned()))
}

/// The flow that a Job says it is owned by.
fn owner(job: &SlimJob) -> Option<Owner> {
    flow_of(&job.metadata)
}

fn flow_of(metadata: &ObjectMeta) -> Option<Owner> {
    let mut owners = metadata.owner_references.iter().flatten();
    let ours = |group: &str| group.split('/').next() == Some(FLOW_GROUP);
    let flow = owners.find(|owner| {
        owner.controller == Some(true) && owner.kind == "JobFlow" && ours(&owner.api_version)
    })?;
    Some((metadata.namespace.clone().unwrap_or_default(), flow.uid.clone()))
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
