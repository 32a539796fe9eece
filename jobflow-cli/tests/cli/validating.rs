//! `jobflow validate`.

use crate::world::{Ran, World};

const HEAD: &str = "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata:\n  name: bad\n";

const FOUR_FAULTS: &str = "\
spec:
  flows:
    - name: first
      dependsOn:
        targets: [third]
    - name: second
      dependsOn:
        targets: [first]
    - name: third
      dependsOn:
        targets: [second]
    - name: second
      dependOn:
        targets: [first]
    - name: last
      dependsOn:
        targets: [thrid]
";

fn four_faults() -> World {
    World::with("flow.yaml", &format!("{HEAD}{FOUR_FAULTS}"))
}

#[test]
fn a_cycle_a_duplicate_an_unknown_target_and_a_misspelt_field_are_told_in_one_go() {
    let ran = four_faults().run(&["validate", "flow.yaml"]);
    for (code, place) in [
        ("cycle", "flow.yaml:8:7"),
        ("duplicate-name", "flow.yaml:16:7"),
        ("unknown-field", "flow.yaml:17:7"),
        ("unknown-reference", "flow.yaml:21:19"),
    ] {
        assert!(
            ran.stderr.contains(&format!("error[{code}]")),
            "{code}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(place), "{place}: {}", ran.stderr);
    }
    insta::assert_snapshot!(ran.shown());
}

const TEMPLATE: &str = "\
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: step}
spec:
  tasks:
    - name: main
      replicas: 1
      template:
        spec:
          containers:
            - name: main
              image: busybox
";

fn patched(patch: &str) -> World {
    let patch = patch.replace('\n', "\n        ");
    let entry =
        format!("spec:\n  flows:\n    - name: a\n      template: step\n      patch:\n        {patch}\n");
    World::with("flow.yaml", &format!("{HEAD}{entry}---\n{TEMPLATE}"))
}

#[test]
fn everything_that_is_wrong_with_a_patch_is_told_at_its_lines() {
    let world = patched(
        "jobSpec:
  minAvailable: many
  tasks:
    - name: mian
      replicas: 2
    - name: main
      template:
        spec:
          containers:
            - name: main
              env: [{name: A, value: b, valueFrom: {}}]
            - name: side
              image: busybox
remove:
  - tasks[main].template.spec.containers[main].resources
  - 'tasks[main'
labels:
  flow.volcano.sh/entry: b",
    );
    insta::assert_snapshot!(world.run(&["validate", "flow.yaml"]).shown());
}

#[test]
fn what_a_patch_makes_of_a_job_is_checked_and_told_at_the_patch() {
    let world = patched(
        "jobSpec: {tasks: [{name: main, replicas: 2}], minAvailable: 3}\nremove: ['tasks[main].template.spec.containers[main].image']",
    );
    let ran = world.run(&["validate", "flow.yaml"]);
    assert_eq!(ran.code, 2);
    for (place, message) in [
        (
            "flow.yaml:10:55",
            "minAvailable is 3, but all tasks together have 2 pods",
        ),
        ("flow.yaml:11:18", "the container `main` has no image"),
    ] {
        assert!(
            ran.stderr.contains(place) && ran.stderr.contains(message),
            "{place}: {}",
            ran.stderr
        );
    }
    assert!(ran.stderr.contains("2 errors"), "{}", ran.stderr);
}

#[test]
fn a_patch_that_fits_is_valid() {
    let world = patched("jobSpec: {tasks: [{name: main, replicas: 2}], queue: null}\nlabels: {team: x}");
    let ran = world.run(&["validate", "flow.yaml"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "valid: 2 objects\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn programs_get_the_same_faults_as_json() {
    let ran = four_faults().run(&["validate", "flow.yaml", "-o", "json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (2, ""));
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn a_valid_flow_is_valid_from_stdin_too() {
    let world = World::new();
    let flow = world.run(&["new"]).stdout;
    let ran = Ran::of(world.command(&["validate", "-"]).write_stdin(flow));
    insta::assert_snapshot!(ran.shown(), @r"
    exit 0
    --- stdout
    valid: 4 objects
    --- stderr
    ");
}

#[test]
fn text_that_is_no_yaml_hides_nothing_of_the_next_document() {
    let text = format!("a: [b\n---\n{HEAD}spec: {{flows: [{{name: a, nam: b}}]}}\n");
    let ran = World::with("flow.yaml", &text).run(&["validate", "flow.yaml"]);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn the_same_object_in_two_files_is_told() {
    let flow = format!("{HEAD}spec: {{flows: []}}\n");
    let ran = World::with("a.yaml", &flow)
        .and("b.yaml", &flow)
        .run(&["validate", "."]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("error[duplicate-object]"), "{}", ran.stderr);
    assert!(ran.stderr.contains("b.yaml:4:3"), "{}", ran.stderr);
}

#[test]
fn what_can_not_be_read_is_wrong_input() {
    let world = World::with("notes.txt", "");
    let ran = world.run(&["validate", "none.yaml", "also-none.yaml", "."]);
    insta::assert_snapshot!(ran.shown(), @r"
    exit 2
    --- stdout
    --- stderr
    error: cannot read the manifests
      because: none.yaml: No such file or directory (os error 2)
      because: also-none.yaml: No such file or directory (os error 2)
      because: .: no *.yaml, *.yml or *.json in this folder
    ");
}

#[test]
fn control_characters_of_a_manifest_never_reach_the_terminal() {
    let text =
        format!("{HEAD}spec:\n  \"\\e[31m\": 1\n  flows:\n    - name: \"a\\e]0;x\\a\"\n      # \u{9b}31m\n");
    let world = World::with("flow.yaml", &text);
    for arguments in [["validate", "flow.yaml"], ["graph", "flow.yaml"]] {
        let ran = world.run(&arguments);
        let shown = ran.shown().replace('\n', "");
        assert!(!shown.contains(char::is_control), "{shown:?}");
    }
}

#[test]
fn hostile_names_of_tasks_and_flows_are_refused_in_their_places() {
    let flow = "\
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata:
  name: ../../etc/passwd
spec:
  flows:
    - name: \"a\\e[31m\"
      jobSpec:
        tasks:
          - name: ../../x
            replicas: 1
            template: {spec: {containers: [{name: main, image: x}]}}
";
    let ran = World::with("flow.yaml", flow).run(&["run", "flow.yaml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    for place in ["flow.yaml:4:3", "flow.yaml:7:7", "flow.yaml:10:13"] {
        assert!(ran.stderr.contains(place), "{place}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
}

#[test]
fn a_fault_is_drawn_with_what_the_locale_has() {
    let world = four_faults();
    let unicode = Ran::of(world.command(&["validate", "flow.yaml"]).env("LC_ALL", "C.UTF-8"));
    assert!(unicode.stderr.contains('│'), "{}", unicode.stderr);
    let plain = Ran::of(world.command(&["validate", "flow.yaml"]).env("LC_ALL", "C"));
    assert!(plain.stderr.is_ascii(), "{}", plain.stderr);
}
