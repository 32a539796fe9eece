//! `jobflow new`, and what is printed about jobflow itself.

use crate::world::World;

#[test]
fn a_new_flow_is_written_once() {
    let world = World::new();
    let first = world.run(&["new", "nightly", "-o", "flow.yaml"]);
    insta::assert_snapshot!(first.shown(), @r"
    exit 0
    --- stdout
    --- stderr
    wrote flow.yaml; run it with: jobflow run flow.yaml
    ");
    assert!(
        std::fs::read_to_string(world.path().join("flow.yaml"))
            .unwrap()
            .contains("  name: nightly\n")
    );
    let second = world.run(&["new", "-o", "flow.yaml"]);
    insta::assert_snapshot!(second.shown(), @r"
    exit 2
    --- stdout
    --- stderr
    error: flow.yaml is there already
      help: replace it with --force
    ");
    assert_eq!(world.run(&["new", "other", "-o", "flow.yaml", "--force"]).code, 0);
    assert!(
        std::fs::read_to_string(world.path().join("flow.yaml"))
            .unwrap()
            .contains("  name: other\n")
    );
    assert_eq!(world.run(&["validate", "flow.yaml"]).code, 0);
}

#[test]
fn a_name_that_no_cluster_takes_is_refused() {
    for name in ["My_Flow", "a/b", "-a", &"a".repeat(41)] {
        let ran = World::new().run(&["new", "--", name]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{name}");
    }
}

#[test]
fn a_file_that_can_not_be_written_is_no_fault_of_the_input() {
    let ran = World::new().run(&["new", "-o", "none/flow.yaml"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stderr
            .contains("cannot write none/flow.yaml\n  because: No such file"),
        "{}",
        ran.stderr
    );
}

#[test]
fn definitions_are_those_that_are_committed() {
    let ran = World::new().run(&["crd"]);
    let committed: String = ["jobflows", "jobtemplates", "jobflowtemplates"]
        .iter()
        .map(|name| format!("{}/../deploy/crds/{name}.yaml", env!("CARGO_MANIFEST_DIR")))
        .map(|path| format!("---\n{}", std::fs::read_to_string(path).unwrap()))
        .collect();
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout == committed,
        "the definitions differ from those in deploy/crds"
    );
}

#[test]
fn each_kind_has_a_schema() {
    for (arguments, title) in [
        (vec!["schema"], "JobFlow ("),
        (vec!["schema", "JobTemplate"], "JobTemplate ("),
        (vec!["schema", "jobflowtemplate"], "JobFlowTemplate ("),
    ] {
        let ran = World::new().run(&arguments);
        let schema: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(
            schema["title"].as_str().unwrap().starts_with(title),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_version_is_printed_in_both_ways() {
    let world = World::new();
    assert_eq!(world.run(&["version"]).stdout, world.run(&["--version"]).stdout);
}

#[test]
fn each_shell_has_completions_and_each_command_a_man_page() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = world.run(&["completions", shell]);
        assert!(ran.code == 0 && ran.stdout.contains("validate"), "{shell}");
        assert!(!ran.stdout.contains("\x1b["), "{shell}");
    }
    assert_eq!(world.run(&["man", "pages"]).code, 0);
    for page in ["jobflow.1", "jobflow-run.1", "jobflow-runs-prune.1"] {
        assert!(world.path().join("pages").join(page).exists(), "{page}");
    }
}

#[test]
fn a_task_becomes_its_command_or_says_why_not() {
    let world = World::new();
    let enter = |argv: &str| {
        let plan =
            format!(r#"{{"mounts": [], "root": "", "cwd": "/", "no_new_privileges": true, "argv": {argv}}}"#);
        world.run(&["__enter", &plan])
    };
    let ran = enter(r#"["sh", "-c", "pwd; exit 7"]"#);
    assert_eq!((ran.code, ran.stdout.as_str()), (7, "/\n"));
    let none = enter(r#"["no-such-command"]"#);
    assert_eq!(none.code, 128);
    assert!(
        none.stderr.contains("cannot execute no-such-command"),
        "{}",
        none.stderr
    );
    assert_eq!(world.run(&["__enter", "-"]).code, 128);
}
