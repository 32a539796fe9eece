//! A flow that was started and whose spec can't be read any more: what runs is followed, and nothing follows from it.

#![expect(
    clippy::unwrap_used,
    reason = "tests say so when something is not as it must be"
)]

use std::sync::Arc;

use jobflow_core::condition::{Condition, Rule};
use jobflow_core::facts::{Answer, TemplateVersion};
use jobflow_core::graph::{Entry, Target};
use jobflow_core::node::NodeState;
use jobflow_core::plan::{Effect, plan_with_answers};
use jobflow_core::snapshot::{CancelMode, Ledger, Sighting};
use jobflow_core::testing::{End, Life, World};
use jobflow_core::{
    FactCache, FlowGraph, FlowPhase, JobKey, NodeId, NodePhase, Policy, Snapshot, Span, Time,
};

/// The flow of these entries a second after its start; from then on each stands alone, and its spec can't be read.
fn frozen(entries: &[Entry<Arc<str>>], lives: impl Fn(JobKey) -> Life + 'static) -> World {
    let graph = FlowGraph::from_names(entries.to_vec()).unwrap();
    let mut world = World::new(graph, Policy::default(), lives);
    world.run(Some(Time(1_000)));
    let alone = entries.iter().map(|entry| Entry {
        targets: Vec::new(),
        ..entry.clone()
    });
    world.graph = FlowGraph::from_names(alone.collect()).unwrap();
    world.wishes.frozen = true;
    world
}

/// Its spec can be read again.
fn mend(world: &mut World, entries: &[Entry<Arc<str>>]) {
    world.graph = FlowGraph::from_names(entries.to_vec()).unwrap();
    world.wishes.frozen = false;
}

fn runs(end: End) -> Life {
    Life {
        runs: Span::from_secs(10),
        ..Life::of(end)
    }
}

fn phase(world: &World, name: &str) -> NodePhase {
    world.record.nodes[world.graph.find(name).unwrap()].phase()
}

#[test]
fn what_runs_is_followed_to_its_end_and_nothing_starts_after_it() {
    let entries = [Entry::job("a"), Entry::job("b").after(["a".into()])];
    let mut world = frozen(&entries, |_| runs(End::Succeeds));
    world.run(None);
    assert_eq!(
        (phase(&world, "a"), phase(&world, "b")),
        (NodePhase::Succeeded, NodePhase::Waiting)
    );
    assert_eq!(world.phase(), FlowPhase::Running, "it is never ended by an edit");
    mend(&mut world, &entries);
    world.run(None);
    assert_eq!((world.phase(), world.created.len()), (FlowPhase::Succeed, 2));
    assert_eq!(world.violations, []);
}

#[test]
fn an_attempt_that_fails_has_its_next_one_when_the_spec_is_mended() {
    let mut entry = Entry::job("a");
    entry.retry.limit = 1;
    let entries = [entry];
    let mut world = frozen(&entries, |key| {
        runs(if key.attempt == 1 {
            End::Fails(1)
        } else {
            End::Succeeds
        })
    });
    world.run(None);
    assert_eq!(
        (phase(&world, "a"), world.created.len()),
        (NodePhase::BackingOff, 1)
    );
    mend(&mut world, &entries);
    world.run(None);
    assert_eq!((world.phase(), world.created.len()), (FlowPhase::Succeed, 2));
    assert_eq!(world.violations, []);
}

#[test]
fn a_failure_ends_nobody_while_nobody_knows_who_handles_it() {
    let mut handler = Entry::job("mail");
    handler
        .targets
        .push(Target::with("a".into(), Rule::new(Condition::Failed)));
    let entries = [Entry::job("a"), handler, Entry::job("c").after(["a".into()])];
    let mut world = frozen(&entries, |key| {
        runs(if key.node == NodeId(0) {
            End::Fails(1)
        } else {
            End::Succeeds
        })
    });
    world.run(None);
    let phases = ["a", "mail", "c"].map(|name| phase(&world, name));
    assert_eq!(
        phases,
        [NodePhase::Failed, NodePhase::Waiting, NodePhase::Waiting]
    );
    mend(&mut world, &entries);
    world.run(None);
    let phases = ["a", "mail", "c"].map(|name| phase(&world, name));
    assert_eq!(
        phases,
        [NodePhase::Failed, NodePhase::Succeeded, NodePhase::Skipped]
    );
    assert_eq!(world.violations, []);
}

#[test]
fn it_can_be_cancelled() {
    let entries = [Entry::job("a"), Entry::job("b").after(["a".into()])];
    let mut world = frozen(&entries, |_| runs(End::Never));
    world.wishes.cancel = Some(CancelMode::Now);
    world.run(None);
    assert_eq!(
        (phase(&world, "a"), phase(&world, "b")),
        (NodePhase::Cancelled, NodePhase::Cancelled)
    );
    assert_eq!(world.phase(), FlowPhase::Failed);
}

#[test]
fn an_intent_that_was_not_carried_out_waits_as_it_is() {
    let key = JobKey {
        node: NodeId(0),
        index: 0,
        attempt: 1,
    };
    let mut edited = Entry::job("a");
    edited.hash = 8;
    let graph = FlowGraph::from_names(vec![edited]).unwrap();
    for frozen in [true, false] {
        let mut snapshot = Snapshot::unborn(1);
        snapshot.ledger = Ledger::Kept;
        snapshot.wishes.frozen = frozen;
        let record = snapshot.record.nodes.change(key.node);
        record.state = NodeState::recorded(NodePhase::Submitting);
        record.attempt = 1;
        record.entry_hash = 7;
        let gone = Sighting::Gone {
            last: None,
            at: Time(0),
        };
        snapshot.jobs.insert(key, gone);
        let plan = plan_with_answers(
            &graph,
            &Policy::default(),
            &snapshot,
            &mut FactCache::default(),
            |_| Some(Answer::Template(TemplateVersion::default())),
            Time(0),
        );
        let creates = plan.effects.contains(&Effect::Create { key });
        let hash = plan.next.nodes[key.node].entry_hash;
        assert_eq!((creates, hash), if frozen { (false, 7) } else { (true, 8) });
    }
}
