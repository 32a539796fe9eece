//! How a run stood when its checkpoint was written.

use jobflow_core::{FlowPhase, NodePhase, Reason};
use serde::Deserialize;

use super::words::reason_words;
use super::{Row, Standing};

/// What the checkpoint of a run says. Fields that are not shown are left out.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Saved {
    flow: String,
    phase: FlowPhase,
    started: Option<i64>,
    finished: Option<i64>,
    at: i64,
    nodes: Vec<SavedNode>,
}

#[derive(Clone, Debug, Deserialize)]
struct SavedNode {
    name: String,
    phase: NodePhase,
    reason: Option<Reason>,
    attempt: u32,
    started: Option<i64>,
    finished: Option<i64>,
    exit_code: Option<i32>,
    message: Option<String>,
}

impl Saved {
    /// The names of the entries, by position.
    pub(crate) fn names(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.name.clone()).collect()
    }

    /// The standing of a run; `now` only while somebody decides for it, since time stands still otherwise.
    pub(crate) fn standing(self, run: &str, now: Option<i64>) -> Standing {
        let Self {
            flow,
            phase,
            started,
            finished,
            at,
            nodes,
        } = self;
        let now = now.unwrap_or(at);
        Standing {
            flow,
            run: run.to_owned(),
            phase,
            took: started.map_or(0, |began| finished.unwrap_or(now).saturating_sub(began)),
            rows: nodes.into_iter().map(|node| node.row(now)).collect(),
        }
    }
}

impl SavedNode {
    fn row(self, now: i64) -> Row {
        let Self {
            name,
            phase,
            reason,
            attempt,
            started,
            finished,
            exit_code,
            message,
        } = self;
        let said = reason
            .filter(|_| phase != NodePhase::Succeeded)
            .map(|reason| reason_words(reason).to_owned());
        let parts: Vec<String> = said.into_iter().chain(message).collect();
        Row {
            name,
            phase,
            attempt,
            took: started.map(|began| finished.unwrap_or(now).saturating_sub(began)),
            tasks: Vec::new(),
            exit_code,
            why: parts.join("; "),
        }
    }
}
