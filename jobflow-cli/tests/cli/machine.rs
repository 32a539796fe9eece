//! What the machine refuses, or does, around a run: no room, a folder that can't be written, no namespaces, a reboot.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::running::{begun, chain, executor, kill};
use crate::world::{Ran, World};

/// Runs the program from a shell that first takes something away from it.
fn after(world: &World, wrapper: &[&str], script: &str) -> Ran {
    let (first, rest) = wrapper.split_first().unwrap();
    let mut command = assert_cmd::Command::new(first);
    command
        .args(rest)
        .args(["sh", "-c", script, env!("CARGO_BIN_EXE_jobflow")])
        .current_dir(world.path())
        .env("JOBFLOW_STATE_DIR", world.path().join("state"));
    Ran::of(&mut command)
}

/// Whether this machine lets us have namespaces, in which we can take things away from a process.
fn has_namespaces() -> bool {
    let tried = Command::new("unshare")
        .args(["--map-root-user", "--mount", "true"])
        .output();
    tried.is_ok_and(|output| output.status.success())
}

fn runs(world: &World) -> usize {
    fs::read_dir(world.path().join("state/runs")).map_or(0, Iterator::count)
}

#[test]
fn a_run_for_which_there_is_no_room_leaves_nothing_behind() {
    let world = World::with("flow.yaml", &chain(&[("a", "true")]));
    // A file that may not grow stands for a disk that is full.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" run flow.yaml";
    let ran = after(&world, &["env"], script);
    assert_eq!((ran.code, runs(&world)), (3, 0), "{}", ran.shown());
    assert!(ran.stderr.starts_with("error: cannot use "), "{}", ran.shown());
}

#[test]
fn a_state_folder_that_is_read_only_is_told_before_anything_starts() {
    let world = World::with("flow.yaml", &chain(&[("a", "touch ran")]));
    fs::create_dir(world.path().join("state")).unwrap();
    let ran = if has_namespaces() {
        let script =
            "mount --bind state state && mount -o remount,bind,ro state && exec \"$0\" run flow.yaml";
        after(&world, &["unshare", "--map-root-user", "--mount"], script)
    } else {
        // Without root's rights, which no machine without namespaces should have given to tests.
        after(&world, &["env"], "chmod 500 state && exec \"$0\" run flow.yaml")
    };
    assert_eq!((ran.code, runs(&world)), (3, 0), "{}", ran.shown());
    let why = ["Read-only file system", "Permission denied"];
    assert!(why.iter().any(|why| ran.stderr.contains(why)), "{}", ran.shown());
}

#[test]
fn isolation_that_the_kernel_refuses_is_told_before_anything_starts() {
    let world = World::with("flow.yaml", &chain(&[("a", "touch ran")]));
    let ran = if has_namespaces() {
        let script = "echo 0 >/proc/sys/user/max_user_namespaces && echo 0 >/proc/sys/user/max_mnt_namespaces \
                      && exec \"$0\" run --isolate flow.yaml";
        after(&world, &["unshare", "--map-root-user"], script)
    } else {
        after(&world, &["env"], "exec \"$0\" run --isolate flow.yaml")
    };
    assert_eq!((ran.code, runs(&world)), (3, 0), "{}", ran.shown());
    for part in [
        "--isolate can't be had here",
        "user namespaces are off or restricted",
        "workingDir",
        "--map",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.shown());
    }
}

#[test]
fn after_a_reboot_nothing_is_signalled_and_tasks_are_made_anew() {
    let world = World::with(
        "flow.yaml",
        &chain(&[("a", "test -e go || exec sleep 300; echo done")]),
    );
    let child = begun(&world, &["run", "flow.yaml"]);
    let executor = executor(&world);
    let task = child_of(&executor);
    for process in [&child.id().to_string(), &executor] {
        kill("-KILL", process);
    }
    child.wait_with_output().unwrap();
    let run = fs::read_dir(world.path().join("state/runs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let journal = run.path().join("executor.journal");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let text = fs::read_to_string(&journal).unwrap();
    assert!(text.contains(boot.trim()));
    fs::write(
        &journal,
        text.replace(boot.trim(), "00000000-0000-4000-8000-000000000000"),
    )
    .unwrap();

    let world = world.and("go", "");
    let ran = world.run(&["run", "--resume"]);
    let alive = Command::new("kill")
        .args(["-0", &task])
        .status()
        .unwrap()
        .success();
    kill("-KILL", &task);
    assert!(ran.code == 0 && ran.stdout.ends_with("done\n"), "{}", ran.shown());
    assert!(alive, "a process of what may be another boot was signalled");
}

/// The first process that this one started. A list of children may leave some out while they change.
fn child_of(process: &str) -> String {
    let begun = Instant::now();
    loop {
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
        if let Some(child) = children.split_whitespace().next() {
            return child.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "it started nothing");
        std::thread::sleep(Duration::from_millis(20));
    }
}
