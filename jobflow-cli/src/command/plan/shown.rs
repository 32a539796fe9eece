//! A plan as text, as Jobs, and as an object.

use jobflow_core::{NodeId, NodePhase, Reason};
use jobflow_k8s::parse::Flow;
use serde_json::{Value, json};

use super::jobs::Jobs;
use crate::escape::{terminal, yaml};
use crate::rehearsal::{Rehearsal, Start};
use crate::standing::reason_words;
use crate::table::{span, table};

/// All that is shown of a plan.
pub(super) struct Shown<'a> {
    pub(super) flow: &'a Flow,
    pub(super) name: &'a str,
    pub(super) rehearsal: Rehearsal,
    pub(super) jobs: &'a Jobs,
}

impl Shown<'_> {
    /// The waves as a table, what never starts, and the longest path.
    pub(super) fn text(&self) -> String {
        let head = ["WAVE", "WHEN", "ENTRY", "PODS", "PATH", "WAITS FOR"]
            .map(str::to_owned)
            .to_vec();
        let mut rows = vec![head];
        for (wave, number) in self.rehearsal.waves.iter().zip(1..) {
            for (at, node) in wave.nodes.iter().enumerate() {
                let (number, start) = match at {
                    0 => (format!("{number}"), start_words(wave.start)),
                    _ => (String::new(), String::new()),
                };
                rows.push(self.row(number, start, *node));
            }
        }
        let (entries, waves) = (self.flow.graph.len(), self.rehearsal.waves.len());
        let mut text = format!(
            "{}: {entries} entries in {waves} waves, if each job succeeds\n\n",
            terminal(self.name)
        );
        text += &table(&rows);
        let never: Vec<String> = self.rehearsal.never().map(|node| self.never(node)).collect();
        if !never.is_empty() {
            text += &format!("\nnever starts:\n{}", never.concat());
        }
        if self.flow.wishes.holds_back() {
            text += "\nthe flow is suspended: nothing starts before `suspend` is taken out\n";
        }
        let path: Vec<String> = self.path().into_iter().map(|node| self.name(node)).collect();
        let path = format!("longest path: {} ({})", path.join(" -> "), path.len());
        text + "\n" + &terminal(&path) + "\n"
    }

    fn row(&self, number: String, start: String, node: NodeId) -> Vec<String> {
        let pods = self
            .jobs
            .pods(node)
            .map_or_else(|| "?".to_owned(), |pods| pods.to_string());
        let targets = self.flow.graph.entry(node).targets.iter();
        let targets: Vec<String> = targets.map(|target| self.name(target.node)).collect();
        let path = self.flow.graph.remaining(node).to_string();
        vec![number, start, self.name(node), pods, path, targets.join(", ")]
    }

    fn never(&self, node: NodeId) -> String {
        let record = &self.rehearsal.record.nodes[node];
        let why = record
            .reason
            .map_or("what it waits for can't be known", reason_words);
        terminal(&format!("  {}: {}; {why}", self.name(node), record.phase())) + "\n"
    }

    /// From an entry with the longest way to go to the end of that way; the first in the spec, of several.
    fn path(&self) -> Vec<NodeId> {
        let graph = &self.flow.graph;
        let longest = |nodes: &[NodeId]| {
            nodes
                .iter()
                .copied()
                .min_by_key(|node| (std::cmp::Reverse(graph.remaining(*node)), *node))
        };
        std::iter::successors(longest(graph.order()), |node| longest(graph.dependents(*node))).collect()
    }

    /// The Jobs, in the order in which they would be created.
    pub(super) fn yaml(&self) -> String {
        let nodes = self.rehearsal.waves.iter().flat_map(|wave| &wave.nodes);
        let jobs = nodes.filter_map(|node| self.job(*node));
        let texts: Vec<String> = jobs.map(|job| yaml(&job)).collect();
        texts.join("---\n")
    }

    fn job(&self, node: NodeId) -> Option<Value> {
        serde_json::to_value(&self.jobs.job(node)?.job).ok()
    }

    /// Everything as one object.
    pub(super) fn json(&self) -> Value {
        let waves = self.rehearsal.waves.iter().map(|wave| {
            let entries: Vec<Value> = wave.nodes.iter().map(|node| self.entry(*node)).collect();
            let (start, delay) = start_json(wave.start);
            json!({ "start": start, "delayMilliseconds": delay, "entries": entries })
        });
        let never = self.rehearsal.never().map(|node| {
            let record = &self.rehearsal.record.nodes[node];
            json!({
                "name": self.name(node),
                "phase": NodePhase::as_str(record.phase()),
                "reason": record.reason.map(Reason::as_str),
            })
        });
        json!({
            "flow": self.name,
            "suspended": self.flow.wishes.holds_back(),
            "waves": waves.collect::<Vec<_>>(),
            "never": never.collect::<Vec<_>>(),
            "longestPath": self.path().into_iter().map(|node| self.name(node)).collect::<Vec<_>>(),
        })
    }

    fn entry(&self, node: NodeId) -> Value {
        let targets = self.flow.graph.entry(node).targets.iter();
        json!({
            "name": self.name(node),
            "finally": self.flow.graph.is_finally(node),
            "targets": targets.map(|target| self.name(target.node)).collect::<Vec<_>>(),
            "remaining": self.flow.graph.remaining(node),
            "pods": self.jobs.pods(node),
            "job": self.job(node),
        })
    }

    fn name(&self, node: NodeId) -> String {
        self.flow.graph.entry(node).name.to_string()
    }
}

fn start_words(start: Start) -> String {
    match start {
        Start::AtOnce => "at once".to_owned(),
        Start::Created => "once the wave before is there".to_owned(),
        Start::Running => "once the wave before runs".to_owned(),
        Start::Ended => "once those before have ended".to_owned(),
        Start::After(delay) => format!("{} later", span(i64::try_from(delay.0).unwrap_or(i64::MAX))),
    }
}

fn start_json(start: Start) -> (&'static str, Option<u64>) {
    match start {
        Start::AtOnce => ("AtOnce", None),
        Start::Created => ("Created", None),
        Start::Running => ("Running", None),
        Start::Ended => ("Ended", None),
        Start::After(delay) => ("After", Some(delay.0)),
    }
}
