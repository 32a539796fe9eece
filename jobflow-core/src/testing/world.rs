//! The world: jobs that live their lives, and the loop of observing, planning, writing and acting over them.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

use super::invariants::{Violation, invariants};
use super::life::{Job, Life};
use crate::facts::{Answer, FactCache, FactKey, TemplateVersion};
use crate::graph::FlowGraph;
use crate::key::{JobKey, Uid};
use crate::phase::{FlowPhase, NodePhase};
use crate::plan::{Change, Effect, Plan, Urgency, plan, plan_with_answers};
use crate::policy::Policy;
use crate::reason::Reason;
use crate::record::{FlowRecord, Nodes};
use crate::snapshot::{EffectKind, JobView, Ledger, Sighting, Snapshot, Wishes};
use crate::time::Time;

/// A change of a node, with the reason that it had then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The change.
    pub change: Change,
    /// The reason of the phase.
    pub reason: Option<Reason>,
}

type Lives = Box<dyn Fn(JobKey) -> Life>;

/// A flow, its record, its jobs and the time.
pub struct World {
    /// The flow.
    pub graph: FlowGraph,
    /// Its settings.
    pub policy: Policy,
    /// Its record, as last written.
    pub record: FlowRecord,
    /// What people ask for.
    pub wishes: Wishes,
    /// The time.
    pub now: Time,
    /// Every change so far.
    pub history: Vec<Moment>,
    /// Every job that was ever created, in order.
    pub created: Vec<JobKey>,
    /// Every breach of an invariant.
    pub violations: Vec<Violation>,
    lives: Lives,
    jobs: BTreeMap<JobKey, Job>,
    gone: BTreeMap<JobKey, Option<JobView>>,
    read: BTreeMap<JobKey, Time>,
    fresh: BTreeSet<JobKey>,
    stop_requests: BTreeMap<JobKey, (EffectKind, Time)>,
    facts: FactCache,
    born: bool,
}

impl core::fmt::Debug for World {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("World")
            .field("now", &self.now)
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

impl World {
    /// A flow that nobody has looked at; `lives` tells what each job is going to do.
    #[must_use]
    pub fn new(graph: FlowGraph, policy: Policy, lives: impl Fn(JobKey) -> Life + 'static) -> Self {
        let record = FlowRecord {
            nodes: Nodes::waiting(graph.len()),
            ..FlowRecord::default()
        };
        Self {
            graph,
            policy,
            record,
            wishes: Wishes::default(),
            now: Time(0),
            history: Vec::new(),
            created: Vec::new(),
            violations: Vec::new(),
            lives: Box::new(lives),
            jobs: BTreeMap::new(),
            gone: BTreeMap::new(),
            read: BTreeMap::new(),
            fresh: BTreeSet::new(),
            stop_requests: BTreeMap::new(),
            facts: FactCache::default(),
            born: false,
        }
    }

