//! How a run stood when its checkpoint was written.

use std::collections::BTreeMap;

use jobflow_core::report::Why;
use jobflow_core::{NodeId, NodePhase, Time};
use jobflow_local::runner::{NodeLine, Reasons, Seen};

use super::words::{reason_words, words};
use super::{Row, Standing};

impl Standing {
    /// What a checkpoint says; `now` only while somebody decides for the run, since time stands still otherwise.
    pub(crate) fn saved(seen: &Seen, run: &str, now: Option<i64>) -> Self {
        let now = now.unwrap_or(seen.at);
        let took = |began: i64| seen.finished.unwrap_or(now).saturating_sub(began);
        let whys = Whys::of(seen, now);
        let rows = seen.nodes.iter().zip(0..);
        Self {
            flow: seen.flow.clone(),
            run: run.to_owned(),
            phase: seen.phase,
            took: seen.started.map_or(0, took),
            rows: rows
                .map(|(line, node)| row(line, now, whys.of_node(NodeId(node), line)))
                .collect(),
        }
    }
}

/// Why the nodes of a checkpoint stand where they do.
struct Whys<'a> {
    seen: &'a Seen,
    planned: BTreeMap<NodeId, Why>,
    now: Time,
}

impl<'a> Whys<'a> {
    fn of(seen: &'a Seen, now: i64) -> Self {
        let report = seen.reasons.iter().flat_map(|reasons| &reasons.report);
        Self {
            seen,
            planned: report.copied().collect(),
            now: Time(now),
        }
    }

    fn of_node(&self, node: NodeId, line: &NodeLine) -> String {
        let reasons = self.seen.reasons.as_ref();
        let known = reasons.and_then(|reasons| Some((reasons, reasons.record.nodes.get(node)?)));
        let Some((reasons, record)) = known else {
            return written(line);
        };
        let names = |node: NodeId| {
            let line = self.seen.nodes.get(node.position())?;
            Some(line.name.clone())
        };
        let planned = self.planned.get(&node).copied();
        let said = words(node, record, planned, &names, self.now);
        match shortage(reasons, node).filter(|_| line.phase == NodePhase::Queued) {
            Some(shortage) => shortage,
            None => said,
        }
    }
}

/// What the machine has too little of for the Job of a node.
fn shortage(reasons: &Reasons, node: NodeId) -> Option<String> {
    let mut shortages = reasons.shortages.iter();
    let (_, shortage) = shortages.find(|(short, _)| *short == node)?;
    Some(shortage.to_string())
}

/// What the line itself says.
fn written(line: &NodeLine) -> String {
    let said = line
        .reason
        .filter(|_| line.phase != NodePhase::Succeeded)
        .map(|reason| reason_words(reason).to_owned());
    let parts: Vec<String> = said.into_iter().chain(line.message.clone()).collect();
    parts.join("; ")
}

fn row(line: &NodeLine, now: i64, why: String) -> Row {
    let took = |began: i64| line.finished.unwrap_or(now).saturating_sub(began);
    Row {
        name: line.name.clone(),
        phase: line.phase,
        attempt: line.attempt,
        took: line.started.map(took),
        tasks: Vec::new(),
        exit_code: line.exit_code,
        why,
    }
}
