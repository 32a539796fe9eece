//! The made-up world of a rehearsal: Jobs that do as they are expected to.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_core::facts::{Answer, FactKey, TemplateVersion};
use jobflow_core::gang::JobPhase;
use jobflow_core::plan::{Effect, Plan, Urgency, plan_with_answers};
use jobflow_core::probe::ProbeAnswer;
use jobflow_core::snapshot::{JobView, Ledger, PodCounts, Sighting, Snapshot, TaskCount, Wishes};
use jobflow_core::{FactCache, FlowRecord, JobKey, NodeId, Time, Uid};
use jobflow_k8s::parse::Flow;

use super::{Start, Tasks};

/// More plans in a row than any flow needs before something has to happen.
const MOST_PLANS: usize = 10_000;

pub(super) struct Stage<'a> {
    flow: &'a Flow,
    tasks: &'a Tasks,
    facts: FactCache,
    jobs: BTreeMap<JobKey, JobView>,
    /// When something is due though nothing runs.
    wake_at: Option<Time>,
    now: Time,
    pub(super) record: FlowRecord,
}

impl<'a> Stage<'a> {
    pub(super) fn new(flow: &'a Flow, tasks: &'a Tasks) -> Self {
        Self {
            flow,
            tasks,
            facts: FactCache::default(),
            jobs: BTreeMap::new(),
            wake_at: None,
            now: Time(0),
            record: Snapshot::unborn(flow.graph.len()).record,
        }
    }

    /// Plans until nothing follows any more; whose jobs were created on the way.
    pub(super) fn settle(&mut self) -> Vec<NodeId> {
        let mut created = Vec::new();
        for _ in 0..MOST_PLANS {
            let plan = self.plan();
            self.record = plan.next.clone();
            for effect in &plan.effects {
                created.extend(self.act(effect));
            }
            let record = &self.record;
            self.jobs
                .retain(|key, _| !record.nodes[key.node].phase().is_end());
            self.wake_at = plan.wake_at.filter(|at| *at > self.now);
            let again = plan.wake_at.is_some_and(|at| at <= self.now);
            if plan.urgency == Urgency::None && plan.effects.is_empty() && !again {
                break;
            }
        }
        created
    }

    /// Lets the next thing happen; what that is, or none when nothing is left to happen.
    pub(super) fn go_on(&mut self) -> Option<Start> {
        if self.advance(JobPhase::Empty, JobPhase::Pending) {
            return Some(Start::Created);
        }
        if self.advance(JobPhase::Pending, JobPhase::Running) {
            return Some(Start::Running);
        }
        if self.advance(JobPhase::Running, JobPhase::Completed) {
            return Some(Start::Ended);
        }
        let at = self.wake_at.filter(|_| !self.record.phase.is_end())?;
        let span = at.since(self.now);
        self.now = at;
        Some(Start::After(span))
    }

    /// Takes all jobs that are in one phase to the next; false when there are none.
    fn advance(&mut self, from: JobPhase, to: JobPhase) -> bool {
        let (now, tasks) = (self.now, self.tasks);
        let mut any = false;
        for (key, job) in self.jobs.iter_mut().filter(|(_, job)| job.phase == from) {
            any = true;
            job.phase = to;
            job.changed = Some(now);
            job.ran = to != JobPhase::Pending;
            job.started = job.ran;
            let counted = tasks.get(&key.node).map(|tasks| counted(tasks, to));
            job.tasks = counted.unwrap_or_default().into();
        }
        any
    }

    fn plan(&mut self) -> Plan {
        let snapshot = self.snapshot();
        let Flow { graph, policy, .. } = self.flow;
        plan_with_answers(graph, policy, &snapshot, &mut self.facts, answer, self.now)
    }

    /// The flow as nobody suspends or cancels it, with all jobs that there are.
    fn snapshot(&self) -> Snapshot {
        let live = self
            .record
            .nodes
            .iter()
            .filter(|(_, record)| record.phase().is_live());
        let intended = live.map(|(node, record)| JobKey {
            node,
            index: 0,
            attempt: record.attempt,
        });
        let absent = intended.filter(|key| !self.jobs.contains_key(key));
        let absent = absent.map(|key| {
            (
                key,
                Sighting::Gone {
                    last: None,
                    at: self.now,
                },
            )
        });
        let seen = self
            .jobs
            .iter()
            .map(|(key, job)| (*key, Sighting::Seen(job.clone())));
        Snapshot {
            record: self.record.clone(),
            wishes: Wishes::default(),
            ledger: Ledger::Kept,
            jobs: absent.chain(seen).collect(),
            fresh: BTreeSet::new(),
            ..Snapshot::default()
        }
    }

    fn act(&mut self, effect: &Effect) -> Option<NodeId> {
        match effect {
            Effect::Create { key } => {
                let uid = Uid(key.to_string().into());
                let mut job = JobView::new(uid, JobPhase::Empty, self.now);
                let pods = self.tasks.get(&key.node);
                job.min_available = pods.map_or(1, |tasks| tasks.iter().map(|task| task.replicas).sum());
                let is_new = self.jobs.insert(*key, job).is_none();
                return is_new.then_some(key.node);
            }
            // A deadline that a delay goes beyond ends jobs.
            Effect::Terminate { key, .. } => {
                if let Some(job) = self.jobs.get_mut(key) {
                    job.phase = JobPhase::Terminated;
                }
            }
            Effect::Delete { key, .. } => drop(self.jobs.remove(key)),
            Effect::MarkBirth
            | Effect::Look { .. }
            | Effect::LookAtPods { .. }
            | Effect::DeleteStray(_)
            | Effect::Reread
            | Effect::DeleteFlow => {}
        }
        None
    }
}

fn answer(question: &FactKey) -> Option<Answer> {
    match question {
        FactKey::Template(_) => Some(Answer::Template(TemplateVersion::default())),
        FactKey::Rendered(_) => Some(Answer::Rendered(0)),
        // Pods that run answer.
        FactKey::Probe { .. } => Some(Answer::Probe(ProbeAnswer::Success)),
        // What a custom source would say can't be known.
        FactKey::Queue(_) | FactKey::Custom { .. } => None,
        // Nor what a later version asks.
        _ => None,
    }
}

/// The pods of a job in a phase.
fn counted(tasks: &[TaskCount], phase: JobPhase) -> Vec<TaskCount> {
    let counts = |replicas: u32| {
        let none = PodCounts::default();
        match phase {
            JobPhase::Running => PodCounts {
                running: replicas,
                ready: replicas,
                ..none
            },
            JobPhase::Completed => PodCounts {
                succeeded: replicas,
                ..none
            },
            JobPhase::Pending
            | JobPhase::Empty
            | JobPhase::Restarting
            | JobPhase::Completing
            | JobPhase::Terminating
            | JobPhase::Terminated
            | JobPhase::Aborting
            | JobPhase::Aborted
            | JobPhase::Failed => PodCounts {
                pending: replicas,
                ..none
            },
        }
    };
    let count = |task: &TaskCount| TaskCount {
        counts: counts(task.replicas),
        ..task.clone()
    };
    tasks.iter().map(count).collect()
}
