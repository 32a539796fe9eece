//! The status to store, from the record and what is known of Jobs, within its bounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::Time;
use jobflow_core::key::JobKey;
use jobflow_core::record::{FlowRecord, FlowStop};
use jobflow_core::report::Report;

use super::conditions::merge;
use super::level::{LEVELS, Level};
use super::nodes::Listed;
use super::size::{self, TooLarge};
use super::told::findings;
use super::{count, jobs, words};
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

/// Writes the status of a flow: as much of it as its bounds allow.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use jobflow_core::{Snapshot, Time};
/// use jobflow_k8s::parse::{Known, parse};
/// use jobflow_k8s::status::{Writing, base_size, read, write};
/// use jobflow_k8s::types::JobFlow;
///
/// let mut flow: JobFlow = serde_json::from_str(
///     r#"{"metadata": {"name": "nightly"}, "spec": {"flows": [{"name": "train"}]}}"#,
/// )
/// .unwrap();
/// let parsed = parse(&flow, Known::default()).unwrap();
/// let record = Snapshot::unborn(parsed.graph.len()).record;
/// let written = write(Writing {
///     flow: &flow,
///     base_size: base_size(&flow),
///     parsed: &parsed,
///     record: &record,
///     jobs: &BTreeMap::new(),
///     report: &Vec::new(),
///     now: Time(0),
/// })
/// .unwrap();
/// assert_eq!(written.status.progress.as_deref(), Some("0/1"));
///
/// flow.status = Some(written.status);
/// assert_eq!(read(&flow, &parsed).unwrap(), record);
/// ```
///
/// # Errors
///
/// If even the least of it doesn't fit beside the spec: the flow can't be followed.
pub fn write(writing: Writing<'_>) -> Result<Written, TooLarge> {
    let name = writing.flow.metadata.name.as_deref().unwrap_or_default();
    let rows = jobs::rows(name, writing.parsed, writing.record, writing.jobs);
    let listed = Listed::of(writing);
    let budget = size::budget(writing.parsed.graph.len());
    let mut detail = LEVELS[0].detail;
    let mut nodes = listed.nodes(detail);
    let mut bytes_of_nodes = size::bytes(&nodes);
    let mut bytes = 0;
    for level in LEVELS {
        if level.detail != detail {
            detail = level.detail;
            nodes = listed.nodes(detail);
            bytes_of_nodes = size::bytes(&nodes);
        }
        let mut status = frame(writing, &rows, level);
        bytes = writing.base_size + size::bytes(&status) + bytes_of_nodes + KEYS;
        if bytes
            <= if level.frugal {
                budget
            } else {
                size::MOST_OBJECT_BYTES
            }
        {
            status.nodes = Some(nodes);
            let truncated = level.truncated;
            return Ok(Written { status, truncated });
        }
    }
    Err(TooLarge { bytes })
}

/// What joins the parts of an object: `,"status":` and `"nodes":,`.
const KEYS: usize = 20;

/// The status without its nodes.
fn frame(writing: Writing<'_>, rows: &[jobs::Row], level: Level) -> JobFlowStatus {
    let Writing {
        flow,
        base_size: _,
        parsed,
        record,
        jobs,
        report: _,
        now,
    } = writing;
    let previous = flow.status.as_ref();
    let deadline = record.deadline.as_ref().map(words::clock);
    let mut status = JobFlowStatus {
        state: Some(FlowState {
            phase: Some(words::flow_phase(record.phase)),
        }),
        observed_generation: flow.metadata.generation,
        progress: Some(count::progress(record)),
        start_time: record.start_time.map(Into::into),
        completion_time: record.completion_time.map(Into::into),
        summary: Some(count::summary(record)),
        requests: previous.and_then(|status| status.requests.clone()),
        stop: record.stop.map(stop),
        clocks: deadline.map(|clock| BTreeMap::from([("deadline".to_owned(), clock)])),
        arguments_digest: previous.and_then(|status| status.arguments_digest.clone()),
        cause: record.cause.map(|cause| types::Cause {
            node: Some(parsed.graph.entry(cause.node).name.to_string()),
            reason: Some(cause.reason.as_str().to_owned()),
        }),
        finally_since: record.finally_since.map(Into::into),
        ledger_lost: record.ledger_lost.then_some(true),
        ..JobFlowStatus::default()
    };
    jobs::list(&mut status, rows, jobs, previous, level.extent);
    let before = previous.and_then(|status| status.flow_conditions.as_deref());
    let now = Instant::from(now).into();
    let findings = findings(writing, level.truncated);
    status.flow_conditions = Some(merge(&findings, before, flow.metadata.generation, &now));
    status
}

fn stop(stop: FlowStop) -> types::Stop {
    types::Stop {
        cause: Some(words::flow_stop(stop.cause).to_owned()),
        since: Some(stop.since.into()),
    }
}
