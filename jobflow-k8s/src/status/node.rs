//! One node's record as it is written.

use jobflow_core::key::NodeId;
use jobflow_core::record::{Cause, Decided, Held, NodeRecord, Nodes, Retries, Stop};
use jobflow_core::snapshot::TaskCount;
use jobflow_core::{FlowGraph, NodePhase, Reason};

use super::needs::Need;
use super::usual;
use super::words;
use crate::names::job_name;
use crate::types;

/// How much of a node is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detail {
    /// Attempts before the present one.
    pub(super) attempts: bool,
    /// What only people read.
    pub(super) display: bool,
}

/// What every node's record is written from.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// The flow's name.
    pub(super) flow: &'a str,
    pub(super) graph: &'a FlowGraph,
    pub(super) nodes: &'a Nodes,
    pub(super) detail: Detail,
}

/// The record of a node; none if it says nothing that isn't so by default.
pub(super) fn record(
    around: Around<'_>,
    node: NodeId,
    need: Need,
    waiting_for: Option<Vec<String>>,
) -> Option<types::NodeRecord> {
    let kept = &around.nodes[node];
    let entry = around.graph.entry(node);
    let mut written = match kept.phase().is_end() {
        true if need.all => looked_at(kept, around, need),
        true => ended(kept, need, entry.hash),
        false => types::NodeRecord {
            job: job(around.flow, &entry.name, kept),
            ..open(kept, around, need)
        },
    };
    written.phase = Some(words::phase(kept.phase())).filter(|phase| *phase != types::NodePhase::Waiting);
    written.reason = kept.reason.map(|reason| reason.as_str().to_owned());
    written.attempt = (kept.attempt != usual::attempt(kept.phase())).then(|| i64::from(kept.attempt));
    written.jobless = kept.jobless.then_some(true);
    written.cause = kept.cause.map(|cause| self::cause(around, cause, kept.reason));
    written.attempts = history(kept, around.detail);
    written.waiting_for = waiting_for;
    if written == types::NodeRecord::default() {
        return None;
    }
    written.name = entry.name.to_string();
    Some(written)
}

/// A node that hasn't ended: all that is known, since nearly all of it decides. The template decides for as long as the
/// Job isn't there.
fn open(kept: &NodeRecord, around: Around<'_>, need: Need) -> types::NodeRecord {
    let display = around.detail.display;
    let counted = display || need.counts || need.all;
    let usual_minimum = kept.uid.is_none() || kept.min_available == usual::MIN_AVAILABLE;
    types::NodeRecord {
        uid: kept.uid.as_ref().map(ToString::to_string),
        entry_hash: (kept.entry_hash != 0).then(|| words::hash(kept.entry_hash)),
        template: kept
            .template
            .as_ref()
            .filter(|_| display || kept.uid.is_none())
            .map(|template| types::TemplateRecord {
                uid: Some(template.uid.to_string()),
                generation: Some(template.generation),
            }),
        start_time: kept.start_time.map(Into::into),
        exit_code: kept.exit_code.map(i64::from),
        started_since: kept.started_since.map(Into::into),
        ran_since: kept.ran_since.map(Into::into),
        min_available: (!usual_minimum).then(|| i64::from(kept.min_available)),
        tasks: kept.tasks.as_deref().filter(|_| counted).map(tasks),
        held: held(&kept.held, around.graph),
        stop: kept.stop.map(stop),
        next_retry_time: kept.next_retry.map(Into::into),
        retries: retries(kept.retries),
        decided: kept.decided.map(decided),
        clocks: clocks(kept),
        ..types::NodeRecord::default()
    }
}

/// A node that has ended, and that an expression or a predicate of the embedding program may look at: all of it.
fn looked_at(kept: &NodeRecord, around: Around<'_>, need: Need) -> types::NodeRecord {
    let (started, ran) = evidence(kept);
    types::NodeRecord {
        finish_time: kept.finish_time.map(Into::into),
        min_available: words::number(kept.min_available),
        started,
        ran,
        ..open(kept, around, need)
    }
}

/// The name of the Job, if it isn't the one of a first attempt; it follows from the attempt, and is for people.
fn job(flow: &str, entry: &str, kept: &NodeRecord) -> Option<String> {
    (kept.attempt > 1).then(|| job_name(flow, entry, None, kept.attempt))
}