    /// What a driver would see now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let gone = self.gone.iter().map(|(key, last)| match self.read.get(key) {
            Some(at) => (
                *key,
                Sighting::Gone {
                    last: last.clone(),
                    at: *at,
                },
            ),
            None => (*key, Sighting::Missing),
        });
        let seen = self
            .jobs
            .iter()
            .map(|(key, job)| (*key, Sighting::Seen(job.view.clone())));
        Snapshot {
            record: self.record.clone(),
            wishes: self.wishes.clone(),
            ledger: if self.born { Ledger::Kept } else { Ledger::Unborn },
            jobs: gone.chain(seen).collect(),
            fresh: self.fresh.clone(),
            stop_requests: self.stop_requests.clone(),
            ..Snapshot::default()
        }
    }

    /// One plan: checked against the invariants, written, and carried out.
    pub fn round(&mut self) -> Plan {
        let snapshot = self.snapshot();
        let plan = plan_with_answers(
            &self.graph,
            &self.policy,
            &snapshot,
            &mut self.facts,
            answer,
            self.now,
        );
        let found = invariants(&self.graph, &self.policy, &snapshot, &self.facts, &plan, self.now);
        self.violations.extend(found);
        self.write(&plan);
        for effect in &plan.effects {
            self.act(effect);
        }
        plan
    }

    /// Plans until nothing more follows from what is there now.
    ///
    /// # Panics
    ///
    /// If that takes more rounds than any flow can need.
    pub fn settle(&mut self) {
        for _ in 0..10_000 {
            let plan = self.round();
            let again = plan.wake_at.is_some_and(|at| at <= self.now);
            if plan.urgency == Urgency::None && plan.effects.is_empty() && !again {
                return;
            }
        }
        self.violations
            .push(Violation(format!("never settles at {:?}", self.now)));
    }

    /// Lives on, event by event, until the flow has ended or `until` is reached; then the time is `until`, if given.
    pub fn run(&mut self, until: Option<Time>) {
        self.settle();
        while let Some(next) = self
            .next_event()
            .filter(|next| until.is_none_or(|until| *next <= until))
        {
            self.now = self.now.max(next);
            let due: Vec<JobKey> = self
                .jobs
                .iter()
                .filter(|(_, job)| job.due == Some(next))
                .map(|(key, _)| *key)
                .collect();
            due.into_iter().for_each(|key| self.advance(key));
            self.settle();
        }
        self.now = self.now.max(until.unwrap_or(self.now));
    }

    /// When the next job does a step, or a plan is due.
    fn next_event(&self) -> Option<Time> {
        let jobs = self.jobs.values().filter_map(|job| job.due).min();
        let snapshot = self.snapshot();
        let wake = plan(&self.graph, &self.policy, &snapshot, &self.facts, self.now).wake_at;
        jobs.into_iter().chain(wake.filter(|at| *at > self.now)).min()
    }

    /// The jobs that have a step to do, at whatever time.
    #[must_use]
    pub fn pending(&self) -> Vec<JobKey> {
        self.jobs
            .iter()
            .filter(|(_, job)| job.due.is_some())
            .map(|(key, _)| *key)
            .collect()
    }

    /// When a plan is due at the latest.
    #[must_use]
    pub fn wake_at(&self) -> Option<Time> {
        plan(&self.graph, &self.policy, &self.snapshot(), &self.facts, self.now).wake_at
    }

    /// Lets one job do its next step, whenever that was due.
    pub fn advance(&mut self, key: JobKey) {
        let Some(job) = self.jobs.get_mut(&key) else {
            return;
        };
        if !job.advance(self.now) {
            self.delete(key);
        }
    }

    /// Somebody deletes a job.
    pub fn delete(&mut self, key: JobKey) {
        if let Some(job) = self.jobs.remove(&key) {
            self.gone.insert(key, Some(job.view));
            self.read.remove(&key);
        }
    }

    /// The job of a key, as it is.
    #[must_use]
    pub fn job(&self, key: JobKey) -> Option<&JobView> {
        self.jobs.get(&key).map(|job| &job.view)
    }

    /// Pods answer a probe; true when that is news to a plan.
    pub fn hear(&mut self, question: FactKey, answer: Answer) -> bool {
        self.facts.learn(question, answer, self.now)
    }

    /// A restart: everything that is only in memory is gone.
    pub fn forget(&mut self) {
        self.fresh.clear();
        self.stop_requests.clear();
        self.read.clear();
        self.gone.retain(|_, last| last.is_some());
        self.gone.values_mut().for_each(|last| *last = None);
        self.facts = FactCache::default();
    }

    /// The phase of the flow.
    #[must_use]
    pub const fn phase(&self) -> FlowPhase {
        self.record.phase
    }

    /// The phases that a node went through, in order.
    #[must_use]
    pub fn phases(&self, name: &str) -> Vec<NodePhase> {
        let node = self.graph.find(name);
        let of_node = |moment: &&Moment| Some(moment.change.key.node) == node;
        self.history
            .iter()
            .filter(of_node)
            .map(|moment| moment.change.to)
            .collect()
    }

    fn write(&mut self, plan: &Plan) {
        let reason = |change: &Change| plan.next.nodes[change.key.node].reason;
        self.history.extend(plan.changes.iter().map(|change| Moment {
            change: *change,
            reason: reason(change),
        }));
        let intents = plan
            .changes
            .iter()
            .filter(|change| change.to == NodePhase::Submitting);
        self.fresh.extend(intents.map(|change| change.key));
        self.record = plan.next.clone();
    }

    fn act(&mut self, effect: &Effect) {
        match effect {
            Effect::MarkBirth => self.born = true,
            Effect::Create { key } => self.create(*key),
            Effect::Look { key } => {
                if !self.jobs.contains_key(key) {
                    self.gone.entry(*key).or_default();
                    self.read.insert(*key, self.now);
                }
            }
            Effect::Terminate { key, uid } => {
                self.stop_requests.insert(*key, (EffectKind::Terminate, self.now));
                if let Some(job) = self.jobs.get_mut(key).filter(|job| job.view.uid == *uid) {
                    job.terminate(self.now);
                }
            }
            Effect::Delete { key, uid } => {
                self.stop_requests.insert(*key, (EffectKind::Delete, self.now));
                if self.jobs.get(key).is_some_and(|job| job.view.uid == *uid) {
                    self.delete(*key);
                }
            }
            Effect::DeleteFlow => self.wishes.deleting = true,
            Effect::LookAtPods { .. } | Effect::DeleteStray(_) | Effect::Reread => {}
        }
    }

    fn create(&mut self, key: JobKey) {
        if self.jobs.contains_key(&key) {
            return;
        }
        self.created.push(key);
        self.fresh.remove(&key);
        self.gone.remove(&key);
        let uid = Uid(format!("{key}").into());
        self.jobs.insert(key, Job::new(uid, (self.lives)(key), self.now));
    }
}

fn answer(key: &FactKey) -> Option<Answer> {
    Some(match key {
        FactKey::Template(_) => Answer::Template(TemplateVersion::default()),
        FactKey::Rendered(_) => Answer::Rendered(1),
        FactKey::Queue(_) => Answer::Queue(true),
        FactKey::Probe { .. } => return None,
        FactKey::Custom { .. } => Answer::Custom("".into()),
    })
}
