//! One flow, without IO: what arrives goes in, requests come out.
//!
//! ```text
//!   Input ──► receive() ─┐                       ┌─► Request ──► (sent by the caller) ──► Response ─┐
//!                        ├─► step(): read, plan, ┤                                                  │
//!   time  ──────────────┘    write, then act     └─► wake_at                                        │
//!                        ▲                                                                          │
//!                        └───────────────────────────── Input::Answered ◄───────────────────────────┘
//! ```
//!
//! Every decision about the flow is the core's; here is only the order of things: the flow is read live before it is
//! touched, a record is written before anything follows from it, and an answer is never taken for more than it says.
//! Deliberately absent: network, clock, async, other flows.

mod act;
mod answered;
mod base;
mod decide;
mod frozen;
mod holds;
mod jobs;
mod prepare;
mod probes;
mod record;
mod rest;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::Base;
use frozen::Frozen;
use holds::Holds;
use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::report::Report;
use jobflow_core::snapshot::{EffectKind, RefusalClass, Sighting, Snapshot};
use jobflow_core::{Change, Effect, FactCache, FlowPhase, JobKey, Plan, Policy, Span, Time};
use jobs::Jobs;
use prepare::{Parsed, Prepared};
pub(super) use rest::has_ended;
use write::Writing;

use super::extensions::Extensions;
use super::observer::{Finding, FlowRef, Observer};
use super::request::{Request, Response, Ticket};
use super::settings::Settings;
use crate::observe::{PodsSeen, SlimJob, SlimTemplate};
use crate::schema::Schemas;
use crate::types::JobFlow;

/// How long a server may still work on a request whose answer was lost: so long a name stays taken.
pub const REQUEST_LIMIT: Span = Span::from_secs(60);

/// What arrives for a flow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// The store shows the flow like this.
    Flow(Arc<JobFlow>),
    /// The store shows a Job that this flow owns.
    Job(Arc<SlimJob>),
    /// The store says that a Job is gone; this was its last state.
    JobGone(Arc<SlimJob>),
    /// All Jobs of this flow that a new list shows.
    Relisted(Vec<Arc<SlimJob>>),
    /// What the pods of a Job tell, by its UID.
    Pods(String, Arc<PodsSeen>),
    /// The pods of the Job with this UID have answered a probe.
    Probed(FactKey, String, Answer),
    /// A template came, went, or was changed.
    Template(String),
    /// A queue came or went, was closed or opened.
    Queue(Arc<str>),
    /// The store shows a template that was frozen for this flow.
    Frozen(Arc<SlimTemplate>),
    /// The store says that the frozen template of this name is gone.
    FrozenGone(String),
    /// A request was answered.
    Answered(Ticket, Response),
}

/// What a flow may look at beside itself.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// How the driver works.
    pub settings: &'a Settings,
    /// The schemas that Jobs are checked against.
    pub schemas: &'a Schemas,
    /// The templates of the flow's namespace, by name.
    pub templates: &'a dyn Fn(&str) -> Option<Arc<SlimTemplate>>,
    /// Whether the queue of a name takes jobs; none if nobody can tell.
    pub queues: &'a dyn Fn(&str) -> Option<bool>,
    /// Whether a JobFlow of that UID is in the store.
    pub is_alive: &'a dyn Fn(&str) -> bool,
    /// What the program adds.
    pub extensions: &'a Extensions,
    /// Whether the server is known to keep what is written: set by the first flow whose status came back whole.
    pub schema_keeps: &'a AtomicBool,
    /// Who is told.
    pub observer: &'a dyn Observer,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings")
            .field("settings", self.settings)
            .finish_non_exhaustive()
    }
}

/// What a step asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stepped {
    /// To be sent; each is answered by an [`Input::Answered`], whatever comes of it.
    pub requests: Vec<(Ticket, Request)>,
    /// What is asked of pods from now on, each with the UID of the Job; none if that hasn't changed.
    pub probes: Option<Vec<(FactKey, String)>>,
    /// When the next step is due at the latest; none: when something arrives.
    pub wake_at: Option<Time>,
}