/// A node that has ended: its outcome, and what others may still ask of it.
fn ended(kept: &NodeRecord, need: Need, hash: u64) -> types::NodeRecord {
    let (started, ran) = evidence(kept);
    let edited = kept.entry_hash != 0 && kept.entry_hash != hash;
    let is_switch = matches!(kept.decided, Some(Decided::Case(_)));
    types::NodeRecord {
        entry_hash: edited.then(|| words::hash(kept.entry_hash)),
        finish_time: kept
            .finish_time
            .filter(|_| need.since || kept.attempt > 0)
            .map(Into::into),
        exit_code: kept
            .exit_code
            .filter(|_| kept.phase() == NodePhase::Failed)
            .map(i64::from),
        started_since: kept.started_since.filter(|_| need.since).map(Into::into),
        ran_since: kept.ran_since.filter(|_| need.since).map(Into::into),
        started,
        ran,
        min_available: words::number(kept.min_available).filter(|_| need.counts && kept.tasks.is_some()),
        tasks: kept.tasks.as_deref().filter(|_| need.counts).map(tasks),
        decided: kept.decided.filter(|_| is_switch).map(decided),
        ..types::NodeRecord::default()
    }
}

/// Whether pods and gang ran, where that isn't as usual; success needs no evidence.
fn evidence(kept: &NodeRecord) -> (Option<bool>, Option<bool>) {
    let differs =
        |shown: bool, usual: bool| (kept.phase() != NodePhase::Succeeded && shown != usual).then_some(shown);
    (
        differs(kept.started_since.is_some(), usual::started(kept)),
        differs(kept.ran_since.is_some(), usual::ran(kept)),
    )
}

fn tasks(tasks: &[TaskCount]) -> std::collections::BTreeMap<String, types::TaskRecord> {
    let of = |task: &TaskCount| types::TaskRecord {
        replicas: words::number(task.replicas),
        pending: words::number(task.counts.pending),
        running: words::number(task.counts.running),
        ready: words::number(task.counts.ready),
        succeeded: words::number(task.counts.succeeded),
        failed: words::number(task.counts.failed),
    };
    tasks
        .iter()
        .map(|task| (task.task.to_string(), of(task)))
        .collect()
}

fn held(held: &[Held], graph: &FlowGraph) -> Option<Vec<types::Held>> {
    let written = held.iter().map(|held| types::Held {
        target: graph.entry(held.target).name.to_string(),
        rule: words::number(held.rule),
        attempt: (held.attempt != 1).then(|| i64::from(held.attempt)),
        since: Some(held.since.into()),
    });
    (!held.is_empty()).then(|| written.collect())
}

pub(super) fn stop(stop: Stop) -> types::Stop {
    types::Stop {
        cause: Some(words::stop(stop.cause).to_owned()),
        since: Some(stop.since.into()),
    }
}

fn retries(retries: Retries) -> Option<types::Retries> {
    let Retries {
        program,
        infrastructure,
    } = retries;
    let written = types::Retries {
        program: words::number(program),
        infrastructure: words::number(infrastructure),
    };
    (written != types::Retries::default()).then_some(written)
}

fn decided(decided: Decided) -> types::Decided {
    match decided {
        Decided::When => types::Decided {
            when: Some(true),
            case: None,
        },
        Decided::Case(case) => types::Decided {
            when: None,
            case: Some(case.map_or(-1, i64::from)),
        },
    }
}

fn clocks(kept: &NodeRecord) -> Option<std::collections::BTreeMap<String, types::Clock>> {
    let named = [("attempt", &kept.attempt_clock), ("node", &kept.node_clock)];
    let written = named
        .into_iter()
        .filter_map(|(name, clock)| clock.as_ref().map(|clock| (name.to_owned(), words::clock(clock))));
    let written: std::collections::BTreeMap<_, _> = written.collect();
    (!written.is_empty()).then_some(written)
}

/// Attempts before the present one; of a node that ended well they say nothing any more.
fn history(kept: &NodeRecord, detail: Detail) -> Option<Vec<types::AttemptRecord>> {
    let told = detail.attempts && !kept.attempts.is_empty();
    told.then(|| {
        kept.attempts
            .iter()
            .map(|attempt| types::AttemptRecord {
                attempt: Some(i64::from(attempt.attempt)),
                reason: Some(attempt.reason.as_str().to_owned()),
                exit_code: attempt.exit_code.map(i64::from),
                start_time: None,
                finish_time: Some(attempt.finish_time.into()),
            })
            .collect()
    })
}

/// A cause; its reason is left out if it is the one that the other node's record has.
fn cause(around: Around<'_>, cause: Cause, own: Option<Reason>) -> types::Cause {
    let implied = implied_reason(around.nodes, cause.node, own);
    types::Cause {
        node: Some(around.graph.entry(cause.node).name.to_string()),
        reason: (implied != Some(cause.reason)).then(|| cause.reason.as_str().to_owned()),
    }
}

/// The reason of a cause that says none: the one of the node that it names, else the own one.
pub(super) fn implied_reason(nodes: &Nodes, cause: NodeId, own: Option<Reason>) -> Option<Reason> {
    nodes.get(cause).and_then(|record| record.reason).or(own)
}
