//! What a look at a node tells, of flows of which one thing each keeps it where it is.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;

use super::*;
use crate::condition::{CustomCondition, Predicate, Rules, TaskCondition, TaskStatus};
use crate::facts::Answer;
use crate::graph::Entry;
use crate::node::NodeState;
use crate::plan::plan;
use crate::snapshot::{PodCounts, Snapshot, TaskCount, Wishes};
use crate::time::Span;
use crate::verdict::Verdict;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);

/// A flow after a plan of it.
struct Looked {
    graph: FlowGraph,
    policy: Policy,
    record: FlowRecord,
    report: Report,
}

impl Looked {
    fn at(entries: Vec<Entry<Arc<str>>>, policy: Policy, phases: &[(NodePhase, Option<Reason>)]) -> Self {
        let graph = FlowGraph::from_names(entries).unwrap();
        let mut snapshot = Snapshot::unborn(graph.len());
        for (position, (phase, reason)) in phases.iter().enumerate() {
            let record = snapshot.record.nodes.change(crate::graph::node_id(position));
            record.state = NodeState::recorded(*phase);
            record.reason = *reason;
            record.attempt = u32::from(!phase.is_undecided());
        }
        Self::planned(graph, policy, &snapshot)
    }

    fn planned(graph: FlowGraph, policy: Policy, snapshot: &Snapshot) -> Self {
        let planned = plan(&graph, &policy, snapshot, &FactCache::default(), Time(1000));
        Self {
            graph,
            policy,
            record: planned.next,
            report: planned.report,
        }
    }

    fn view<'a>(&'a self, facts: &'a FactCache) -> View<'a> {
        View {
            graph: &self.graph,
            policy: &self.policy,
            record: &self.record,
            report: &self.report,
            facts,
            now: Time(1000),
        }
    }

    fn chain(&self, node: NodeId) -> Vec<Explanation> {
        self.view(&FactCache::default()).chain(node)
    }
}

fn after(name: &str, target: &str) -> Entry<Arc<str>> {
    Entry::job(name).after([target.into()])
}

fn nodes(chain: &[Explanation]) -> Vec<NodeId> {
    chain.iter().map(|link| link.node).collect()
}

#[test]
fn a_chain_leads_from_a_node_to_the_one_whose_job_runs() {
    let entries = vec![Entry::job("a"), after("b", "a"), after("c", "b")];
    let looked = Looked::at(entries, Policy::default(), &[(NodePhase::Running, None)]);
    let chain = looked.chain(C);
    assert_eq!(nodes(&chain), [C, B, A]);
    assert_eq!(chain[0].why, Some(Why::Targets { unmet: 1, first: B }));
    assert_eq!(chain[0].waits[0].stands, Stands::NotYet);
    assert_eq!(chain[2].waits, []);
}

#[test]
fn a_chain_leads_from_a_skip_to_what_failed() {
    let entries = vec![Entry::job("a"), after("b", "a"), after("c", "b")];
    let failed = (NodePhase::Failed, Some(Reason::JobFailed));
    let looked = Looked::at(entries, Policy::default(), &[failed]);
    assert_eq!(looked.record.nodes[C].phase(), NodePhase::Skipped);
    let chain = looked.chain(C);
    assert_eq!((nodes(&chain), chain[0].why), (vec![C, A], None));
}

#[test]
fn a_limit_tells_who_takes_the_places() {
    let policy = Policy {
        parallelism: Some(1),
        ..Policy::default()
    };
    let entries = vec![Entry::job("a"), Entry::job("b")];
    let looked = Looked::at(entries, policy, &[(NodePhase::Running, None)]);
    let limit = looked.chain(B).remove(0).limit;
    assert_eq!(
        limit,
        Some(Limit {
            most: 1,
            alive: vec![A]
        })
    );
}

#[test]
fn a_suspension_is_a_cause_of_its_own() {
    let graph = FlowGraph::from_names(vec![Entry::job("a"), after("b", "a")]).unwrap();
    let mut snapshot = Snapshot::unborn(2);
    snapshot.wishes = Wishes {
        suspend: true,
        ..Wishes::default()
    };
    let chain = Looked::planned(graph, Policy::default(), &snapshot).chain(B);
    assert_eq!(nodes(&chain), [B, A]);
    assert_eq!(chain[1].why, Some(Why::HeldBack(Reason::Suspended)));
}

