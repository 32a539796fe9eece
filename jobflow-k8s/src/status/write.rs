//! The status to store, from the record and what is known of Jobs, within its bounds.
//!
//! What only people read gives way first: histories, then details of nodes, then the lines of jobs that ended well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobflow_core::key::{JobKey, NodeId};
use jobflow_core::record::{FlowRecord, FlowStop, NodeRecord};
use jobflow_core::report::{Report, Why};
use jobflow_core::snapshot::Wishes;
use jobflow_core::{FlowPhase, NodePhase, Time};

use super::conditions::{ConditionType, Finding, merge};
use super::jobs::{self, Extent, MOST_HISTORIES, Row};
use super::needs::{Need, needs};
use super::node::{self, Around, Detail};
use super::size::{self, TooLarge};
use super::{count, words};
use crate::fault::Fault;
use crate::observe::SlimJob;
use crate::parse::Flow;
use crate::types::{self, FlowState, Instant, JobFlow, JobFlowStatus};

/// What a status is written from.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// The object: name, generation, and the status that it had, from which times and what isn't ours are kept.
    pub flow: &'a JobFlow,
    /// How many bytes of it are not its status, see [`super::base_size`].
    pub base_size: usize,
    /// The same, parsed.
    pub parsed: &'a Flow,
    /// The record to write.
    pub record: &'a FlowRecord,
    /// Jobs of the flow that were seen.
    pub jobs: &'a BTreeMap<JobKey, Arc<SlimJob>>,
    /// Why nodes stand where they do.
    pub report: &'a Report,
    /// The time.
    pub now: Time,
}

/// A status that can be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The status.
    pub status: JobFlowStatus,
    /// Whether something of it had to be left out.
    pub truncated: bool,
}

/// How much is written, from everything to the least.
#[derive(Clone, Copy, Debug)]
struct Level {
    extent: Extent,
    detail: Detail,
    /// Whether this much is only written within the usual budget.
    frugal: bool,
    /// Whether this is told as a loss when there is no other way.
    truncated: bool,
}

const LEVELS: [Level; 5] = [
    Level {
        extent: Extent {
            histories: MOST_HISTORIES,
            all: true,
        },
        detail: Detail {
            attempts: true,
            display: true,
        },
        frugal: true,
        truncated: false,
    },
    Level {
        extent: Extent {
            histories: 2,
            all: true,
        },
        detail: Detail {
            attempts: true,
            display: true,
        },
        frugal: true,
        truncated: false,
    },
    Level {
        extent: Extent {
            histories: 0,
            all: true,
        },
        detail: Detail {
            attempts: false,
            display: true,
        },
        frugal: false,
        truncated: false,
    },
    Level {
        extent: Extent {
            histories: 0,
            all: true,
        },
        detail: Detail {
            attempts: false,
            display: false,
        },
        frugal: false,
        truncated: true,
    },
    Level {
        extent: Extent {
            histories: 0,
            all: false,
        },
        detail: Detail {
            attempts: false,
            display: false,
        },
        frugal: false,
        truncated: true,
    },
];

/// Writes the status of a flow.
///
/// # Errors
///
/// If even the least of it doesn't fit beside the spec: the flow can't be followed.
pub fn write(writing: Writing<'_>) -> Result<Written, TooLarge> {
    let prepared = Prepared::of(writing);
    let entries = writing.parsed.graph.len();
    let mut bytes = usize::MAX;
    for level in LEVELS {
        let status = prepared.status(level);
        bytes = writing.base_size.saturating_add(size::bytes(&status));
        let most = if level.frugal {
            size::budget(entries)
        } else {
            size::MOST_OBJECT_BYTES
        };
        if bytes <= most {
            return Ok(Written {
                status,
                truncated: level.truncated,
            });
        }
    }
    Err(TooLarge { bytes })
}

/// What is the same at every level.
struct Prepared<'a> {
    writing: Writing<'a>,
    needs: Vec<Need>,
    rows: Vec<Row>,
    waiting: BTreeMap<NodeId, Vec<String>>,
    /// Records of entries that are gone: their attempts must not be made again should they come back.
    removed: Vec<types::NodeRecord>,
}

