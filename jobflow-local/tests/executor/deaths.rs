//! Somebody is killed: the client, the executor, or both in turn.

use std::time::{Duration, Instant};

use jobflow_local::{
    client::Client,
    executor::{is_alive as executor_is_alive, line::Line},
    task::{Outcome, TaskState},
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::world::{World, eventually, is_alive, key};

fn sigkill(pid: i32) {
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
}

#[test]
fn tasks_go_on_without_a_client_and_the_next_one_hears_everything() {
    let mut world = World::new();
    world.sh("a", "until [ -e go ]; do sleep 0.01; done; exit 6");
    let group = world.started("a");
    world.disconnect();
    std::fs::write(world.path("go"), "").unwrap();
    eventually("the end of the task", || !is_alive(group));
    world.connect();
    assert_eq!(world.ended("a"), Outcome::Exited(6));
}

#[test]
fn a_task_that_runs_is_adopted_by_the_next_client() {
    let mut world = World::new();
    world.start("a", &["sleep", "600"]);
    let group = world.started("a");
    world.disconnect();
    world.connect();
    world.start("a", &["sleep", "600"]);
    let running = TaskState::Running(group);
    world.until("the answer", |world| {
        world.states.contains(&(key("a"), running.clone()))
    });
    assert_eq!(world.group("a"), Some(group));
}

#[test]
fn when_the_executor_is_killed_its_tasks_are_lost_and_their_groups_killed() {
    let mut world = World::new();
    world.sh("a", "sleep 600 & echo $! > child; wait");
    let (group, child) = (world.started("a"), world.number_in("child"));
    world.sh("b", "exit 0");
    world.ended("b");
    sigkill(world.executor());
    world.until_gone();
    eventually("the lock is free", || {
        !executor_is_alive(world.folder.path()).unwrap()
    });
    assert!(is_alive(group), "nobody has taken over yet");
    world.connect();
    assert_eq!(world.ended("a"), Outcome::Lost);
    assert_eq!(world.outcome("b"), Some(Outcome::Exited(0)));
    assert!(!is_alive(group) && !is_alive(child));
    world.start("a", &["true"]);
    let lost = TaskState::Ended(Outcome::Lost);
    world.until("the answer", |world| {
        world.states.contains(&(key("a"), lost.clone()))
    });
}

#[test]
fn the_leaders_group_is_found_when_the_leader_itself_is_gone() {
    let mut world = World::new();
    world.sh(
        "a",
        "sleep 600 & echo $! > child; until [ -e go ]; do sleep 0.01; done",
    );
    let (group, child) = (world.started("a"), world.number_in("child"));
    sigkill(world.executor());
    world.until_gone();
    std::fs::write(world.path("go"), "").unwrap();
    eventually("the end of the leader", || !is_alive(group));
    assert!(is_alive(child));
    world.connect();
    assert_eq!(world.ended("a"), Outcome::Lost);
    assert!(!is_alive(child));
}

#[test]
fn two_clients_that_race_get_one_executor() {
    let mut world = World::new();
    sigkill(world.executor());
    world.until_gone();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| world.join());
        }
    });
    world.connect();
    world.until("the second executor", |world| {
        world
            .lines
            .iter()
            .filter(|line| matches!(line, Line::Executor { .. }))
            .count()
            == 2
    });
}

#[test]
fn it_leaves_when_nothing_runs_and_nobody_is_connected() {
    let mut world = World::in_folder(tempfile::tempdir().unwrap(), "exec \"$@\"", 300);
    let pid = world.executor();
    world.sh("a", "until [ -e go ]; do sleep 0.01; done");
    world.started("a");
    world.disconnect();
    let begin = Instant::now();
    eventually("twice the patience has passed", || {
        begin.elapsed() > Duration::from_millis(600)
    });
    assert!(is_alive(pid), "a task runs");
    std::fs::write(world.path("go"), "").unwrap();
    eventually("the executor has left", || !is_alive(pid));
    assert!(!world.path("executor.sock").exists());
    world.connect();
    assert_eq!(world.ended("a"), Outcome::Exited(0));
}

#[test]
fn a_shutdown_stops_everything_and_then_the_executor_leaves() {
    let mut world = World::new();
    world.sh(
        "a",
        "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done",
    );
    eventually("it listens", || world.log("a") == "ready\n");
    world.client().shut_down(Duration::from_secs(600)).unwrap();
    world.until_gone();
    assert_eq!(world.outcome("a"), Some(Outcome::Exited(5)));
    assert!(matches!(Client::connect(world.folder.path()), Ok(None)));
}

#[test]
fn sigterm_to_the_executor_is_a_shutdown() {
    let mut world = World::new();
    world.start("a", &["sleep", "600"]);
    world.started("a");
    kill(Pid::from_raw(world.executor()), Signal::SIGTERM).unwrap();
    world.until_gone();
    assert_eq!(world.outcome("a"), Some(Outcome::Signalled(15)));
}
