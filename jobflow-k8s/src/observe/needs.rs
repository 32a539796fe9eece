//! Whose pods have to be looked at: most flows get along without a look at any.
//!
//! Comes in: the graph, the record, and what a plan wants to know. Goes out: Jobs, by why their pods matter.
//! Deliberately absent: how pods are watched.

use std::collections::BTreeSet;

use jobflow_core::condition::{Condition, TaskStatus};
use jobflow_core::facts::FactKey;
use jobflow_core::{FlowGraph, FlowRecord, JobKey, NodeId, NodePhase};

/// What of a graph asks for a look at pods; worked out once a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodInterests {
    /// Dependents that wait for readiness, and the targets whose it is.
    readiness: Vec<(NodeId, NodeId)>,
    /// Nodes whose ends are judged by how their pods ended.
    causes: Vec<NodeId>,
}

/// The Jobs whose pods are to be looked at now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodNeeds {
    /// For how many are ready.
    pub readiness: BTreeSet<JobKey>,
    /// For their addresses.
    pub addresses: BTreeSet<JobKey>,
    /// For exit codes and losses.
    pub causes: BTreeSet<JobKey>,
}

impl PodInterests {
    /// What this graph asks for.
    #[must_use]
    pub fn of(graph: &FlowGraph) -> Self {
        let mut interests = Self::default();
        for (node, entry) in (0..).map(NodeId).zip(graph.entries()) {
            for target in &entry.targets {
                if target
                    .rules
                    .as_slice()
                    .iter()
                    .any(|rule| asks_readiness(&rule.condition))
                {
                    interests.readiness.push((node, target.node));
                }
            }
            let retry = &entry.retry;
            if retry.limit > 0 || retry.infrastructure_limit > 0 {
                interests.causes.push(node);
            }
        }
        interests
    }

    /// The Jobs whose pods matter at this moment.
    #[must_use]
    pub fn now(&self, record: &FlowRecord, wanted: &[FactKey]) -> PodNeeds {
        let mut needs = PodNeeds::default();
        for (dependent, target) in &self.readiness {
            let waits = record
                .nodes
                .get(*dependent)
                .is_some_and(|node| node.phase().is_undecided());
            needs
                .readiness
                .extend(in_course(record, *target).filter(|_| waits));
        }
        for node in &self.causes {
            needs.causes.extend(in_course(record, *node));
        }
        for key in wanted {
            if let FactKey::Probe { target, .. } = key {
                needs.addresses.insert(*target);
            }
        }
        needs
    }
}

impl PodNeeds {
    /// Whether nobody's pods matter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self {
            readiness,
            addresses,
            causes,
        } = self;
        readiness.is_empty() && addresses.is_empty() && causes.is_empty()
    }

    /// Whether the pods of this Job matter.
    #[must_use]
    pub fn has(&self, job: JobKey) -> bool {
        let Self {
            readiness,
            addresses,
            causes,
        } = self;
        [readiness, addresses, causes]
            .iter()
            .any(|jobs| jobs.contains(&job))
    }
}

fn asks_readiness(condition: &Condition) -> bool {
    match condition {
        Condition::Ready(_) => true,
        Condition::Task(task) => task.status == TaskStatus::Ready,
        Condition::Completed
        | Condition::Started
        | Condition::Running
        | Condition::Failed
        | Condition::Finished
        | Condition::Probe(_)
        | Condition::Custom(_) => false,
        // What a later version adds asks for itself.
        _ => false,
    }
}

/// The Job of a node while its attempt hasn't ended.
fn in_course(record: &FlowRecord, node: NodeId) -> impl Iterator<Item = JobKey> {
    let record = record.nodes.get(node);
    let live = record.filter(|record| {
        matches!(
            record.phase(),
            NodePhase::Queued | NodePhase::Running | NodePhase::Stopping
        )
    });
    live.into_iter().map(move |record| JobKey {
        node,
        index: 0,
        attempt: record.attempt,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jobflow_core::condition::{Rule, TaskCondition};
    use jobflow_core::graph::{Entry, Target};
    use jobflow_core::node::NodeState;
    use jobflow_core::probe::{Ask, Probe, Replicas};
    use jobflow_core::record::Nodes;
    use jobflow_core::{Snapshot, Span};

    use super::*;

    fn waiting_for(condition: Condition) -> FlowGraph {
        let mut b = Entry::job("b");
        b.targets.push(Target::with("a".into(), Rule::new(condition)));
        FlowGraph::from_names(vec![Entry::job("a"), b]).unwrap()
    }

    fn record(a: NodePhase, b: NodePhase) -> FlowRecord {
        let mut record = Snapshot::unborn(2).record;
        for (node, phase) in [(NodeId(0), a), (NodeId(1), b)] {
            let node: &mut _ = Nodes::change(&mut record.nodes, node);
            node.state = NodeState::recorded(phase);
            node.attempt = 3;
        }
        record
    }

    const JOB: JobKey = JobKey {
        node: NodeId(0),
        index: 0,
        attempt: 3,
    };

    #[test]
    fn a_flow_that_waits_for_ends_needs_no_look_at_pods() {
        let interests = PodInterests::of(&waiting_for(Condition::Completed));
        assert_eq!(interests, PodInterests::default());
        let needs = interests.now(&record(NodePhase::Running, NodePhase::Waiting), &[]);
        assert!(needs.is_empty());
    }

    #[test]
    fn readiness_matters_while_somebody_waits_for_it_and_the_attempt_is_in_course() {
        let of_task = Condition::Task(TaskCondition {
            task: "main".into(),
            status: TaskStatus::Ready,
            at_least: None,
        });
        for condition in [Condition::Ready(None), of_task] {
            let interests = PodInterests::of(&waiting_for(condition));
            let needs = |a, b| interests.now(&record(a, b), &[]).has(JOB);
            assert!(needs(NodePhase::Running, NodePhase::Waiting));
            assert!(!needs(NodePhase::Running, NodePhase::Succeeded));
            assert!(!needs(NodePhase::BackingOff, NodePhase::Waiting));
        }
    }

    #[test]
    fn addresses_matter_while_a_plan_asks_and_causes_where_there_is_a_retry() {
        let mut entry = Entry::job("a");
        entry.retry.limit = 1;
        let graph = FlowGraph::from_names(vec![entry, Entry::job("b")]).unwrap();
        let probe = Arc::new(Probe {
            task: "".into(),
            port: 80,
            ask: Ask::TcpSocket,
            period: Span::from_secs(10),
            timeout: Span::from_secs(1),
            success_threshold: 1,
            replicas: Replicas::All,
        });
        let wanted = [FactKey::Probe { target: JOB, probe }];
        let record = record(NodePhase::Running, NodePhase::Waiting);
        let needs = PodInterests::of(&graph).now(&record, &wanted);
        assert_eq!(needs.addresses, [JOB].into());
        assert_eq!(needs.causes, [JOB].into());
        assert_eq!(needs.readiness, [].into());
    }
}