impl<'a> Prepared<'a> {
    fn of(writing: Writing<'a>) -> Self {
        let name = writing.flow.metadata.name.as_deref().unwrap_or_default();
        Self {
            writing,
            needs: needs(&writing.parsed.graph),
            rows: jobs::rows(name, writing.parsed, writing.record, writing.jobs),
            waiting: waiting(writing),
            removed: removed(writing),
        }
    }

    fn status(&self, level: Level) -> JobFlowStatus {
        let Writing {
            flow,
            base_size: _,
            parsed,
            record,
            jobs,
            report: _,
            now,
        } = self.writing;
        let previous = flow.status.as_ref();
        let mut status = JobFlowStatus {
            state: Some(FlowState {
                phase: Some(words::flow_phase(record.phase)),
            }),
            observed_generation: flow.metadata.generation,
            progress: Some(count::progress(&record.nodes)),
            start_time: record.start_time.map(Into::into),
            completion_time: record.completion_time.map(Into::into),
            summary: Some(count::summary(&record.nodes)),
            requests: previous.and_then(|status| status.requests.clone()),
            nodes: Some(self.nodes(level.detail)),
            stop: record.stop.map(flow_stop),
            clocks: record
                .deadline
                .map(|clock| BTreeMap::from([("deadline".to_owned(), words::clock(&clock))])),
            arguments_digest: previous.and_then(|status| status.arguments_digest.clone()),
            cause: record.cause.map(|cause| types::Cause {
                node: Some(parsed.graph.entry(cause.node).name.to_string()),
                reason: Some(cause.reason.as_str().to_owned()),
            }),
            finally_since: record.finally_since.map(Into::into),
            ledger_lost: record.ledger_lost.then_some(true),
            ..JobFlowStatus::default()
        };
        jobs::list(&mut status, &self.rows, jobs, previous, level.extent);
        let before = previous.and_then(|status| status.flow_conditions.as_deref());
        let now = Instant::from(now).into();
        let findings = findings(self.writing, level.truncated);
        status.flow_conditions = Some(merge(&findings, before, flow.metadata.generation, &now));
        status
    }

    /// Every node that isn't as it is by default; those of entries that are gone come last.
    fn nodes(&self, detail: Detail) -> Vec<types::NodeRecord> {
        let Writing {
            flow, parsed, record, ..
        } = self.writing;
        let around = Around {
            flow: flow.metadata.name.as_deref().unwrap_or_default(),
            graph: &parsed.graph,
            nodes: &record.nodes,
            detail,
        };
        let mut messages = if detail.display { MESSAGES } else { 0 };
        let mut written = Vec::with_capacity(record.nodes.len() + self.removed.len());
        for (node, kept) in record.nodes.iter() {
            let need = self.needs.get(node.position()).copied().unwrap_or_default();
            let waiting_for = self.waiting.get(&node).filter(|_| detail.display).cloned();
            let Some(mut line) = node::record(around, node, need, waiting_for) else {
                continue;
            };
            if kept.phase() == NodePhase::Failed {
                line.message = message(kept, &mut messages);
            }
            written.push(line);
        }
        written.extend(self.removed.iter().cloned());
        written
    }
}

/// How many bytes of messages are kept of ended nodes, together.
const MESSAGES: usize = 8_000;

/// How many bytes of a message are kept of an ended node.
const LONGEST_MESSAGE: usize = 400;

/// What was said of a failure, as long as there is room for it.
fn message(kept: &NodeRecord, left: &mut usize) -> Option<String> {
    let message = kept.message.as_deref()?;
    let cut = &message[..message.floor_char_boundary(LONGEST_MESSAGE)];
    *left = left.checked_sub(cut.len())?;
    Some(cut.to_owned())
}

fn flow_stop(stop: FlowStop) -> types::Stop {
    types::Stop {
        cause: Some(words::flow_stop(stop.cause).to_owned()),
        since: Some(stop.since.into()),
    }
}

