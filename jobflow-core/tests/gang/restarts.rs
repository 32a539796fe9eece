//! What a restart and a resume do to the pods of a gang, and what they spend.

use crate::specs::{job, on, run_all, task};
use crate::world::World;
use jobflow_core::gang::{Action, Command, Event, GangSpec, GangTask, JobPhase, PodPhase, PodView};

#[test]
fn a_restart_reaches_its_part_of_the_job_only() {
    let reach = |action| {
        let tasks = vec![
            GangTask {
                partition_size: Some(2),
                ..task(4)
            },
            task(1),
        ];
        let mut world = World::admitted(GangSpec {
            policies: vec![on(Event::PodFailed, action)],
            ..job(tasks)
        });
        run_all(&mut world);
        world.show(0, 2, PodView::failed(1));
        world.settle(None);
        let keys = world.pods.seen.keys().map(|key| key.incarnation);
        (keys.collect::<Vec<_>>(), world.state.status.version)
    };
    assert_eq!(reach(Action::RestartPod), (vec![0, 0, 1, 0, 0], 0));
    assert_eq!(reach(Action::RestartPartition), (vec![0, 0, 1, 1, 0], 0));
    assert_eq!(reach(Action::RestartTask), (vec![1, 1, 1, 1, 0], 0));
    assert_eq!(reach(Action::RestartJob), (vec![1, 1, 1, 1, 1], 1));
}

#[test]
fn a_restart_waits_until_enough_pods_are_gone() {
    let mut world = World::admitted(GangSpec {
        min_available: 1,
        ..job(vec![task(2)])
    });
    run_all(&mut world);
    for index in 0..2 {
        world.show(
            0,
            index,
            PodView {
                terminating: true,
                ..PodView::new(PodPhase::Running)
            },
        );
    }
    world.settle(Some(Command::Restart));
    assert_eq!(
        (world.state.phase(), world.state.status.counts.terminating),
        (JobPhase::Restarting, 2)
    );
    let first = world.key(0, 0).unwrap();
    world.pods.seen.remove(&first);
    world.settle(None);
    assert_eq!(world.state.phase(), JobPhase::Pending);
}

#[test]
fn the_last_retry_keeps_pods_that_ended() {
    let policies = vec![on(Event::PodFailed, Action::RestartJob)];
    let mut world = World::admitted(GangSpec {
        policies,
        max_retry: 1,
        ..job(vec![task(2)])
    });
    world.show(0, 0, PodView::failed(1));
    world.settle(None);
    assert_eq!(world.state.phase(), JobPhase::Failed);
    assert_eq!(world.pods.seen.len(), 1);
}

#[test]
fn a_retry_that_is_none_any_more_makes_pods_that_never_run() {
    let policies = vec![on(Event::PodFailed, Action::RestartTask)];
    let mut world = World::admitted(GangSpec {
        policies,
        max_retry: 1,
        ..job(vec![task(1)])
    });
    world.show(0, 0, PodView::failed(1));
    world.settle(None);
    assert_eq!(
        (world.state.phase(), world.pods.seen.len()),
        (JobPhase::Failed, 0)
    );
}

#[test]
fn a_minimum_that_cannot_be_met_does_not_hold_a_restart_up() {
    let mut world = World::admitted(GangSpec {
        min_available: 9,
        ..job(vec![task(1)])
    });
    world.settle(Some(Command::Restart));
    assert_eq!(world.state.phase(), JobPhase::Pending);
}

#[test]
fn only_an_aborted_job_can_be_resumed() {
    for (command, phase) in [
        (Command::Abort, JobPhase::Pending),
        (Command::Terminate, JobPhase::Terminated),
    ] {
        let mut world = World::admitted(job(vec![task(1)]));
        world.settle(Some(command));
        world.settle(Some(Command::Resume));
        assert_eq!(world.state.phase(), phase);
    }
}
