//! Many tasks, loud tasks, long paths: nothing grows without a bound, and nobody is forgotten.

use std::path::PathBuf;

use jobflow_local::{
    executor::line::Line,
    task::{Outcome, TaskState},
};

use super::world::{World, eventually, key};

#[test]
fn a_thousand_tasks_pass_through_a_small_limit_on_open_files() {
    let mut world = World::with_shell("ulimit -n 64; exec \"$@\"");
    for number in 0..1000 {
        world.start(&format!("t{number}"), &["true"]);
    }
    let ends = |world: &World| {
        world
            .lines
            .iter()
            .filter(|line| matches!(line, Line::Ended { .. }))
            .count()
    };
    world.until("a thousand ends", |world| ends(world) == 1000);
    let (mut now, mut most) = (0, 0);
    for line in &world.lines {
        match line {
            Line::Started { .. } => now += 1,
            Line::Ended { outcome, .. } => {
                assert_eq!(*outcome, Outcome::Exited(0));
                now -= 1;
            }
            Line::Executor { .. } | Line::Starting { .. } => {}
        }
        most = most.max(now);
    }
    assert!(most <= 16, "{most} at once");
}

#[test]
fn who_waits_is_told_why_and_can_be_stopped() {
    let mut world = World::with_shell("ulimit -n 40; exec \"$@\"");
    for number in 0..11 {
        world.start(&format!("t{number}"), &["sleep", "600"]);
    }
    world.until("an answer for the last", |world| {
        world.states.iter().any(|(name, _)| *name == key("t10"))
    });
    let (_, state) = world.states.iter().find(|(name, _)| *name == key("t10")).unwrap();
    let TaskState::Waiting(reason) = state else {
        panic!("{state:?}")
    };
    assert!(reason.contains("limit on open files"), "{reason}");
    world.client().stop(key("t10"), 15, None).unwrap();
    assert_eq!(world.ended("t10"), Outcome::Cancelled);
    assert_eq!(world.group("t10"), None);
}

#[test]
fn output_without_end_neither_fills_the_disk_nor_holds_up_others() {
    let mut world = World::new();
    world.start("loud", &["yes", "the same line over and over"]);
    eventually("the log's second part", || {
        world.path("logs/loud.log.tail").exists()
    });
    for number in 0..20 {
        world.sh(&format!("quiet{number}"), "echo done");
    }
    for number in 0..20 {
        assert_eq!(world.ended(&format!("quiet{number}")), Outcome::Exited(0));
    }
    world.client().stop(key("loud"), 9, None).unwrap();
    world.ended("loud");
    let size = |name: &str| std::fs::metadata(world.path(name)).unwrap().len();
    assert!(size("logs/loud.log") + size("logs/loud.log.tail") < 66 << 10);
    assert!(world.log("loud").contains("[jobflow: this log is full"));
}

#[test]
fn the_remainder_of_a_short_life_is_kept() {
    let mut world = World::new();
    let mut spec = world.spec(
        "a",
        &["sh", "-c", "head -c 50000 /dev/zero | tr '\\0' x; printf end"],
    );
    spec.log_limit = 1 << 20;
    world.client().start(key("a"), spec).unwrap();
    world.ended("a");
    let log = world.log("a");
    assert!(log.len() == 50_003 && log.ends_with("xend"), "{}", log.len());
}

#[test]
fn a_folder_with_a_long_path_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let long: PathBuf = folder.path().join("d".repeat(200)).join("e".repeat(200));
    std::fs::create_dir_all(&long).unwrap();
    let mut world = World::in_folder(tempfile::tempdir_in(&long).unwrap(), "exec \"$@\"", 10_000);
    world.sh("a", "exit 4");
    assert_eq!(world.ended("a"), Outcome::Exited(4));
}

#[test]
fn a_client_that_never_reads_holds_up_nobody() {
    let mut world = World::new();
    let deaf = jobflow_local::client::Client::connect(world.folder.path())
        .unwrap()
        .unwrap();
    let mut deaf = deaf;
    deaf.watch(0).unwrap();
    for number in 0..300 {
        world.start(&format!("t{number}"), &["true"]);
    }
    for number in 0..300 {
        world.ended(&format!("t{number}"));
    }
}