/// What nodes wait for: up to three targets that haven't ended, or the switch above.
fn waiting(writing: Writing<'_>) -> BTreeMap<NodeId, Vec<String>> {
    const MOST: usize = 3;
    let graph = &writing.parsed.graph;
    let name = |node: NodeId| graph.entry(node).name.to_string();
    let is_open = |node: &NodeId| !writing.record.nodes[*node].phase().is_end();
    let mut waiting = BTreeMap::new();
    for (node, why) in writing.report {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the enum is non-exhaustive, and all else names no node"
        )]
        let names = match why {
            Why::Targets { first, .. } => {
                let others = graph.entry(*node).targets.iter().map(|target| target.node);
                let others = others.filter(|target| target != first).filter(is_open);
                std::iter::once(*first)
                    .chain(others)
                    .take(MOST)
                    .map(name)
                    .collect()
            }
            Why::Gate(gate) => vec![name(*gate)],
            _ => continue,
        };
        waiting.insert(*node, names);
    }
    waiting
}

/// What stays of nodes whose entry is gone: how they ended, and which attempts they had.
fn removed(writing: Writing<'_>) -> Vec<types::NodeRecord> {
    let Some(nodes) = writing
        .flow
        .status
        .as_ref()
        .and_then(|status| status.nodes.as_ref())
    else {
        return Vec::new();
    };
    let known: BTreeSet<&str> = writing
        .parsed
        .graph
        .entries()
        .iter()
        .map(|entry| &*entry.name)
        .collect();
    let gone = nodes.iter().filter(|node| !known.contains(node.name.as_str()));
    gone.filter(|node| {
        node.attempt.is_some() || node.phase.is_some_and(|phase| phase != types::NodePhase::Blocked)
    })
    .cloned()
    .collect()
}

/// What is true of the flow.
fn findings(writing: Writing<'_>, truncated: bool) -> Vec<Finding> {
    let Writing { parsed, record, .. } = writing;
    let mut findings = vec![
        accepted(record),
        progressing(record, &parsed.wishes),
        suspended(record, &parsed.wishes),
    ];
    findings.push(failing(writing));
    findings.push(edit_pending(writing));
    findings.extend(ended(writing));
    findings.push(if truncated {
        let message = "details and lines of jobs that ended well are left out";
        Finding::new(ConditionType::StatusTruncated, true, "TooLarge", message)
    } else {
        Finding::new(ConditionType::StatusTruncated, false, "Complete", "")
    });
    findings
}

fn accepted(record: &FlowRecord) -> Finding {
    let lost = record.ledger_lost
        && record
            .nodes
            .iter()
            .any(|(_, node)| node.reason == Some(jobflow_core::Reason::LedgerLost));
    if lost {
        let message = "the record of this flow was lost; entries of which nothing is known wait for a request that \
                       names them";
        return Finding::new(ConditionType::Accepted, false, "LedgerLost", message);
    }
    Finding::new(ConditionType::Accepted, true, "Valid", "")
}

fn progressing(record: &FlowRecord, wishes: &Wishes) -> Finding {
    let alive = record.nodes.iter().any(|(_, node)| node.phase().is_live());
    let (holds, reason) = match record.phase {
        FlowPhase::Succeed | FlowPhase::Failed => (false, "Ended"),
        FlowPhase::Terminating => (true, "Terminating"),
        FlowPhase::Pending | FlowPhase::Running if wishes.holds_back() && !alive => (false, "Suspended"),
        FlowPhase::Pending => (true, "Pending"),
        FlowPhase::Running => (true, "Running"),
    };
    Finding::new(ConditionType::Progressing, holds, reason, "")
}

fn suspended(record: &FlowRecord, wishes: &Wishes) -> Finding {
    if !wishes.holds_back() || record.phase.is_end() {
        return Finding::new(ConditionType::Suspended, false, "Resumed", "");
    }
    let live = record
        .nodes
        .iter()
        .filter(|(_, node)| node.phase().is_live())
        .count();
    let message = format!("nothing new is started; {live} jobs are alive");
    Finding::new(ConditionType::Suspended, true, "Requested", message)
}