/// One flow of one UID, within one term.
#[derive(Debug)]
pub struct FlowDriver {
    namespace: String,
    name: String,
    uid: String,
    /// The flow as last known.
    base: Option<Base>,
    /// Whether it was read live in this term. What the store shows decides no more than that a live read is due.
    verified: bool,
    /// Whether only a live read can say how the flow stands now.
    unread: bool,
    /// Whether the flow is gone.
    gone: bool,
    /// What the store showed while a write was on its way.
    arrived: Option<Arc<JobFlow>>,
    parsed: Option<Parsed>,
    snapshot: Snapshot,
    facts: FactCache,
    prepared: Prepared,
    /// The queues that were asked about.
    queues: Arc<BTreeSet<Arc<str>>>,
    frozen: Frozen,
    jobs: Jobs,
    /// What is asked of pods.
    probes: Vec<(FactKey, String)>,
    /// What ended entries were made from, by name, since they got other numbers.
    hashes: BTreeMap<String, u64>,
    /// Changes that are in the record here and not in the server's yet, and since when there are any.
    unwritten: Vec<Change>,
    dirty_since: Option<Time>,
    written_phase: FlowPhase,
    writing: Option<Writing>,
    last_write: Option<Time>,
    /// A write whose answer was lost.
    lost_write: Option<Writing>,
    /// Effects of the record that was written last, not asked for yet.
    released: Vec<Effect>,
    released_at: Option<Time>,
    /// Foreign Jobs whose owner has to be looked for.
    owners: Vec<(JobKey, Box<SlimJob>)>,
    /// Whether the flow's Jobs were listed live in this term.
    listed: bool,
    pending: BTreeMap<Ticket, Pending>,
    tickets: u64,
    holds: Holds<Held>,
    report: Report,
    /// The plan that was shown last in a dry run.
    shown: Option<Plan>,
    finding: Option<Finding>,
    /// When this term began for the flow: intents from before may still be on their way.
    since: Time,
}

/// What may have to wait.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Read,
    Reread,
    Write,
    Mark,
    DeleteFlow,
    Commands,
    Frozen,
    Freeze(String),
    Job(JobKey, EffectKind),
    Stray(String),
    Fact(FactKey),
}

/// A request that hasn't been answered.
#[derive(Clone, Debug, PartialEq)]
enum Pending {
    ReadFlow,
    WriteStatus,
    MarkBirth,
    Create(JobKey),
    Look(JobKey),
    List(Vec<JobKey>),
    LookAtPods(JobKey, Arc<SlimJob>),
    Owner(JobKey, Box<SlimJob>),
    Terminate(JobKey),
    Delete(Option<JobKey>),
    DeleteStray(String),
    DeleteFlow,
    ListFrozen,
    Freeze(String),
    /// And since when.
    Ask(FactKey, Time),
    /// About a node whose number has changed since.
    Disowned,
}

