//! In whatever order targets end, the same comes of their dependent, and at the moment that a slow and obvious reading
//! of the rules says.

use jobflow_core::condition::{Condition, Rule};
use jobflow_core::graph::{Entry, Strategy, Target};
use jobflow_core::node::NodeEvent;
use jobflow_core::policy::FailurePolicy;
use jobflow_core::testing::{End, Life, World};
use jobflow_core::{FlowGraph, NodeId, NodePhase, Policy, Span, Time};
use proptest::prelude::{
    Just, ProptestConfig, TestCaseError, any, prop, prop_assert_eq, prop_oneof, proptest,
};
use proptest::strategy::Strategy as _;

/// How one target ends, and what is asked of it.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    succeeds: bool,
    excused: bool,
    condition: Asked,
}

#[derive(Clone, Copy, Debug)]
enum Asked {
    Completed,
    Failed,
    Finished,
    Started,
}

/// What a rule comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Holds,
    Open,
    Never,
}

fn drawn() -> impl proptest::strategy::Strategy<Value = Drawn> {
    let asked = prop_oneof![
        Just(Asked::Completed),
        Just(Asked::Failed),
        Just(Asked::Finished),
        Just(Asked::Started)
    ];
    (any::<bool>(), any::<bool>(), asked).prop_map(|(succeeds, excused, condition)| Drawn {
        succeeds,
        excused,
        condition,
    })
}

/// The rule on a target of which it is known whether it has ended; all have started.
fn verdict(drawn: Drawn, ended: bool) -> Verdict {
    let open = |holds: bool| match (ended, holds) {
        (false, _) => Verdict::Open,
        (true, true) => Verdict::Holds,
        (true, false) => Verdict::Never,
    };
    match drawn.condition {
        Asked::Started => Verdict::Holds,
        Asked::Finished => open(true),
        Asked::Failed => open(!drawn.succeeds),
        Asked::Completed => open(drawn.succeeds || drawn.excused),
    }
}

fn needed(strategy: Strategy, targets: usize) -> usize {
    match strategy {
        Strategy::All => targets,
        Strategy::Any => 1,
        Strategy::AtLeast(count) => count as usize,
    }
}

/// After how many ends the dependent starts; none: never. `ranks` says as which one each target ends.
fn starts_after(targets: &[Drawn], strategy: Strategy, ranks: &[usize]) -> Option<usize> {
    let holds_after = |ends: usize| {
        let verdicts = targets
            .iter()
            .zip(ranks)
            .map(|(drawn, rank)| verdict(*drawn, *rank < ends));
        verdicts.filter(|verdict| *verdict == Verdict::Holds).count()
    };
    (0..=targets.len()).find(|ends| holds_after(*ends) >= needed(strategy, targets.len()))
}

#[expect(clippy::unwrap_used, reason = "the graph is sound")]
fn world(targets: &[Drawn], strategy: Strategy, ranks: &[usize]) -> World {
    let mut entries: Vec<Entry> = targets
        .iter()
        .map(|drawn| Entry {
            allow_failure: drawn.excused,
            ..Entry::job("target")
        })
        .collect();
    let mut dependent = Entry::job("dependent");
    dependent.strategy = strategy;
    for (node, drawn) in (0..).map(NodeId).zip(targets) {
        let condition = match drawn.condition {
            Asked::Completed => Condition::Completed,
            Asked::Failed => Condition::Failed,
            Asked::Finished => Condition::Finished,
            Asked::Started => Condition::Started,
        };
        dependent.targets.push(Target::with(node, Rule::new(condition)));
    }
    entries.push(dependent);
    let policy = Policy {
        failure_policy: FailurePolicy::Continue,
        ..Policy::default()
    };
    let lives: Vec<Life> = targets
        .iter()
        .zip(ranks)
        .map(|(drawn, rank)| Life {
            queued: Span::ZERO,
            runs: Span::from_secs(10 * (*rank as u64 + 1)),
            end: if drawn.succeeds {
                End::Succeeds
            } else {
                End::Fails(1)
            },
        })
        .collect();
    let graph = FlowGraph::build(entries).unwrap();
    World::new(graph, policy, move |key| {
        lives
            .get(key.node.position())
            .copied()
            .unwrap_or(Life::of(End::Succeeds))
    })
}

/// All orders of so many.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let with_last_at = |place: usize| {
        shorter.iter().map(move |order| {
            let mut order = order.clone();
            order.insert(place, count - 1);
            order
        })
    };
    (0..count).flat_map(with_last_at).collect()
}

fn check(targets: &[Drawn], strategy: Strategy) -> Result<(), TestCaseError> {
    let dependent = NodeId(targets.len() as u32);
    for ranks in orders(targets.len()) {
        let mut world = world(targets, strategy, &ranks);
        world.run(None);
        prop_assert_eq!(&world.violations, &[]);
        let started = world
            .history
            .iter()
            .find(|moment| moment.change.key.node == dependent && moment.change.event == NodeEvent::Submit)
            .map(|moment| moment.change.at);
        let due = starts_after(targets, strategy, &ranks).map(|ends| Time(10_000 * ends as i64));
        prop_assert_eq!(started, due, "{:?} in the order {:?}", targets, ranks);
        let phase = world.record.nodes[dependent].phase();
        let wanted = match due {
            Some(_) => NodePhase::Succeeded,
            None => NodePhase::Skipped,
        };
        prop_assert_eq!(phase, wanted);
    }
    Ok(())
}

#[test]
fn there_are_as_many_orders_as_there_should_be() {
    let counts: Vec<usize> = (0..6).map(|count| orders(count).len()).collect();
    assert_eq!(counts, [1, 1, 2, 6, 24, 120]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn all_targets_in_whatever_order(targets in prop::collection::vec(drawn(), 1..=5)) {
        check(&targets, Strategy::All)?;
    }

    #[test]
    fn any_target_in_whatever_order(targets in prop::collection::vec(drawn(), 1..=5)) {
        check(&targets, Strategy::Any)?;
    }

    #[test]
    fn at_least_some_targets_in_whatever_order(
        (targets, count) in prop::collection::vec(drawn(), 1..=5)
            .prop_flat_map(|targets| { let most = targets.len(); (Just(targets), 1..=most) })
    ) {
        check(&targets, Strategy::AtLeast(count as u32))?;
    }
}
