//! The table of conditions: for every condition and every state of a target, one of holds, not yet, never.

use alloc::sync::Arc;

use crate::condition::{Condition, CustomCondition, Rule, TargetView, TaskCondition, TaskStatus};
use crate::facts::{Answer, FactCache, FactKey};
use crate::graph::Entry;
use crate::key::{JobKey, NodeId};
use crate::phase::NodePhase;
use crate::probe::{Probe, ProbeAnswer};
use crate::reason::{Gravity, Reason};
use crate::record::{Cause, NodeRecord};
use crate::snapshot::{PodCounts, TaskCount};
use crate::time::Time;
use crate::verdict::{AtLeast, Verdict};

/// What a rule comes to on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Not yet.
    Pending,
    /// It holds, since then.
    Holds(Time),
    /// It can never hold.
    Never {
        /// What an entry that needed it is skipped for.
        reason: Reason,
        /// The first node on the way that wasn't skipped.
        cause: Cause,
    },
}

/// A target as a rule sees it.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The node.
    pub node: NodeId,
    /// Its entry.
    pub entry: &'a Entry,
    /// Its record.
    pub record: &'a NodeRecord,
}

impl Judged<'_> {
    /// The job of its present attempt.
    pub(super) fn job(self) -> JobKey {
        JobKey {
            node: self.node,
            index: 0,
            attempt: self.record.attempt,
        }
    }
}

/// Judges one condition on one target, what has held before aside.
#[must_use]
pub fn judge(condition: &Condition, target: Judged<'_>, facts: &FactCache, now: Time) -> Judgement {
    let record = target.record;
    let ended = record.finish_time.unwrap_or(now);
    let phase = record.phase();
    let holds = match condition {
        Condition::Completed => completed(target).then_some(ended),
        Condition::Started => record.started_since.or_else(|| succeeded(target)),
        Condition::Running => record.ran_since.or_else(|| succeeded(target)),
        Condition::Ready(_) => enough(condition, record)
            .then_some(now)
            .or_else(|| succeeded(target)),
        Condition::Failed => (phase == NodePhase::Failed).then_some(ended),
        Condition::Finished => phase.is_end().then_some(ended),
        Condition::Task(_) => enough(condition, record).then_some(now),
        Condition::Probe(probe) => answers(probe, target, facts).then_some(now),
        Condition::Custom(custom) => {
            let view = TargetView {
                name: &target.entry.name,
                record,
            };
            match custom.0.evaluate(view, facts, now) {
                Verdict::Satisfied => Some(now),
                Verdict::Pending if phase.is_end() && awaits_answer(custom, view, facts, ended) => {
                    return Judgement::Pending;
                }
                Verdict::Pending => None,
                Verdict::Unsatisfiable(reason) => return never(reason, target),
            }
        }
    };
    match holds {
        Some(since) => Judgement::Holds(since),
        None if phase.is_end() => never(unmet(condition, target), target),
        None => Judgement::Pending,
    }
}

/// Judges a rule with its delay: it holds from `since` (what was recorded, or what is found now) plus the delay.
#[must_use]
pub(crate) fn with_delay(rule: &Rule, judgement: Judgement, now: Time) -> (Judgement, Option<Time>) {
    match judgement {
        Judgement::Holds(since) if since + rule.delay > now => (Judgement::Pending, Some(since + rule.delay)),
        Judgement::Holds(_) | Judgement::Pending | Judgement::Never { .. } => (judgement, None),
    }
}

/// Whether what a condition found has to be kept, because the target's record won't show it later.
#[must_use]
pub(super) const fn is_fleeting(condition: &Condition) -> bool {
    match condition {
        Condition::Ready(_) | Condition::Task(_) | Condition::Probe(_) | Condition::Custom(_) => true,
        Condition::Completed
        | Condition::Started
        | Condition::Running
        | Condition::Failed
        | Condition::Finished => false,
    }
}

fn completed(target: Judged<'_>) -> bool {
    let phase = target.record.phase();
    phase == NodePhase::Succeeded || (phase == NodePhase::Failed && target.entry.allow_failure)
}

fn succeeded(target: Judged<'_>) -> Option<Time> {
    (target.record.phase() == NodePhase::Succeeded).then_some(target.record.finish_time.unwrap_or_default())
}

/// How many pods have reached what a condition asks of them, and how many must; of several tasks the first that lacks
/// some. None where the condition counts no pods, or none are known.
#[must_use]
pub fn share(condition: &Condition, record: &NodeRecord) -> Option<Share> {
    match condition {
        Condition::Ready(at_least) => ready(record, *at_least),
        Condition::Task(task) => task_share(task, record),
        Condition::Completed
        | Condition::Started
        | Condition::Running
        | Condition::Failed
        | Condition::Finished
        | Condition::Probe(_)
        | Condition::Custom(_) => None,
    }
}

/// So many pods of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many have reached it.
    pub reached: u32,
    /// How many must.
    pub wanted: u32,
}

impl Share {
    const fn is_enough(self) -> bool {
        self.reached >= self.wanted
    }
}

fn enough(condition: &Condition, record: &NodeRecord) -> bool {
    share(condition, record).is_some_and(Share::is_enough)
}

