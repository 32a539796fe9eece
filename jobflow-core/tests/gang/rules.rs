//! What tasks wait for, when a job has ended, and what becomes of pods on the way.

use crate::specs::{job, run_all, task};
use crate::world::World;
use jobflow_core::gang::{
    Admission, Command, DependsOn, GangSpec, GangState, GangTask, Iteration, JobPhase, PodPhase, PodView,
    Pods, step,
};
use jobflow_core::{Time, time::Span};

const MINUTE: Span = Span::from_secs(60);

#[test]
fn a_job_that_is_stopped_gives_its_place_back_once() {
    let mut world = World::admitted(job(vec![task(1)]));
    let plan = |world: &World, command| step(&world.spec, &world.state, &world.pods, command, world.now);
    assert!(!plan(&world, None).released);
    assert!(plan(&world, Some(Command::Abort)).released);
    world.settle(Some(Command::Abort));
    assert!(!plan(&world, None).released);
}

#[test]
fn a_task_waits_for_all_or_any_of_others() {
    let pods_when_first_runs = |iteration| {
        let third = GangTask {
            depends_on: Some(DependsOn {
                tasks: vec![0, 1],
                iteration,
            }),
            ..task(1)
        };
        let mut world = World::admitted(job(vec![task(2), task(1), third]));
        assert_eq!(world.pods.seen.len(), 3);
        world.show(0, 0, PodView::new(PodPhase::Running));
        world.show(
            0,
            1,
            PodView {
                ready: false,
                ..PodView::new(PodPhase::Running)
            },
        );
        world.settle(None);
        assert_eq!(world.pods.seen.len(), 3, "one of two isn't ready");
        world.show(0, 1, PodView::new(PodPhase::Succeeded));
        world.settle(None);
        world.pods.seen.len()
    };
    assert_eq!(pods_when_first_runs(Iteration::Any), 4);
    assert_eq!(pods_when_first_runs(Iteration::All), 3);
}

#[test]
fn the_end_follows_from_the_minima() {
    let end = |min_available, task_min, min_success, succeeded| {
        let tasks = vec![
            GangTask {
                min_available: task_min,
                ..task(2)
            },
            GangTask {
                min_available: 1,
                ..task(1)
            },
        ];
        let mut world = World::admitted(GangSpec {
            min_available,
            min_success,
            ..job(tasks)
        });
        for (place, (task, index)) in [(0, 0), (0, 1), (1, 0)].into_iter().enumerate() {
            let phase = if place < succeeded {
                PodPhase::Succeeded
            } else {
                PodPhase::Failed
            };
            world.show(task, index, PodView::new(phase));
        }
        world.settle(None);
        world.state.phase()
    };
    assert_eq!(end(3, 2, None, 3), JobPhase::Completed);
    assert_eq!(
        end(3, 2, None, 2),
        JobPhase::Failed,
        "the second task needs its pod"
    );
    assert_eq!(
        end(2, 2, None, 2),
        JobPhase::Completed,
        "the job's minimum leaves a task out"
    );
    assert_eq!(end(2, 2, None, 1), JobPhase::Failed);
    assert_eq!(end(1, 2, Some(2), 2), JobPhase::Completed);
    assert_eq!(end(1, 2, Some(2), 1), JobPhase::Failed, "fewer than minSuccess");
}

#[test]
fn a_job_without_pods_runs_and_never_ends() {
    let world = World::admitted(job(vec![]));
    assert_eq!(world.state.phase(), JobPhase::Running);
}

#[test]
fn times_of_start_and_rest_are_kept() {
    let mut world = World::admitted(job(vec![task(1)]));
    world.now = world.now + MINUTE;
    run_all(&mut world);
    let started = world.now;
    world.now = world.now + MINUTE;
    world.settle(Some(Command::Abort));
    assert_eq!(
        (world.state.started, world.state.ended),
        (Some(started), Some(world.now))
    );
    world.settle(Some(Command::Resume));
    assert_eq!((world.state.started, world.state.ended), (Some(started), None));
}

#[test]
fn replicas_that_the_spec_drops_are_stopped() {
    let mut world = World::admitted(job(vec![task(3)]));
    world.spec.tasks[0].replicas = 1;
    run_all(&mut world);
    assert_eq!(world.pods.seen.len(), 1);
}

/// One step, none of whose effects is carried out; when the next one is due.
fn run(spec: &GangSpec, state: &mut GangState, pods: &Pods, command: Option<Command>) -> Option<Time> {
    let plan = step(spec, state, pods, command, Time(0));
    *state = plan.next;
    plan.wake_at
}

#[test]
fn a_pod_stopped_before_it_was_seen_holds_nothing_up() {
    let spec = job(vec![task(1)]);
    let pods = Pods {
        admission: Admission::Granted,
        ..Pods::default()
    };
    let mut state = GangState::new(Time(0));
    while let Some(now) = run(&spec, &mut state, &pods, None) {
        assert_eq!(now, Time(0));
    }
    assert!(run(&spec, &mut state, &pods, Some(Command::Terminate)).is_some());
    while run(&spec, &mut state, &pods, None).is_some() {}
    assert_eq!(state.phase(), JobPhase::Terminated);
}
