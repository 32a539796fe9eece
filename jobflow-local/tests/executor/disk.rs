//! A disk that takes nothing more: tasks go on, their ends are kept, and nothing runs twice.

use std::{fs, process::Command};

use jobflow_local::{executor::line::Line, task::Outcome};

use super::world::{World, eventually, is_alive, key};

/// A file system of one MiB, where the user may mount one.
struct TinyDisk(tempfile::TempDir);

impl TinyDisk {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(folder.path())
            .output();
        mount
            .is_ok_and(|output| output.status.success())
            .then_some(Self(folder))
    }

    fn fill(&self) {
        let _ = fs::write(self.0.path().join("filler"), vec![0; 2 << 20]);
    }

    fn free(&self) {
        fs::remove_file(self.0.path().join("filler")).unwrap();
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_refuses_starts_keeps_ends_and_goes_on_when_there_is_room() {
    let Some(disk) = TinyDisk::new() else { return };
    let mut world = World::in_folder(
        tempfile::tempdir_in(disk.0.path()).unwrap(),
        "exec \"$@\"",
        10_000,
    );
    let go = tempfile::tempdir().unwrap();
    let script = format!(
        "until [ -e {0}/go ]; do sleep 0.01; done; echo lost; echo b >> {0}/ran; exit 3",
        go.path().display()
    );
    world.sh("before", &script);
    world.started("before");
    disk.fill();
    fs::write(go.path().join("go"), "").unwrap();
    assert_eq!(
        world.ended("before"),
        Outcome::Exited(3),
        "the room for its end was taken before its start"
    );
    // The room that was taken ahead lasts for a while; then starts are refused.
    for number in 0..400 {
        world.start(&format!("t{number}"), &["true"]);
    }
    world.until("a refusal", |world| {
        world
            .blocked
            .iter()
            .flatten()
            .any(|reason| reason.contains("No space left"))
    });
    disk.free();
    for number in 0..400 {
        assert_eq!(world.ended(&format!("t{number}")), Outcome::Exited(0));
    }
    world.until("the all-clear", |world| world.blocked.last() == Some(&None));
    let starts = |world: &World| {
        world
            .lines
            .iter()
            .filter(|line| matches!(line, Line::Started { .. }))
            .count()
    };
    assert_eq!(starts(&world), 401);
    assert_eq!(fs::read_to_string(go.path().join("ran")).unwrap(), "b\n");
}

#[test]
fn output_that_cannot_be_written_is_counted_and_the_task_goes_on() {
    // A limit of 8 blocks of 512 bytes (or 1024) on every file.
    let mut world = World::with_shell("ulimit -f 8; exec \"$@\"");
    world.sh("a", "head -c 60000 /dev/zero; exit 3");
    assert_eq!(world.ended("a"), Outcome::Exited(3));
    let lost = world.lines.iter().find_map(|line| match line {
        Line::Ended { key: ended, lost, .. } if *ended == key("a") => Some(*lost),
        Line::Ended { .. } | Line::Executor { .. } | Line::Starting { .. } | Line::Started { .. } => None,
    });
    assert!(lost.unwrap() > 0);
}

#[test]
fn a_journal_that_cannot_grow_stops_starts_and_loses_nothing_that_was_written() {
    let mut world = World::with_shell("ulimit -f 4; exec \"$@\"");
    for number in 0..200 {
        world.sh(&format!("t{number}"), &format!("echo {number} >> ran-{number}"));
    }
    world.until("a refusal", |world| {
        world
            .blocked
            .iter()
            .flatten()
            .any(|reason| reason.contains("File too large"))
    });
    let pid = world.executor();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL).unwrap();
    world.until_gone();
    eventually("the executor is gone", || !is_alive(pid));
    let ran = (0..200)
        .filter(|number| world.path(&format!("ran-{number}")).exists())
        .count();
    assert!(ran < 200, "{ran}");
    for line in &world.lines {
        let Line::Ended { key, outcome, .. } = line else {
            continue;
        };
        assert_eq!(*outcome, Outcome::Exited(0), "{key}");
    }
}
