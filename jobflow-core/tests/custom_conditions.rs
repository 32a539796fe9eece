//! Conditions of an embedding program's own: their questions are asked while somebody waits for the answer.

use std::sync::Arc;

use jobflow_core::condition::{Condition, CustomCondition, Predicate, Rule, TargetView};
use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::graph::{Entry, Target};
use jobflow_core::node::NodeState;
use jobflow_core::plan::{Judged, Judgement, judge};
use jobflow_core::record::NodeRecord;
use jobflow_core::{FactCache, FlowGraph, NodeId, NodePhase, Plan, Policy, Snapshot, Time, Verdict, plan};

/// Holds when its source says `open`.
#[derive(Debug)]
struct Door;

impl Predicate for Door {
    fn kind(&self) -> &str {
        "Door"
    }

    fn arguments(&self) -> &str {
        "{}"
    }

    fn wants(&self, target: TargetView<'_>) -> Vec<FactKey> {
        vec![door(target.name)]
    }

    fn evaluate(&self, target: TargetView<'_>, facts: &FactCache, _now: Time) -> Verdict {
        let fact = facts.find(&door(target.name));
        let open = fact.is_some_and(|fact| fact.answer == Answer::Custom("open".into()));
        if open {
            Verdict::Satisfied
        } else {
            Verdict::Pending
        }
    }
}

fn door(target: &str) -> FactKey {
    FactKey::Custom {
        kind: "Door".into(),
        question: target.into(),
    }
}

#[test]
fn a_custom_condition_asks_until_it_has_held() {
    let rule = Rule::new(Condition::Custom(CustomCondition(Arc::new(Door))));
    let mut entry = Entry::job("b");
    entry.targets.push(Target::with("a".into(), rule));
    let graph = FlowGraph::from_names(vec![Entry::job("a"), entry]).unwrap();
    let mut facts = FactCache::default();
    let mut snapshot = Snapshot::unborn(2);
    let mut step = |facts: &FactCache, now| {
        let plan: Plan = plan(&graph, &Policy::default(), &snapshot, facts, Time(now));
        snapshot.record = plan.next.clone();
        plan.wanted.contains(&door("a"))
    };

    assert!(step(&facts, 0));
    facts.learn(door("a"), Answer::Custom("shut".into()), Time(0));
    assert!(step(&facts, 1), "an answer is good for a while only");
    facts.learn(door("a"), Answer::Custom("open".into()), Time(2));
    step(&facts, 2);
    assert!(!step(&facts, 3), "what has held is kept");
}

#[test]
fn a_custom_condition_is_asked_once_more_after_its_target_has_ended() {
    let rule = Rule::new(Condition::Custom(CustomCondition(Arc::new(Door))));
    let entry = Entry::job("a");
    let record = {
        let mut record = NodeRecord::default();
        record.state = NodeState::recorded(NodePhase::Succeeded);
        record.finish_time = Some(Time(10));
        record
    };
    let target = Judged {
        node: NodeId(0),
        entry: &entry,
        record: &record,
    };
    let mut facts = FactCache::default();
    let judged = |facts: &FactCache| judge(&rule.condition, target, facts, Time(20));
    assert_eq!(judged(&facts), Judgement::Pending, "nothing was answered yet");
    facts.learn(door("a"), Answer::Custom("shut".into()), Time(9));
    assert_eq!(judged(&facts), Judgement::Pending, "it may have opened since");
    facts.learn(door("a"), Answer::Custom("shut".into()), Time(11));
    assert!(matches!(judged(&facts), Judgement::Never { .. }));
    facts.learn(door("a"), Answer::Custom("open".into()), Time(12));
    assert_eq!(judged(&facts), Judgement::Holds(Time(20)));
}
