//! `jobflow runs`, `jobflow status` and `jobflow logs`.

use jobflow_local::rundir::{Identity, RunId, RunRecord, StateRoot};

use crate::world::World;

/// A world in which some flows ran, one a second.
pub(crate) fn world_with_runs(flows: &[&str]) -> World {
    let world = World::new();
    let root = StateRoot::at(world.path().join("state"));
    for (second, flow) in (0..).zip(flows) {
        let created = 1_796_000_000_000 + second * 1000;
        let record = RunRecord {
            id: RunId::new(flow, created, "x").unwrap(),
            flow: (*flow).to_owned(),
            created,
            identity: Identity::of_this_process(),
        };
        root.create(record, "token").unwrap();
    }
    world
}

#[test]
fn runs_are_listed_oldest_first() {
    let world = world_with_runs(&["zoo", "ant"]);
    let listed = world.run(&["runs", "list", "-o", "json"]);
    let runs: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(runs[0]["run"], "20261130T005320Z-zoo-x");
    assert_eq!(runs[1]["flow"], "ant");
    let text = world.run(&["runs", "list"]).stdout;
    assert!(text.starts_with("RUN                     FLOW  AGE"), "{text}");
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn the_newest_runs_stay() {
    let world = world_with_runs(&["a", "b", "c"]);
    let prune = ["runs", "prune", "--keep", "1"];
    let would = world.run(&[&prune[..], &["--dry-run"]].concat());
    assert_eq!(would.stdout, "20261130T005320Z-a-x\n20261130T005321Z-b-x\n");
    let did = world.run(&prune);
    assert_eq!((did.code, did.stdout), (0, would.stdout));
    assert_eq!(world.run(&["runs", "list"]).stdout.lines().count(), 2);
}

#[test]
fn young_runs_stay_too() {
    let world = world_with_runs(&["a", "b"]);
    let ran = world.run(&["runs", "prune", "--keep=0", "--older-than=36500d"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(world.run(&["runs", "prune", "--older-than", "soon"]).code, 2);
}

#[test]
fn without_runs_there_is_nothing_to_list() {
    let ran = World::new().run(&["runs", "list"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", "no runs\n")
    );
}

#[test]
fn a_state_folder_that_is_none_can_not_be_used() {
    let ran = World::with("state", "").run(&["runs", "list"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stderr
            .starts_with("error: cannot use the runs of this machine\n  because:"),
        "{}",
        ran.stderr
    );
}

const CHECKPOINT: &str = r#"{
  "flow": "zoo", "phase": "Running", "started": 1000, "finished": null, "at": 64000,
  "nodes": [
    {"name": "load", "phase": "Succeeded", "reason": null, "attempt": 1, "started": 1000, "finished": 3000,
     "exit_code": null, "message": null},
    {"name": "train", "phase": "Failed", "reason": "JobFailed", "attempt": 2, "started": 3000, "finished": 9000,
     "exit_code": 3, "message": "container main of pod zoo-train-main-0 exited with 3"},
    {"name": "report", "phase": "Skipped", "reason": "UpstreamFailed", "attempt": 0, "started": null,
     "finished": 9000, "exit_code": null, "message": null}
  ]
}"#;

fn world_with_a_checkpoint(text: &str) -> World {
    let world = world_with_runs(&["zoo"]);
    std::fs::write(
        world.path().join("state/runs/20261130T005320Z-zoo-x/flow.json"),
        text,
    )
    .unwrap();
    world
}

#[test]
fn a_run_shows_how_it_stood() {
    let world = world_with_a_checkpoint(CHECKPOINT);
    insta::assert_snapshot!("status_text", world.run(&["status", "zoo"]).shown());
    insta::assert_snapshot!("status_json", world.run(&["status", "-o", "json"]).stdout);
}

#[test]
fn what_a_checkpoint_holds_can_not_harm_a_terminal() {
    let world = world_with_a_checkpoint(&CHECKPOINT.replace("exited with 3", "\\u001b[31m\\u0007"));
    let ran = world.run(&["status"]);
    assert!(ran.stdout.contains("\\u{1b}[31m\\u{7}"), "{}", ran.stdout);
}

#[test]
fn a_status_that_is_missing_or_foreign_is_told() {
    let missing = world_with_runs(&["zoo"]).run(&["status"]);
    assert_eq!(missing.code, 3);
    assert!(
        missing.stderr.contains("has written no status yet"),
        "{}",
        missing.stderr
    );
    let foreign = world_with_a_checkpoint("{}").run(&["status"]);
    assert_eq!(foreign.code, 3);
    assert!(foreign.stderr.contains("missing field"), "{}", foreign.stderr);
    let none = World::new().run(&["status"]);
    assert_eq!(none.code, 2);
    let other = world_with_runs(&["zoo"]).run(&["status", "other"]);
    assert!(
        other.code == 2 && other.stderr.contains("there is no run `other`"),
        "{}",
        other.stderr
    );
}

fn world_with_logs() -> World {
    let world = world_with_a_checkpoint(CHECKPOINT);
    let logs = world.path().join("state/runs/20261130T005320Z-zoo-x/logs");
    for (file, text) in [
        ("0-0-1.main-0-0/main.0.log", "loading\n"),
        ("1-0-1.worker-0-0/main.0.log", "one\n\x1b[31mtwo\n"),
        ("1-0-2.worker-0-0/main.0.log", "three"),
    ] {
        let path = logs.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    world
}

#[test]
fn the_output_of_one_task_is_exact_in_a_pipe() {
    let world = world_with_logs();
    assert_eq!(world.run(&["logs", "load"]).stdout, "loading\n");
    assert_eq!(
        world.run(&["logs", "zoo", "load/main/0", "-f"]).stdout,
        "loading\n"
    );
}

#[test]
fn the_output_of_several_tasks_has_labels_unless_it_is_raw() {
    let world = world_with_logs();
    insta::assert_snapshot!("logs_of_several", world.run(&["logs", "train"]).shown());
    assert_eq!(
        world.run(&["logs", "train", "--raw"]).stdout,
        "one\n\x1b[31mtwo\nthree"
    );
}

#[test]
fn an_entry_without_output_or_that_is_none_is_told() {
    let world = world_with_logs();
    let silent = world.run(&["logs", "report"]);
    assert_eq!((silent.code, silent.stdout.as_str()), (0, ""));
    assert!(
        silent.stderr.contains("nothing of report wrote anything"),
        "{}",
        silent.stderr
    );
    let near = world.run(&["logs", "trian"]);
    assert!(
        near.code == 2 && near.stderr.contains("did you mean `train`?"),
        "{}",
        near.stderr
    );
    assert_eq!(world.run(&["logs", "train/worker/x"]).code, 2);
    assert_eq!(world.run(&["logs"]).code, 2);
}
