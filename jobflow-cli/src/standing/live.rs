//! How a run stands while this process decides for it.

use std::collections::BTreeMap;

use jobflow_core::report::{Report, Why};
use jobflow_core::snapshot::TaskCount;
use jobflow_core::{FlowGraph, FlowRecord, NodeId, Time};

use super::words::words;
use super::{Row, Standing};

/// What a standing is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// The flow's name.
    pub(crate) flow: &'a str,
    /// The run's name.
    pub(crate) run: &'a str,
    /// The graph.
    pub(crate) graph: &'a FlowGraph,
    /// The record.
    pub(crate) record: &'a FlowRecord,
    /// Why what has not ended stands where it does.
    pub(crate) report: &'a Report,
    /// The time.
    pub(crate) now: Time,
}

/// Counts the pods of the job that an attempt of a node has; none where there is no such job.
pub(crate) trait Pods: Fn(NodeId, u32) -> Option<Vec<TaskCount>> {}

impl<F: Fn(NodeId, u32) -> Option<Vec<TaskCount>>> Pods for F {}

impl Standing {
    /// Describes a run. Where a job is gone, the last known counts of its pods are shown.
    pub(crate) fn of(source: &Source<'_>, pods: impl Pods) -> Self {
        let planned: BTreeMap<NodeId, Why> = source.report.iter().copied().collect();
        let nodes = source.record.nodes.iter().map(|(node, _)| node);
        Self {
            flow: source.flow.to_owned(),
            run: source.run.to_owned(),
            phase: source.record.phase,
            took: source.took(),
            rows: nodes
                .filter_map(|node| source.describe(node, planned.get(&node).copied(), &pods))
                .collect(),
        }
    }
}

impl Source<'_> {
    /// How long the flow has taken, or took.
    pub(crate) fn took(&self) -> i64 {
        let record = self.record;
        let began = record.start_time.unwrap_or(self.now);
        between(began, record.completion_time.unwrap_or(self.now))
    }

    /// Describes one node.
    pub(crate) fn row(&self, node: NodeId, pods: impl Pods) -> Option<Row> {
        let planned = self
            .report
            .iter()
            .find(|(of, _)| *of == node)
            .map(|(_, why)| *why);
        self.describe(node, planned, &pods)
    }

    fn describe(&self, node: NodeId, planned: Option<Why>, pods: &impl Pods) -> Option<Row> {
        let entry = self.graph.entries().get(node.position())?;
        let at = self.record.nodes.get(node)?;
        let tasks = pods(node, at.attempt).or_else(|| at.tasks.as_deref().map(<[_]>::to_vec));
        let ended = at.finish_time.unwrap_or(self.now);
        Some(Row {
            name: entry.name.to_string(),
            phase: at.phase(),
            attempt: at.attempt,
            took: at.start_time.map(|began| between(began, ended)),
            tasks: tasks.unwrap_or_default(),
            exit_code: at.exit_code,
            why: words(node, at, planned, &|node| name(self.graph, node), self.now),
        })
    }
}

fn name(graph: &FlowGraph, node: NodeId) -> Option<String> {
    let entry = graph.entries().get(node.position())?;
    Some(entry.name.to_string())
}

fn between(began: Time, ended: Time) -> i64 {
    i64::try_from(ended.since(began).0).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use jobflow_core::graph::Entry;
    use jobflow_core::plan::plan;
    use jobflow_core::{FactCache, Policy, Snapshot};

    use super::*;

    #[test]
    fn what_waits_says_for_what() {
        let entries = vec![
            Entry::job("a"),
            Entry::job("b"),
            Entry::job("c").after(["a".into(), "b".into()]),
            Entry::job("d").after(["c".into()]),
            Entry {
                finally: true,
                ..Entry::job("clean")
            },
        ];
        let graph = FlowGraph::from_names(entries).unwrap();
        let snapshot = Snapshot::unborn(graph.len());
        let planned = plan(
            &graph,
            &Policy::default(),
            &snapshot,
            &FactCache::default(),
            Time(0),
        );
        let source = Source {
            flow: "f",
            run: "r",
            graph: &graph,
            record: &planned.next,
            report: &planned.report,
            now: Time(5000),
        };
        let standing = Standing::of(&source, |_, _| None);
        let why: Vec<&str> = standing.rows.iter().map(|row| row.why.as_str()).collect();
        assert_eq!(
            why,
            [
                "is being prepared",
                "is being prepared",
                "waits for a and 1 more",
                "waits for c",
                "waits for all others to end"
            ]
        );
        assert_eq!(source.row(NodeId(3), |_, _| None), standing.rows.get(3).cloned());
        assert_eq!(source.row(NodeId(9), |_, _| None), None);
        assert_eq!(standing.took, 5000);
    }
}
