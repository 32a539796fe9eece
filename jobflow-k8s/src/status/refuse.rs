//! The status of a flow whose spec can't be used.

use jobflow_core::Time;

use super::conditions::{ConditionType, Finding, merge};
use super::{usual, words};
use crate::fault::Fault;
use crate::types::{self, FlowState, Instant, JobFlow, JobFlowStatus};

/// Why a flow isn't accepted.
const INVALID_SPEC: &str = "InvalidSpec";

/// The status of a flow whose spec can't be used: as it was, with `Accepted=False`.
///
/// A flow of which nothing was started has failed; a valid edit starts it. One that has jobs goes on with what runs.
#[must_use]
pub fn refused(flow: &JobFlow, faults: &[Fault], now: Time) -> JobFlowStatus {
    let mut status = flow.status.clone().unwrap_or_default();
    let mut findings = vec![Finding::new(
        ConditionType::Accepted,
        false,
        INVALID_SPEC,
        message(faults),
    )];
    if !was_started(&status) {
        status.state = Some(FlowState {
            phase: Some(types::FlowPhase::Failed),
        });
        status.nodes.get_or_insert_default();
        findings.push(Finding::new(ConditionType::Progressing, false, INVALID_SPEC, ""));
        findings.push(Finding::new(
            ConditionType::Failed,
            true,
            INVALID_SPEC,
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

/// Whether a status tells of these faults, or of none if there are none.
#[must_use]
pub fn tells(status: &JobFlowStatus, faults: &[Fault]) -> bool {
    let mut conditions = status.flow_conditions.iter().flatten();
    let refusal = conditions.find(|condition| {
        condition.type_ == ConditionType::Accepted.as_str() && condition.reason == INVALID_SPEC
    });
    match refusal {
        Some(refusal) => !faults.is_empty() && refusal.message == message(faults),
        None => faults.is_empty(),
    }
}

/// The first faults in words.
fn message(faults: &[Fault]) -> String {
    const MOST: usize = 5;
    let errors: Vec<&Fault> = faults.iter().filter(|fault| fault.is_error()).collect();
    let more = errors.len().saturating_sub(MOST);
    let mut words: Vec<String> = errors.iter().take(MOST).map(ToString::to_string).collect();
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    let text = words.join("\n");
    text[..text.floor_char_boundary(4_000)].to_owned()
}

/// Whether a node of the flow was ever started, by us or by Volcano's controller before us.
fn was_started(status: &JobFlowStatus) -> bool {
    has_started(status) || status.job_status_list.iter().flatten().next().is_some()
}

/// Whether the record of the flow tells of a node that was started.
#[must_use]
pub fn has_started(status: &JobFlowStatus) -> bool {
    let started = |node: &types::NodeRecord| {
        let phase = words::core_phase(node.phase.unwrap_or_default());
        node.attempt
            .map_or_else(|| usual::attempt(phase) > 0, |attempt| attempt > 0)
    };
    status.nodes.iter().flatten().any(started)
}
