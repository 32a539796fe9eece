//! The status of a flow whose spec can't be used.

use jobflow_core::Time;

use super::conditions::{ConditionType, Finding, merge};
use super::{usual, words};
use crate::fault::Fault;
use crate::types::{self, FlowState, Instant, JobFlow, JobFlowStatus};

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
            .map_or_else(|| usual::attempt(phase) > 0, |attempt| attempt > 0)
    };
    status.nodes.iter().flatten().any(started) || status.job_status_list.iter().flatten().next().is_some()
}
