//! Probes of targets: asked while the target runs, held once they are answered, void with the attempt that answered.

use std::sync::Arc;

use jobflow_core::condition::{Condition, Rule, Rules};
use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::graph::{Entry, Target};
use jobflow_core::probe::{Ask, Probe, ProbeAnswer, Replicas};
use jobflow_core::report::Why;
use jobflow_core::testing::{End, Life, World};
use jobflow_core::{FlowGraph, JobKey, NodeId, NodePhase, Plan, Policy, Reason, Span, Time};

fn probe(success_threshold: u32) -> Arc<Probe> {
    Arc::new(Probe {
        task: "main".into(),
        port: 80,
        ask: Ask::TcpSocket,
        period: Span::from_secs(10),
        timeout: Span::from_secs(1),
        success_threshold,
        replicas: Replicas::All,
    })
}

/// `service`, and `user` that waits for it to have started and to answer.
#[expect(clippy::unwrap_used, reason = "the graph is sound")]
fn world(probe: &Arc<Probe>, service: Life, retries: u32) -> World {
    let mut rules = Rules::One(Rule::new(Condition::Started));
    rules.push(Rule::new(Condition::Probe(Arc::clone(probe))));
    let mut user = Entry::job("user");
    user.targets.push(Target {
        node: "service".into(),
        rules,
    });
    let mut target = Entry::job("service");
    target.retry.limit = retries;
    let graph = FlowGraph::from_names(vec![target, user]).unwrap();
    World::new(graph, Policy::default(), move |key| match key.node {
        NodeId(0) => service,
        _ => Life::of(End::Succeeds),
    })
}

fn running_until(end: End, seconds: u64) -> Life {
    Life {
        queued: Span::from_secs(1),
        runs: Span::from_secs(seconds),
        end,
    }
}

fn question(probe: &Arc<Probe>, attempt: u32) -> FactKey {
    FactKey::Probe {
        target: JobKey {
            node: NodeId(0),
            index: 0,
            attempt,
        },
        probe: Arc::clone(probe),
    }
}

fn why(plan: &Plan) -> Option<Why> {
    let user = |(node, _): &&(NodeId, Why)| *node == NodeId(1);
    plan.report.iter().find(user).map(|(_, why)| *why)
}

fn at(seconds: i64) -> Option<Time> {
    Some(Time(seconds * 1000))
}

#[test]
fn a_probe_is_asked_from_when_a_pod_runs_until_it_has_held() {
    let probe = probe(1);
    let mut world = world(&probe, running_until(End::Never, 0), 0);
    world.settle();
    assert_eq!(world.round().wanted, [], "no pod runs yet");

    world.run(at(2));
    let asked = world.round();
    assert_eq!(asked.wanted, [question(&probe, 1)]);
    assert_eq!(
        why(&asked),
        Some(Why::Unanswered {
            unmet: 1,
            first: NodeId(0),
            answer: None
        })
    );

    assert!(world.hear(question(&probe, 1), Answer::Probe(ProbeAnswer::Refused)));
    assert!(
        !world.hear(question(&probe, 1), Answer::Probe(ProbeAnswer::Refused)),
        "no news"
    );
    let refused = world.round();
    assert_eq!(refused.wanted, [question(&probe, 1)]);
    assert_eq!(
        why(&refused),
        Some(Why::Unanswered {
            unmet: 1,
            first: NodeId(0),
            answer: Some(ProbeAnswer::Refused)
        })
    );

    assert!(world.hear(question(&probe, 1), Answer::Probe(ProbeAnswer::Success)));
    world.run(at(3));
    assert_eq!(world.phases("user").last(), Some(&NodePhase::Succeeded));
    assert_eq!(world.round().wanted, []);
    assert_eq!(world.violations, []);
}

#[test]
fn as_many_looks_in_a_row_succeed_as_the_threshold_says() {
    use ProbeAnswer::{Refused, Success};
    let probe = probe(3);
    let mut world = world(&probe, running_until(End::Never, 0), 0);
    world.run(at(2));
    let hears = [
        (Success, true, "a first answer"),
        (Success, false, "the second of three"),
        (Refused, true, "another answer"),
        (Success, true, "another answer again"),
        (Success, false, "the second of three"),
    ];
    for (answer, news, what) in hears {
        assert_eq!(
            world.hear(question(&probe, 1), Answer::Probe(answer)),
            news,
            "{what}"
        );
        world.settle();
        assert_eq!(world.phases("user"), [], "{what}");
    }
    assert!(
        world.hear(question(&probe, 1), Answer::Probe(Success)),
        "the third"
    );
    world.run(at(3));
    assert_eq!(world.phases("user").last(), Some(&NodePhase::Succeeded));
}

#[test]
fn what_has_held_stays_when_the_target_ends_before_its_dependent_starts() {
    let probe = probe(1);
    let mut world = world(&probe, running_until(End::Succeeds, 100), 0);
    world.wishes.suspend = false;
    world.run(at(2));
    world.wishes.suspend = true;
    world.hear(question(&probe, 1), Answer::Probe(ProbeAnswer::Success));
    world.run(at(200));
    world.forget();
    assert_eq!(world.phases("service").last(), Some(&NodePhase::Succeeded));
    assert_eq!(world.phases("user"), [NodePhase::Blocked], "suspended");
    world.wishes.suspend = false;
    world.run(None);
    assert_eq!(world.phases("user").last(), Some(&NodePhase::Succeeded));
}

#[test]
fn what_an_attempt_answered_is_void_once_another_one_follows() {
    let probe = probe(1);
    let mut world = world(&probe, running_until(End::Fails(1), 100), 1);
    world.run(at(2));
    world.wishes.suspend = true;
    world.hear(question(&probe, 1), Answer::Probe(ProbeAnswer::Success));
    world.run(at(50));
    world.wishes.suspend = false;
    world.policy.parallelism = Some(1);
    world.run(at(115));
    assert_eq!(
        world.phases("service").last(),
        Some(&NodePhase::Running),
        "its second attempt"
    );
    assert_eq!(world.round().wanted, [question(&probe, 2)]);
    assert!(!world.phases("user").contains(&NodePhase::Submitting));
}

#[test]
fn no_answer_counts_once_the_target_has_ended() {
    for (end, reason) in [
        (End::Succeeds, Reason::ConditionNeverMet),
        (End::Fails(1), Reason::UpstreamFailed),
    ] {
        let probe = probe(1);
        let mut world = world(&probe, running_until(end, 10), 0);
        world.run(at(11));
        world.hear(question(&probe, 1), Answer::Probe(ProbeAnswer::Success));
        world.run(None);
        let user = &world.record.nodes[NodeId(1)];
        assert_eq!((user.phase(), user.reason), (NodePhase::Skipped, Some(reason)));
        assert_eq!(world.violations, []);
    }
}

#[test]
fn answers_that_nobody_asks_for_any_more_are_dropped() {
    let probe = probe(1);
    let mut world = world(&probe, running_until(End::Never, 0), 0);
    world.run(at(2));
    world.hear(question(&probe, 7), Answer::Probe(ProbeAnswer::Success));
    world.settle();
    let again = world.hear(question(&probe, 7), Answer::Probe(ProbeAnswer::Success));
    assert!(again, "the first answer was forgotten");
}