#[test]
fn a_delay_tells_since_when_and_until_when() {
    let rule = Rule {
        delay: Span(500),
        ..Rule::new(Condition::Completed)
    };
    let late = Entry {
        targets: vec![Target::with("a".into(), rule)],
        ..Entry::job("b")
    };
    let graph = FlowGraph::from_names(vec![Entry::job("a"), late]).unwrap();
    let mut snapshot = Snapshot::unborn(2);
    let done = snapshot.record.nodes.change(A);
    done.state = NodeState::recorded(NodePhase::Succeeded);
    done.finish_time = Some(Time(900));
    let looked = Looked::planned(graph, Policy::default(), &snapshot);
    let chain = looked.chain(B);
    let (since, until) = (Time(900), Time(1400));
    assert_eq!(chain[0].waits[0].stands, Stands::Delayed { since, until });
    assert_eq!(nodes(&chain), [B]);
}

#[test]
fn a_condition_on_pods_tells_how_many_are_missing() {
    let pods = Condition::Task(TaskCondition {
        task: "w".into(),
        status: TaskStatus::Running,
        at_least: None,
    });
    let rules = Rules::Many(Box::new([Rule::new(Condition::Started), Rule::new(pods)]));
    let waiting = Entry {
        targets: vec![Target {
            node: "a".into(),
            rules,
        }],
        ..Entry::job("b")
    };
    let graph = FlowGraph::from_names(vec![Entry::job("a"), waiting]).unwrap();
    let mut snapshot = Snapshot::unborn(2);
    let running = snapshot.record.nodes.change(A);
    running.state = NodeState::recorded(NodePhase::Running);
    running.attempt = 1;
    running.started_since = Some(Time(800));
    let counts = PodCounts {
        pending: 1,
        running: 2,
        ..PodCounts::default()
    };
    running.tasks = Some(Arc::from([TaskCount {
        task: "w".into(),
        replicas: 3,
        counts,
    }]));
    let waits = Looked::planned(graph, Policy::default(), &snapshot)
        .chain(B)
        .remove(0)
        .waits;
    assert_eq!(waits[0].stands, Stands::Holds { since: Time(800) });
    let missing = Some(Share {
        reached: 2,
        wanted: 3,
    });
    assert_eq!((waits[1].stands, waits[1].share), (Stands::NotYet, missing));
}

#[test]
fn a_backoff_ends_a_chain_with_its_time() {
    let graph = FlowGraph::from_names(vec![Entry::job("a"), after("b", "a")]).unwrap();
    let mut snapshot = Snapshot::unborn(2);
    let later = snapshot.record.nodes.change(A);
    later.state = NodeState::recorded(NodePhase::BackingOff);
    later.attempt = 1;
    later.next_retry = Some(Time(9000));
    let chain = Looked::planned(graph, Policy::default(), &snapshot).chain(B);
    assert_eq!(chain[1].why, Some(Why::Until(Time(9000))));
}

#[test]
fn finally_waits_for_what_stands_still_rather_than_for_what_waits() {
    let last = Entry {
        finally: true,
        ..Entry::job("c")
    };
    let entries = vec![after("a", "b"), Entry::job("b"), last];
    let phases = [(NodePhase::Waiting, None), (NodePhase::Running, None)];
    let looked = Looked::at(entries, Policy::default(), &phases);
    assert_eq!(nodes(&looked.chain(C)), [C, B]);
}

#[test]
fn a_node_that_is_not_there_has_no_chain() {
    let looked = Looked::at(vec![Entry::job("a")], Policy::default(), &[]);
    assert_eq!(looked.chain(NodeId(7)), []);
}

/// Asks how large its target is, and has no verdict before an answer.
#[derive(Debug)]
struct Size;

impl Predicate for Size {
    fn kind(&self) -> &'static str {
        "size"
    }

    fn arguments(&self) -> &'static str {
        "{}"
    }

    fn wants(&self, target: TargetView<'_>) -> Vec<FactKey> {
        vec![FactKey::Custom {
            kind: "size".into(),
            question: target.name.into(),
        }]
    }

    fn evaluate(&self, _: TargetView<'_>, _: &FactCache, _: Time) -> Verdict {
        Verdict::Pending
    }
}

#[test]
fn a_custom_condition_tells_its_question_and_the_last_answer() {
    let rule = Rule::new(Condition::Custom(CustomCondition(Arc::new(Size))));
    let asking = Entry {
        targets: vec![Target::with("a".into(), rule)],
        ..Entry::job("b")
    };
    let looked = Looked::at(
        vec![Entry::job("a"), asking],
        Policy::default(),
        &[(NodePhase::Running, None)],
    );
    let mut facts = FactCache::default();
    let question = FactKey::Custom {
        kind: "size".into(),
        question: "a".into(),
    };
    let asked = |facts: &FactCache| looked.view(facts).chain(B).remove(0).waits.remove(0).asked;
    assert_eq!(asked(&facts)[0].answer, None);
    facts.learn(question.clone(), Answer::Custom("12".into()), Time(700));
    let answer = Some(Fact {
        answer: Answer::Custom("12".into()),
        when: Time(700),
        streak: 1,
    });
    assert_eq!(asked(&facts), [Asked { question, answer }]);
}
