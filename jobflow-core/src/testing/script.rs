//! Conformance scripts: a flow, what its jobs do, what people do, and the history that must come of it.
//!
//! ```text
//! # b runs after a
//! flow parallelism=1
//! entry a
//! entry b after a
//! job a runs=2s fails=3
//! at 1s suspend
//! expect a: Submitting Queued Running Failed/JobFailed
//! expect b: Skipped/UpstreamFailed
//! end Failed
//! ```
//!
//! The same text drives the made-up world, processes and a cluster; the histories must be equal.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

mod entry;
mod read;

use super::life::{End, Life};
use super::world::{Moment, World};
use crate::graph::{Entry, FlowGraph, GraphFault};
use crate::phase::{FlowPhase, NodePhase};
use crate::policy::Policy;
use crate::reason::Reason;
use crate::snapshot::CancelMode;
use crate::time::{Span, Time};

/// A conformance script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// What it shows: the comment at its head.
    pub title: String,
    /// The entries of the flow.
    pub entries: Vec<Entry<Arc<str>>>,
    /// The settings of the flow.
    pub policy: Policy,
    /// What jobs do, by entry and attempt; the last one told stands for later attempts.
    pub lives: BTreeMap<(Arc<str>, u32), Life>,
    /// What people do, and when.
    pub acts: Vec<(Time, Act)>,
    /// The histories that must come of it.
    pub expected: Vec<Expectation>,
    /// The phase that the flow must end in, or be in when nothing happens any more.
    pub end: FlowPhase,
}

/// Something that people do, or that befalls the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Somebody cancels the flow.
    Cancel(CancelMode),
    /// Somebody suspends the flow; `running`: its running jobs too.
    Suspend {
        /// Whether running jobs are stopped too.
        running: bool,
    },
    /// Somebody resumes it.
    Resume,
    /// Somebody deletes the job of an entry.
    Delete(Arc<str>),
    /// The driver restarts.
    Forget,
}

/// A phase, with the reason where one is told.
pub type Step = (NodePhase, Option<Reason>);

/// The history of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The entry.
    pub name: Arc<str>,
    /// Its phases in order, with the reason where the script tells one.
    pub steps: Vec<Step>,
}

/// A line of a script that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFault {
    /// The line, from 1; 0 for the flow as a whole.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl core::fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// Every line that can't be read.
    pub fn parse(text: &str) -> Result<Self, Vec<ScriptFault>> {
        read::script(text)
    }

    /// The graph of its flow.
    ///
    /// # Errors
    ///
    /// The faults of the flow.
    pub fn graph(&self) -> Result<FlowGraph, Vec<GraphFault>> {
        FlowGraph::from_names(self.entries.clone())
    }

    /// What a job of this entry does.
    #[must_use]
    pub fn life(&self, name: &str, attempt: u32) -> Life {
        let told = self
            .lives
            .range((Arc::from(name), 0)..=(Arc::from(name), attempt))
            .next_back();
        told.map_or(
            Life {
                queued: Span::ZERO,
                runs: Span::from_secs(1),
                end: End::Succeeds,
            },
            |(_, life)| *life,
        )
    }

    /// Plays it in a made-up world.
    ///
    /// # Errors
    ///
    /// The faults of the flow.
    pub fn play(&self) -> Result<World, Vec<GraphFault>> {
        let graph = self.graph()?;
        let script = self.clone();
        let names = graph.clone();
        let lives = move |key: crate::key::JobKey| script.life(&names.entry(key.node).name, key.attempt);
        let mut world = World::new(graph, self.policy.clone(), lives);
        for (at, act) in &self.acts {
            world.run(Some(*at));
            perform(&mut world, act);
        }
        world.run(None);
        Ok(world)
    }

    /// Where histories differ from what is expected, a line each.
    #[must_use]
    pub fn differences(&self, graph: &FlowGraph, history: &[Moment], end: FlowPhase) -> Vec<String> {
        let mut differences = Vec::new();
        for expected in &self.expected {
            let seen: Vec<Step> = history
                .iter()
                .filter(|moment| graph.entry(moment.change.key.node).name == expected.name)
                .map(|moment| (moment.change.to, moment.reason))
                .collect();
            if !fits(&expected.steps, &seen) {
                differences.push(format!(
                    "{}: expected {}, found {}",
                    expected.name,
                    words(&expected.steps),
                    words(&seen)
                ));
            }
        }
        if end != self.end {
            differences.push(format!("the flow: expected {}, found {end}", self.end));
        }
        differences
    }
}

fn perform(world: &mut World, act: &Act) {
    match act {
        Act::Cancel(mode) => world.wishes.cancel = Some(*mode),
        Act::Suspend { running } => {
            world.wishes.suspend = true;
            world.wishes.suspend_running = *running;
        }
        Act::Resume => {
            world.wishes.suspend = false;
            world.wishes.suspend_running = false;
        }
        Act::Delete(name) => {
            if let Some(node) = world.graph.find(name) {
                let attempt = world.record.nodes[node].attempt;
                world.delete(crate::key::JobKey {
                    node,
                    index: 0,
                    attempt,
                });
            }
        }
        Act::Forget => world.forget(),
    }
}

/// A reason that the script doesn't tell may be any.
fn fits(expected: &[Step], seen: &[Step]) -> bool {
    let step = |(expected, seen): (&Step, &Step)| {
        expected.0 == seen.0 && (expected.1.is_none() || expected.1 == seen.1)
    };
    expected.len() == seen.len() && expected.iter().zip(seen).all(step)
}

fn words(steps: &[Step]) -> String {
    let word = |(phase, reason): &Step| match reason {
        Some(reason) => format!("{phase}/{reason}"),
        None => phase.to_string(),
    };
    steps.iter().map(word).collect::<Vec<_>>().join(" ")
}
