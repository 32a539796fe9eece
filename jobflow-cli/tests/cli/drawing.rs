//! `jobflow graph`.

use crate::world::{Ran, World};

const TWO: &str = "\
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: one}
spec: {flows: [{name: a}, {name: b, dependsOn: {targets: [a]}}]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: two}
spec: {flows: [{name: c}]}
";

#[test]
fn one_of_several_flows_is_chosen_by_name() {
    let world = World::with("flows.yaml", TWO);
    insta::assert_snapshot!(world.run(&["graph", "flows.yaml"]).shown(), @r"
    exit 2
    --- stdout
    --- stderr
    error: there are 2 such flows in these manifests
      help: choose one with --flow; they hold: one, two
    ");
    insta::assert_snapshot!(world.run(&["graph", "flows.yaml", "--flow", "one", "-o", "mermaid"]).shown(), @r#"
    exit 0
    --- stdout
    flowchart TD
      n0["a"]
      n1["b"]
      n0 --> n1
    --- stderr
    "#);
    insta::assert_snapshot!(world.run(&["graph", "flows.yaml", "--flow", "three"]).shown(), @r"
    exit 2
    --- stdout
    --- stderr
    error: there is no flow `three` in these manifests
      help: they hold: one, two
    ");
}

#[test]
fn lines_are_drawn_with_what_the_locale_has() {
    let world = World::with("flows.yaml", TWO);
    let draw = |locale: &str| {
        let mut command = world.command(&["graph", "flows.yaml", "--flow", "one"]);
        Ran::of(command.env("LANG", locale)).stdout
    };
    assert!(draw("C.UTF-8").contains('↓'));
    assert!(draw("C").is_ascii());
}

#[test]
fn a_flow_with_a_cycle_is_not_drawn() {
    let ran = World::with(
        "flows.yaml",
        &TWO.replace("name: a}", "name: a, dependsOn: {targets: [b]}}"),
    )
    .run(&["graph", "flows.yaml", "--flow", "one"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("entries wait for each other: a -> b -> a"),
        "{}",
        ran.stderr
    );
}

#[test]
fn manifests_without_a_flow_have_nothing_to_draw() {
    let ran = World::with("a.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n")
        .run(&["graph", "a.yaml"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("there is no flow in these manifests"),
        "{}",
        ran.stderr
    );
}