impl FlowDriver {
    /// A flow that was seen, in a term that has just begun for it.
    #[must_use]
    pub fn new(seen: Arc<JobFlow>, now: Time) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self {
            namespace: text(&seen.metadata.namespace),
            name: text(&seen.metadata.name),
            uid: text(&seen.metadata.uid),
            gone: seen.metadata.deletion_timestamp.is_some(),
            base: Some(Base::of(seen)),
            verified: false,
            unread: false,
            arrived: None,
            parsed: None,
            snapshot: Snapshot::default(),
            facts: FactCache::default(),
            prepared: Prepared::default(),
            queues: Arc::default(),
            frozen: Frozen::default(),
            jobs: Jobs::default(),
            probes: Vec::new(),
            hashes: BTreeMap::new(),
            unwritten: Vec::new(),
            dirty_since: None,
            written_phase: FlowPhase::default(),
            writing: None,
            last_write: None,
            lost_write: None,
            released: Vec::new(),
            released_at: None,
            owners: Vec::new(),
            listed: false,
            pending: BTreeMap::new(),
            tickets: 0,
            holds: Holds::default(),
            report: Report::new(),
            shown: None,
            finding: None,
            since: now,
        }
    }

    /// Which flow it is.
    #[must_use]
    pub fn flow(&self) -> FlowRef<'_> {
        FlowRef {
            namespace: &self.namespace,
            name: &self.name,
            uid: &self.uid,
        }
    }

    /// Takes in what arrived. Nothing follows from it before the next [`Self::step`].
    pub fn receive(&mut self, input: Input, around: &Surroundings<'_>, now: Time) {
        match input {
            Input::Flow(object) => self.flow_seen(object),
            Input::Job(job) => self.job_seen(job, around, now),
            Input::JobGone(job) => self.job_gone(&job),
            Input::Relisted(jobs) => self.relisted(jobs, around, now),
            Input::Pods(job, pods) => self.pods_seen(job, pods, around),
            Input::Probed(key, job, answer) => self.probed(key, &job, answer, now),
            Input::Template(name) => self.template_changed(&name),
            Input::Queue(name) => self.queue_changed(name, now),
            Input::Frozen(template) => self.frozen_seen(template),
            Input::FrozenGone(name) => self.frozen_gone(&name),
            Input::Answered(ticket, response) => self.answered(ticket, response, around, now),
        }
    }

    /// Decides what follows from everything that has arrived.
    pub fn step(&mut self, around: &Surroundings<'_>, now: Time) -> Stepped {
        let mut stepped = Stepped::default();
        if self.gone {
            return stepped;
        }
        if self.unread {
            self.read(&mut stepped, now);
        } else if self.writing.is_none() && !self.is_marking() {
            self.go_on(&mut stepped, around, now);
        }
        let held = self.holds.next(now);
        let told = self.told_all_at(now).filter(|at| *at > now);
        stepped.wake_at = stepped.wake_at.into_iter().chain(held).chain(told).min();
        stepped
    }

    /// Whether nothing is left to ask or to await for the flow.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// The version of the object that it goes by.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.base.as_ref().map(Base::version)
    }

    /// The generation of the spec that it goes by.
    #[must_use]
    pub fn generation(&self) -> Option<i64> {
        self.base.as_ref().map(Base::generation)
    }

    /// The names of templates that its entries name.
    #[must_use]
    pub fn templates(&self) -> Option<&Arc<BTreeSet<String>>> {
        self.parsed.as_ref().map(Parsed::templates)
    }

    /// The names of queues whose coming and going it has to be told of.
    #[must_use]
    pub const fn queues(&self) -> &Arc<BTreeSet<Arc<str>>> {
        &self.queues
    }

    /// Whether the mark is on its way: it makes another version of the flow, as a write of the status does.
    fn is_marking(&self) -> bool {
        self.pending
            .values()
            .any(|pending| *pending == Pending::MarkBirth)
    }

    fn read(&mut self, stepped: &mut Stepped, now: Time) {
        let reading = self.pending.values().any(|pending| *pending == Pending::ReadFlow);
        if !reading && !self.holds.holds(&Held::Read, now) {
            self.send(stepped, Pending::ReadFlow, Request::ReadFlow);
        }
    }

    /// Whether something may be written, or follow from what is written: not before the flow was read live.
    fn may_act(&mut self, stepped: &mut Stepped, now: Time) -> bool {
        if !self.verified {
            self.unread = true;
            stepped.wake_by(now);
        }
        self.verified
    }

    fn send(&mut self, stepped: &mut Stepped, pending: Pending, request: Request) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.pending.insert(ticket, pending);
        stepped.requests.push((ticket, request));
    }

    fn flow_seen(&mut self, object: Arc<JobFlow>) {
        if object.metadata.deletion_timestamp.is_some() {
            self.gone = true;
        }
        let Some(base) = &self.base else { return };
        if !base.is_older_than(&object) {
            return;
        }
        if self.writing.is_some() {
            self.arrived = Some(object);
        } else {
            self.take_object(object);
        }
    }

    /// Goes on from a newer state of the flow. What was to be written is dropped if somebody else wrote the status.
    fn take_object(&mut self, object: Arc<JobFlow>) {
        let next = Base::of(object);
        self.gone |= next.is_deleting();
        let same_status = self
            .base
            .as_ref()
            .is_some_and(|base| base.status() == next.status());
        if !same_status && let Some(parsed) = &mut self.parsed {
            parsed.is_read = false;
        }
        self.base = Some(next);
        self.unread = false;
        self.snapshot.ledger = self.ledger();
    }

    /// A template came, went, or was changed: what was made of it is made anew, unless it was frozen before.
    fn template_changed(&mut self, name: &str) {
        if self.is_frozen(name) {
            return;
        }
        self.frozen.retry(name);
        let Some(parsed) = self.parsed.as_mut().filter(|parsed| parsed.uses(name)) else {
            return;
        };
        parsed.templates_changed = true;
    }

    /// A queue came or went: it is asked about anew, and what was refused for want of one is soon tried again.
    fn queue_changed(&mut self, name: Arc<str>, now: Time) {
        self.facts.forget(&FactKey::Queue(name));
        for sighting in self.snapshot.jobs.values_mut() {
            if let Sighting::Refused(refusal) = sighting
                && refusal.class == RefusalClass::Queue
            {
                (refusal.at, refusal.count, refusal.not_before) = (now, 1, None);
            }
        }
    }

    fn find(&mut self, around: &Surroundings<'_>, finding: Finding) {
        if self.finding.as_ref() != Some(&finding) {
            around.observer.found(self.flow(), &finding);
            self.finding = Some(finding);
        }
    }

    fn clear_finding(&mut self, around: &Surroundings<'_>) {
        if self.finding.take().is_some() {
            around.observer.cleared(self.flow());
        }
    }

    fn policy(&self, around: &Surroundings<'_>, now: Time) -> Option<Policy> {
        let flow = self.parsed.as_ref()?.flow()?;
        let mut policy = flow.policy.clone();
        policy.commands = around.settings.commands && !self.holds.holds(&Held::Commands, now);
        Some(policy)
    }
}