fn failing(writing: Writing<'_>) -> Finding {
    let graph = &writing.parsed.graph;
    let failed = writing.record.nodes.iter().find(|(node, kept)| {
        kept.phase() == NodePhase::Failed && !graph.entry(*node).allow_failure && !graph.is_finally(*node)
    });
    let Some((node, kept)) = failed else {
        return Finding::new(ConditionType::Failing, false, "NothingFailed", "");
    };
    let reason = kept.reason.map_or("JobFailed", jobflow_core::Reason::as_str);
    Finding::new(
        ConditionType::Failing,
        true,
        reason,
        format!("{} failed", graph.entry(node).name),
    )
}

/// Entries that were edited after an attempt had been made from what they were.
fn edit_pending(writing: Writing<'_>) -> Finding {
    const MOST: usize = 10;
    let graph = &writing.parsed.graph;
    let edited = writing.record.nodes.iter().filter(|(node, kept)| {
        let stands = kept.phase().is_live() || (kept.phase().is_end() && kept.attempt > 0);
        stands && kept.entry_hash != 0 && kept.entry_hash != graph.entry(*node).hash
    });
    let names: Vec<&str> = edited.map(|(node, _)| &*graph.entry(node).name).collect();
    if names.is_empty() {
        return Finding::new(ConditionType::EditPending, false, "NoEdit", "");
    }
    let more = names.len().saturating_sub(MOST);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let message = format!(
        "started before they were edited: {}{more}",
        names[..names.len().min(MOST)].join(", ")
    );
    Finding::new(ConditionType::EditPending, true, "StartedBefore", message)
}

fn ended(writing: Writing<'_>) -> [Finding; 2] {
    let Writing { parsed, record, .. } = writing;
    let complete = record.phase == FlowPhase::Succeed;
    let failed = record.phase == FlowPhase::Failed;
    let reason = record.cause.map_or("Failed", |cause| cause.reason.as_str());
    let message = record
        .cause
        .map(|cause| format!("because of {}", parsed.graph.entry(cause.node).name));
    [
        Finding::new(
            ConditionType::Complete,
            complete,
            if complete { "Succeeded" } else { "NotComplete" },
            "",
        ),
        if failed {
            Finding::new(ConditionType::Failed, true, reason, message.unwrap_or_default())
        } else {
            Finding::new(ConditionType::Failed, false, "NotFailed", "")
        },
    ]
}

/// The status of a flow whose spec can't be used: as it was, with `Accepted=False`.
///
/// A flow of which nothing was started has failed; a valid edit starts it. One that has jobs goes on with what runs.
#[must_use]
pub fn refused(flow: &JobFlow, faults: &[Fault], now: Time) -> JobFlowStatus {
    const MOST: usize = 5;
    let mut status = flow.status.clone().unwrap_or_default();
    let errors: Vec<&Fault> = faults.iter().filter(|fault| fault.is_error()).collect();
    let more = errors.len().saturating_sub(MOST);
    let mut words: Vec<String> = errors.iter().take(MOST).map(ToString::to_string).collect();
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    let text = words.join("\n");
    let message = &text[..text.floor_char_boundary(4_000)];
    let mut findings = vec![Finding::new(
        ConditionType::Accepted,
        false,
        "InvalidSpec",
        message,
    )];
    if !was_started(&status) {
        status.state = Some(FlowState {
            phase: Some(types::FlowPhase::Failed),
        });
        status.nodes.get_or_insert_default();
        findings.push(Finding::new(ConditionType::Progressing, false, "InvalidSpec", ""));
        findings.push(Finding::new(
            ConditionType::Failed,
            true,
            "InvalidSpec",
            "the spec can't be used",
        ));
    }
    status.observed_generation = flow.metadata.generation;
    let now = Instant::from(now).into();
    let before = status.flow_conditions.take();
    status.flow_conditions = Some(merge(
        &findings,
        before.as_deref(),
        flow.metadata.generation,
        &now,
    ));
    status
}

/// Whether a node of the flow was ever started, by us or by Volcano's controller before us.
fn was_started(status: &JobFlowStatus) -> bool {
    let started = |node: &types::NodeRecord| {
        let phase = words::core_phase(node.phase.unwrap_or_default());
        node.attempt
            .map_or_else(|| super::usual::attempt(phase) > 0, |attempt| attempt > 0)
    };
    status.nodes.iter().flatten().any(started) || status.job_status_list.iter().flatten().next().is_some()
}
