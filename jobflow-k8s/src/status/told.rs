//! What is true of a flow, for its conditions.

use jobflow_core::record::{FlowRecord, NodeRecord};
use jobflow_core::snapshot::Wishes;
use jobflow_core::{FlowPhase, NodeId, NodePhase, Reason};

use super::Writing;
use super::conditions::{ConditionType, Finding};

/// What is true of the flow.
pub(super) fn findings(writing: Writing<'_>, truncated: bool) -> Vec<Finding> {
    let Writing { parsed, record, .. } = writing;
    let mut findings = vec![
        progressing(record, &parsed.wishes),
        suspended(record, &parsed.wishes),
    ];
    // Whoever knows the faults tells of a spec that isn't valid.
    if !parsed.wishes.frozen {
        findings.insert(0, accepted(record));
    }
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
            .any(|(_, node)| node.reason == Some(Reason::LedgerLost));
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
    let reason = kept.reason.map_or("JobFailed", Reason::as_str);
    Finding::new(
        ConditionType::Failing,
        true,
        reason,
        format!("{} failed", graph.entry(node).name),
    )
}

/// Entries that were edited after an attempt had been made from what they were, and those that came after the end.
fn edit_pending(writing: Writing<'_>) -> Finding {
    let Writing { parsed, record, .. } = writing;
    let graph = &parsed.graph;
    let is_edited = |(node, kept): &(NodeId, &NodeRecord)| {
        let stands = kept.phase().is_live() || (kept.phase().is_end() && kept.attempt > 0);
        stands && kept.entry_hash != 0 && kept.entry_hash != graph.entry(*node).hash
    };
    let is_late = |(_, kept): &(NodeId, &NodeRecord)| record.has_ended() && kept.phase().is_undecided();
    let name = |(node, _): (NodeId, &NodeRecord)| &*graph.entry(node).name;
    let edited: Vec<&str> = record.nodes.iter().filter(is_edited).map(name).collect();
    let late: Vec<&str> = record.nodes.iter().filter(is_late).map(name).collect();
    let reason = match (edited.is_empty(), late.is_empty()) {
        (true, true) => return Finding::new(ConditionType::EditPending, false, "NoEdit", ""),
        (false, _) => "StartedBefore",
        (true, false) => "EndedBefore",
    };
    let told = [
        listed("started before they were edited", &edited),
        listed("added after the flow had ended", &late),
    ];
    let message = told.into_iter().flatten().collect::<Vec<_>>().join("; ");
    Finding::new(ConditionType::EditPending, true, reason, message)
}

/// The first names of a list, and how many more; nothing of an empty one.
fn listed(what: &str, names: &[&str]) -> Option<String> {
    const MOST: usize = 10;
    let shown = names.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        _ if names.is_empty() => None,
        0 => Some(format!("{what}: {shown}")),
        more => Some(format!("{what}: {shown} and {more} more")),
    }
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