fn ready(record: &NodeRecord, at_least: Option<AtLeast>) -> Option<Share> {
    let tasks = record.tasks.as_ref()?;
    let total = tasks
        .iter()
        .fold(PodCounts::default(), |sum, task| sum.plus(task.counts));
    let replicas = tasks
        .iter()
        .fold(0_u32, |sum, task| sum.saturating_add(task.replicas));
    let wanted = at_least.map_or_else(|| record.min_available.max(1), |at_least| at_least.of(replicas));
    let reached = total.ready.saturating_add(total.succeeded);
    Some(Share { reached, wanted })
}

fn task_share(condition: &TaskCondition, record: &NodeRecord) -> Option<Share> {
    let named = record
        .tasks
        .iter()
        .flat_map(|tasks| tasks.iter())
        .filter(|task| condition.task.is_empty() || task.task == condition.task);
    let share = |task: &TaskCount| {
        let wanted = condition
            .at_least
            .map_or_else(|| task.replicas.max(1), |at_least| at_least.of(task.replicas));
        let reached = reached(condition.status, task.counts);
        Share { reached, wanted }
    };
    named.map(share).min_by_key(|share| share.is_enough())
}

/// Whether a custom condition may still come out otherwise although its target has ended: something that it wants to know
/// was not asked since.
fn awaits_answer(custom: &CustomCondition, target: TargetView<'_>, facts: &FactCache, ended: Time) -> bool {
    let is_old = |key: &FactKey| facts.find(key).is_none_or(|fact| fact.when <= ended);
    custom.0.wants(target).iter().any(is_old)
}

/// Whether the pods of a target are to be asked: its attempt is in course, and a pod of the task runs as far as is
/// known.
pub(super) fn is_asked(probe: &Probe, record: &NodeRecord) -> bool {
    if !is_in_course(record) {
        return false;
    }
    let Some(tasks) = &record.tasks else {
        return record.phase() == NodePhase::Running;
    };
    let named = |task: &&TaskCount| probe.task.is_empty() || task.task == probe.task;
    tasks.iter().filter(named).any(|task| task.counts.running > 0)
}

/// What pods said of an attempt counts while it is in course, and not once it is over or being ended.
fn is_in_course(record: &NodeRecord) -> bool {
    matches!(record.phase(), NodePhase::Queued | NodePhase::Running)
}

fn answers(probe: &Arc<Probe>, target: Judged<'_>, facts: &FactCache) -> bool {
    let enough = |fact: &crate::facts::Fact| {
        fact.answer == Answer::Probe(ProbeAnswer::Success) && fact.streak >= probe.success_threshold
    };
    is_in_course(target.record) && facts.find_probe(target.job(), probe).is_some_and(enough)
}

const fn reached(status: TaskStatus, counts: PodCounts) -> u32 {
    match status {
        TaskStatus::Pending => counts.pending,
        TaskStatus::Running => counts.running.saturating_add(counts.succeeded),
        TaskStatus::Succeeded => counts.succeeded,
        TaskStatus::Failed => counts.failed,
        TaskStatus::Finished => counts.succeeded.saturating_add(counts.failed),
        TaskStatus::Started => counts
            .running
            .saturating_add(counts.succeeded)
            .saturating_add(counts.failed),
        TaskStatus::Ready => counts.ready.saturating_add(counts.succeeded),
    }
}

/// Why a condition that an ended target doesn't meet can never be met.
fn unmet(condition: &Condition, target: Judged<'_>) -> Reason {
    match target.record.phase() {
        NodePhase::Skipped => inherited(target.record.reason),
        NodePhase::Cancelled => Reason::UpstreamCancelled,
        NodePhase::Failed if target.entry.allow_failure => Reason::UpstreamExcused,
        NodePhase::Failed => Reason::UpstreamFailed,
        NodePhase::Succeeded if matches!(condition, Condition::Failed) => Reason::NotNeeded,
        NodePhase::Succeeded
        | NodePhase::Waiting
        | NodePhase::Blocked
        | NodePhase::Submitting
        | NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::BackingOff
        | NodePhase::Paused => Reason::ConditionNeverMet,
    }
}

/// What a skip means one node further down.
fn inherited(reason: Option<Reason>) -> Reason {
    let reason = reason.unwrap_or(Reason::UpstreamFailed);
    match reason.gravity() {
        Gravity::Benign => Reason::UpstreamSkipped,
        Gravity::NeverMet => Reason::ConditionNeverMet,
        Gravity::Cancelled => Reason::UpstreamCancelled,
        Gravity::Failure if reason == Reason::FlowFailing => Reason::FlowFailing,
        Gravity::Failure => Reason::UpstreamFailed,
    }
}

fn never(reason: Reason, target: Judged<'_>) -> Judgement {
    let own = Cause {
        node: target.node,
        reason: target.record.reason.unwrap_or(reason),
    };
    let cause = match target.record.phase() {
        NodePhase::Skipped => target.record.cause.unwrap_or(own),
        NodePhase::Waiting
        | NodePhase::Blocked
        | NodePhase::Submitting
        | NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::BackingOff
        | NodePhase::Paused
        | NodePhase::Succeeded
        | NodePhase::Failed
        | NodePhase::Cancelled => own,
    };
    Judgement::Never { reason, cause }
}
