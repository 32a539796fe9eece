//! Which events a gang raises, which policy answers, and what becomes of an answer that is put off.

use crate::specs::{after, job, on, on_exit, run_all, task};
use crate::world::World;
use jobflow_core::gang::{
    Action, Admission, Command, Event, GangSpec, GangTask, JobPhase, PodPhase, PodView, Policy,
};
use jobflow_core::time::Span;

const MINUTE: Span = Span::from_secs(60);

/// Two pods run; the first one fails with 7. Where the job is then, and how many retries are spent.
fn when_a_pod_fails(of_task: Vec<Policy>, of_job: Vec<Policy>) -> (JobPhase, u32) {
    let tasks = vec![GangTask {
        policies: of_task,
        ..task(2)
    }];
    let mut world = World::admitted(GangSpec {
        policies: of_job,
        ..job(tasks)
    });
    run_all(&mut world);
    world.show(0, 0, PodView::failed(7));
    world.settle(None);
    (world.state.phase(), world.state.status.retry_count)
}

/// A name, policies of the task and of the job, the phase and the retries that follow.
type Row = (&'static str, Vec<Policy>, Vec<Policy>, JobPhase, u32);

#[test]
fn the_first_policy_that_speaks_of_an_event_decides() {
    use Action::{AbortJob, CompleteJob, RestartJob, RestartPod, RestartTask, SyncJob, TerminateJob};
    use Event::{Any, PodEvicted, PodFailed, PodPending, PodRunning, TaskCompleted};
    let fails = PodFailed;
    let table: &[Row] = &[
        ("no policy", vec![], vec![], JobPhase::Running, 0),
        (
            "another event",
            vec![],
            vec![on(PodEvicted, AbortJob)],
            JobPhase::Running,
            0,
        ),
        (
            "a task that isn't done",
            vec![on(TaskCompleted, CompleteJob)],
            vec![],
            JobPhase::Running,
            0,
        ),
        (
            "of the job",
            vec![],
            vec![on(fails, AbortJob)],
            JobPhase::Aborted,
            0,
        ),
        (
            "any event",
            vec![],
            vec![on(Any, TerminateJob)],
            JobPhase::Terminated,
            0,
        ),
        (
            "task before job",
            vec![on(fails, CompleteJob)],
            vec![on(fails, AbortJob)],
            JobPhase::Completed,
            0,
        ),
        (
            "nothing, said by the task",
            vec![on(fails, SyncJob)],
            vec![on(fails, AbortJob)],
            JobPhase::Running,
            0,
        ),
        (
            "first before second",
            vec![],
            vec![on(Any, AbortJob), on(fails, CompleteJob)],
            JobPhase::Aborted,
            0,
        ),
        (
            "exit code",
            vec![],
            vec![on_exit(7, CompleteJob)],
            JobPhase::Completed,
            0,
        ),
        (
            "another exit code",
            vec![],
            vec![on_exit(8, CompleteJob)],
            JobPhase::Running,
            0,
        ),
        (
            "exit code of the task first",
            vec![on_exit(7, AbortJob)],
            vec![on(fails, CompleteJob)],
            JobPhase::Aborted,
            0,
        ),
        (
            "restart of the job",
            vec![],
            vec![on(fails, RestartJob)],
            JobPhase::Pending,
            1,
        ),
        (
            "restart of the task",
            vec![],
            vec![on(fails, RestartTask)],
            JobPhase::Pending,
            1,
        ),
        (
            "restart of the pod",
            vec![],
            vec![on(fails, RestartPod)],
            JobPhase::Pending,
            1,
        ),
        (
            "pods that run ask nothing",
            vec![],
            vec![on(PodRunning, AbortJob)],
            JobPhase::Running,
            0,
        ),
        (
            "pending needs a timeout",
            vec![],
            vec![on(PodPending, AbortJob)],
            JobPhase::Running,
            0,
        ),
        (
            "put off",
            vec![],
            vec![after(MINUTE, on(fails, AbortJob))],
            JobPhase::Running,
            0,
        ),
    ];
    for (name, of_task, of_job, phase, retries) in table {
        assert_eq!(
            when_a_pod_fails(of_task.clone(), of_job.clone()),
            (*phase, *retries),
            "{name}"
        );
    }
}

#[test]
fn an_exit_code_of_nought_matches_nothing() {
    let mut world = World::admitted(GangSpec {
        policies: vec![on_exit(0, Action::AbortJob)],
        ..job(vec![task(2)])
    });
    world.show(0, 0, PodView::failed(0));
    world.settle(None);
    assert_eq!(world.state.phase(), JobPhase::Pending);
}

#[test]
fn a_pod_that_is_pending_for_too_long_is_acted_upon() {
    let policies = vec![after(MINUTE, on(Event::PodPending, Action::AbortJob))];
    let mut world = World::admitted(GangSpec {
        policies,
        ..job(vec![task(1)])
    });
    assert_eq!(world.settle(None).wake_at, Some(world.now + MINUTE));
    world.pass(Span::from_secs(59));
    assert_eq!(world.state.phase(), JobPhase::Pending);
    world.pass(Span::from_secs(1));
    assert_eq!(world.state.phase(), JobPhase::Aborted);
}

#[test]
fn a_pod_that_runs_in_time_takes_the_timeout_back() {
    let policies = vec![after(MINUTE, on(Event::PodPending, Action::AbortJob))];
    let mut world = World::admitted(GangSpec {
        policies,
        ..job(vec![task(1)])
    });
    run_all(&mut world);
    world.pass(MINUTE);
    assert_eq!(world.state.phase(), JobPhase::Running);
}

#[test]
fn an_evicted_pod_that_runs_again_takes_the_timeout_back() {
    let policies = vec![after(MINUTE, on(Event::PodEvicted, Action::AbortJob))];
    let mut world = World::admitted(GangSpec {
        policies,
        ..job(vec![task(2)])
    });
    run_all(&mut world);
    let first = world.key(0, 0).unwrap();
    world.pods.seen.remove(&first);
    let plan = world.settle(None);
    assert_eq!(plan.wake_at, Some(world.now + MINUTE));
    world.show(
        0,
        1,
        PodView {
            ready: false,
            ..PodView::new(PodPhase::Running)
        },
    );
    world.settle(None);
    run_all(&mut world);
    assert_eq!(world.settle(None).wake_at, None);
}

#[test]
fn an_action_put_off_dies_with_the_version() {
    let policies = vec![after(MINUTE, on(Event::PodFailed, Action::TerminateJob))];
    let mut world = World::admitted(GangSpec {
        policies,
        ..job(vec![task(2)])
    });
    world.show(0, 0, PodView::failed(1));
    world.settle(None);
    world.settle(Some(Command::Restart));
    world.pass(MINUTE);
    assert_eq!(world.state.phase(), JobPhase::Pending);
}

#[test]
fn a_task_is_completed_once_all_its_pods_succeeded() {
    let policies = vec![on(Event::TaskCompleted, Action::RestartTask)];
    let mut world = World::admitted(job(vec![GangTask { policies, ..task(2) }, task(1)]));
    world.show(0, 0, PodView::new(PodPhase::Succeeded));
    world.settle(None);
    assert_eq!(world.state.status.retry_count, 0);
    world.show(0, 1, PodView::new(PodPhase::Succeeded));
    world.settle(None);
    assert_eq!(world.state.status.retry_count, 1);
}

#[test]
fn two_pods_that_end_at_once_complete_their_task_once() {
    let policies = vec![on(Event::TaskCompleted, Action::RestartTask)];
    let mut world = World::admitted(job(vec![GangTask { policies, ..task(2) }, task(1)]));
    world.show(0, 0, PodView::new(PodPhase::Succeeded));
    world.show(0, 1, PodView::new(PodPhase::Succeeded));
    world.settle(None);
    assert_eq!(world.state.status.retry_count, 1);
}

#[test]
fn containers_that_restart_too_often_fail_their_task() {
    let mut world = World::admitted(GangSpec {
        policies: vec![on(Event::TaskFailed, Action::TerminateJob)],
        ..job(vec![task(2)])
    });
    let restarted = |restarts| PodView {
        restarts,
        ..PodView::new(PodPhase::Running)
    };
    world.show(0, 0, restarted(2));
    world.settle(None);
    assert_eq!(world.state.phase(), JobPhase::Pending);
    world.show(0, 1, restarted(1));
    world.settle(None);
    assert_eq!(world.state.phase(), JobPhase::Terminated);
}

#[test]
fn a_group_that_falls_apart_is_an_event_of_the_job() {
    let mut world = World::admitted(GangSpec {
        policies: vec![on(Event::JobUnknown, Action::AbortJob)],
        ..job(vec![task(2)])
    });
    world.pods.admission = Admission::Unknown;
    world.settle(None);
    assert_eq!(world.state.phase(), JobPhase::Aborted);
}

#[test]
fn what_we_stopped_is_no_event() {
    let policies = vec![
        on(Event::PodFailed, Action::RestartTask),
        on(Event::PodEvicted, Action::AbortJob),
    ];
    let mut world = World::admitted(GangSpec {
        policies,
        ..job(vec![task(2)])
    });
    world.show(0, 0, PodView::failed(1));
    world.settle(None);
    let status = &world.state.status;
    assert_eq!(
        (status.phase, status.retry_count, status.version),
        (JobPhase::Pending, 1, 0)
    );
}

#[test]
fn what_becomes_of_pods_of_an_older_version_is_no_event() {
    let policies = vec![on(Event::PodEvicted, Action::TerminateJob)];
    let mut world = World::admitted(GangSpec {
        policies,
        ..job(vec![task(2)])
    });
    world.show(0, 0, PodView::failed(1));
    world.settle(Some(Command::Abort));
    world.settle(Some(Command::Resume));
    let kept = world.key(0, 0).unwrap();
    assert_eq!(kept.incarnation, 0);
    world.pods.seen.remove(&kept);
    world.settle(None);
    assert_eq!(world.state.phase(), JobPhase::Pending);
}

#[test]
fn restarts_of_a_stopped_pod_are_not_held_against_the_next_one() {
    let policies = vec![on(Event::TaskFailed, Action::RestartTask)];
    let mut world = World::admitted(GangSpec {
        policies,
        ..job(vec![task(2)])
    });
    let restarted = PodView {
        restarts: 3,
        ..PodView::new(PodPhase::Running)
    };
    world.show(
        0,
        1,
        PodView {
            terminating: true,
            ..restarted.clone()
        },
    );
    world.show(0, 0, restarted);
    world.settle(None);
    assert_eq!(world.state.status.retry_count, 1);
    assert_eq!(world.key(0, 0).map(|key| key.incarnation), Some(1));
}
