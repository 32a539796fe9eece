//! One task: how it starts, what it sees, how it ends.

use jobflow_local::task::{Outcome, TaskState};

use super::world::{World, eventually, is_alive, key};

#[test]
fn exit_codes_and_signals_are_told_apart() {
    let mut world = World::new();
    world.sh("well", "exit 0");
    world.sh("badly", "exit 7");
    world.sh("killed", "kill -9 $$");
    world.sh("by-real-time-signal", "kill -40 $$");
    assert_eq!(world.ended("well"), Outcome::Exited(0));
    assert_eq!(world.ended("badly"), Outcome::Exited(7));
    assert_eq!(world.ended("killed"), Outcome::Signalled(9));
    assert_eq!(world.ended("by-real-time-signal"), Outcome::Signalled(40));
}

#[test]
fn output_and_errors_are_in_one_log() {
    let mut world = World::new();
    world.sh("a", "echo out; echo err >&2; echo out again");
    world.ended("a");
    assert_eq!(world.log("a"), "out\nerr\nout again\n");
}

#[test]
fn a_command_that_cannot_run_is_a_start_error_with_a_reason() {
    let mut world = World::new();
    std::fs::write(world.path("plain"), "no program").unwrap();
    world.start("missing", &["no-such-command"]);
    world.start("missing-path", &["./no/such"]);
    world.start("not-executable", &["./plain"]);
    world.start("empty", &[]);
    world.start("with-nul", &["true", "a\0b"]);
    let mut spec = world.spec("no-folder", &["true"]);
    spec.cwd = "/no/such/folder".into();
    world.client().start(key("no-folder"), spec).unwrap();
    let cases = [
        (
            "missing",
            "command `no-such-command` was not found in PATH (/usr/bin:/bin)",
        ),
        ("missing-path", "No such file"),
        ("not-executable", "Permission denied"),
        ("empty", "the command is empty"),
        ("with-nul", "nul byte"),
        ("no-folder", "working folder /no/such/folder"),
    ];
    for (name, expected) in cases {
        let Outcome::StartError(message) = world.ended(name) else {
            panic!("{name}: {:?}", world.outcome(name))
        };
        assert!(message.contains(expected), "{name}: {message}");
    }
    world.sh("after", "exit 0");
    assert_eq!(world.ended("after"), Outcome::Exited(0));
}

#[test]
fn the_environment_is_exactly_what_the_spec_says() {
    let mut world = World::new();
    let mut spec = world.spec("a", &["env"]);
    spec.env = vec![
        ("PATH".into(), "/usr/bin:/bin".into()),
        ("GREETING".into(), "hello\nyou".into()),
    ];
    world.client().start(key("a"), spec).unwrap();
    world.ended("a");
    let log = world.log("a");
    let mut lines: Vec<&str> = log.lines().collect();
    lines.sort_unstable();
    let token = format!("JOBFLOW_RUN_TOKEN={}", super::world::TOKEN);
    assert_eq!(
        lines,
        [
            "GREETING=hello",
            &token,
            "JOBFLOW_TASK_KEY=a",
            "PATH=/usr/bin:/bin",
            "you"
        ]
    );
}

#[test]
fn folder_mask_and_arguments_are_as_asked_for() {
    let mut world = World::new();
    let mut spec = world.spec(
        "a",
        &[
            "sh",
            "-c",
            "umask; pwd; cat; echo \"$0|$1\"",
            "zero",
            "a 'b' \\ $HOME",
        ],
    );
    spec.umask = Some(0o077);
    spec.cwd = "/".into();
    world.client().start(key("a"), spec).unwrap();
    world.ended("a");
    assert_eq!(world.log("a"), "0077\n/\nzero|a 'b' \\ $HOME\n");
}

#[test]
fn another_user_only_as_root() {
    let mut world = World::new();
    let mut spec = world.spec("a", &["id", "-u"]);
    spec.uid = Some(65_534);
    spec.cwd = "/".into();
    world.client().start(key("a"), spec).unwrap();
    match world.ended("a") {
        Outcome::Exited(0) => assert_eq!(world.log("a"), "65534\n"),
        Outcome::StartError(message) => assert!(message.contains("only root can"), "{message}"),
        other @ (Outcome::Exited(_) | Outcome::Signalled(_) | Outcome::Cancelled | Outcome::Lost) => {
            panic!("{other:?}")
        }
    }
}

#[test]
fn a_known_key_is_never_started_again() {
    let mut world = World::new();
    world.sh("a", "echo once >> count");
    world.ended("a");
    world.sh("a", "echo twice >> count");
    let answered = TaskState::Ended(Outcome::Exited(0));
    world.until("the answer", |world| {
        world.states.contains(&(key("a"), answered.clone()))
    });
    assert_eq!(std::fs::read_to_string(world.path("count")).unwrap(), "once\n");
}

#[test]
fn descendants_die_with_their_task() {
    let mut world = World::new();
    world.sh(
        "a",
        "sleep 600 & echo $! > in-group; setsid sleep 601 & sleep 0.1; exit 3",
    );
    assert_eq!(world.ended("a"), Outcome::Exited(3));
    let in_group = world.number_in("in-group");
    assert!(!is_alive(in_group));
    eventually("the one that left its group is gone", || {
        jobflow_local::process::all().unwrap().into_iter().all(|pid| {
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            command != b"sleep\x00601\x00"
                || !jobflow_local::process::has_variable(pid, "JOBFLOW_TASK_KEY", "a")
        })
    });
}

#[test]
fn a_stop_is_a_signal_and_then_a_kill() {
    let mut world = World::new();
    world.sh(
        "polite",
        "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done",
    );
    world.sh("deaf", "trap '' TERM; echo ready; while :; do sleep 0.01; done");
    eventually("both listen", || {
        world.log("polite") == "ready\n" && world.log("deaf") == "ready\n"
    });
    let grace = Some(std::time::Duration::from_millis(100));
    world
        .client()
        .stop(key("polite"), 15, Some(std::time::Duration::from_secs(600)))
        .unwrap();
    world.client().stop(key("deaf"), 15, grace).unwrap();
    world.client().stop(key("never-heard-of"), 15, grace).unwrap();
    assert_eq!(world.ended("polite"), Outcome::Exited(5));
    assert_eq!(world.ended("deaf"), Outcome::Signalled(9));
    world.until("the answer", |world| {
        world
            .states
            .contains(&(key("never-heard-of"), TaskState::Unknown))
    });
}
