//! How a run stands at one moment, ready to be shown.
//!
//! Comes in: what a run wrote down, or is doing. Goes out: a line an entry with all its texts. Deliberately
//! absent: widths, colours, streams.

mod live;
mod saved;
#[cfg(feature = "cluster")]
pub(crate) mod stored;
mod words;

use jobflow_core::snapshot::TaskCount;
use jobflow_core::{FlowPhase, NodePhase};
use serde_json::{Value, json};

pub(crate) use live::Source;
pub(crate) use words::{between, reason_words, words};

/// A run at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Standing {
    /// The flow's name.
    pub(crate) flow: String,
    /// The run's name.
    pub(crate) run: String,
    /// The flow's phase.
    pub(crate) phase: FlowPhase,
    /// How long it has taken, or took, in milliseconds.
    pub(crate) took: i64,
    /// Its entries, in the order of the spec.
    pub(crate) rows: Vec<Row>,
}

/// An entry at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: String,
    /// Its phase.
    pub(crate) phase: NodePhase,
    /// Which attempt this is, from 1; 0 before the first.
    pub(crate) attempt: u32,
    /// How long it has taken, or took, in milliseconds.
    pub(crate) took: Option<i64>,
    /// Its tasks, with their pods.
    pub(crate) tasks: Vec<TaskCount>,
    /// The exit code of a failure.
    pub(crate) exit_code: Option<i32>,
    /// Why it stands there; empty where the phase says it all.
    pub(crate) why: String,
}

impl Standing {
    /// How many entries have ended.
    pub(crate) fn done(&self) -> usize {
        self.rows.iter().filter(|row| row.phase.is_end()).count()
    }

    /// The same for programs.
    pub(crate) fn as_json(&self) -> Value {
        let Self {
            flow,
            run,
            phase,
            took,
            rows,
        } = self;
        json!({
            "flow": flow,
            "run": run,
            "phase": phase.as_str(),
            "progress": format!("{}/{}", self.done(), rows.len()),
            "milliseconds": took,
            "nodes": rows.iter().map(Row::as_json).collect::<Vec<_>>(),
        })
    }
}

impl Row {
    fn as_json(&self) -> Value {
        let Self {
            name,
            phase,
            attempt,
            took,
            tasks,
            exit_code,
            why,
        } = self;
        let pods = |count: &TaskCount| {
            json!({
                "task": &*count.task,
                "replicas": count.replicas,
                "pending": count.counts.pending,
                "running": count.counts.running,
                "succeeded": count.counts.succeeded,
                "failed": count.counts.failed,
            })
        };
        json!({
            "name": name,
            "phase": phase.as_str(),
            "attempt": attempt,
            "milliseconds": took,
            "exitCode": exit_code,
            "why": Some(why).filter(|why| !why.is_empty()),
            "tasks": tasks.iter().map(pods).collect::<Vec<_>>(),
        })
    }
}
