//! `jobflow plan` and `jobflow diff`: files in, nothing started.

use serde_json::Value;

use crate::running::chain;
use crate::world::World;

const TEMPLATE: &str = "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: step}\nspec:\n  tasks:\n  \
                        - name: main\n    replicas: 2\n    template: {spec: {restartPolicy: Never, containers: [{name: main, \
                        image: x, command: [\"true\"]}]}}\n---\n";

/// A flow with a limit, a server, a delay, a handler, and an end.
const FLOW: &str = "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: nightly}\nspec:\n  parallelism: 2\n  \
                    flows:\n  - {name: fetch, template: step}\n  - {name: other, template: step}\n  - {name: serve, template: \
                    step}\n  - {name: ask, template: step, dependsOn: {targets: [serve], condition: Running}}\n  - name: \
                    report\n    template: step\n    dependsOn: {rules: [{target: ask, condition: Completed, delaySeconds: 90}, \
                    {target: fetch}]}\n  - {name: alarm, template: step, dependsOn: {targets: [fetch], condition: Failed}}\n  \
                    finally:\n  - {name: clean, template: step}\n";

fn world() -> World {
    World::with("flow.yaml", &format!("{TEMPLATE}{FLOW}"))
}

#[test]
fn a_plan_shows_waves_paths_and_what_never_starts() {
    insta::assert_snapshot!("plan", world().run(&["plan", "flow.yaml"]).shown());
}

#[test]
fn a_plan_shows_jobs_as_they_would_be_created() {
    let world = world();
    let yaml = world.run(&["plan", "flow.yaml", "-o", "yaml"]);
    assert_eq!((yaml.code, yaml.stderr.as_str()), (0, ""));
    let names: Vec<&str> = yaml
        .stdout
        .lines()
        .filter(|line| line.starts_with("  name: "))
        .collect();
    assert_eq!(names.len(), 6, "{}", yaml.stdout);
    assert!(
        world
            .run(&["plan", "flow.yaml", "--show-jobs"])
            .stdout
            .ends_with(&yaml.stdout)
    );
    let plan: Value = serde_json::from_str(&world.run(&["plan", "flow.yaml", "-o", "json"]).stdout).unwrap();
    let first = &plan["waves"][0]["entries"][0];
    assert_eq!(
        (&first["job"]["kind"], &first["pods"]),
        (&"Job".into(), &2.into())
    );
    assert_eq!(plan["never"][0]["reason"], "NotNeeded");
    assert!(!world.path().join("state").exists(), "nothing is kept of a plan");
}

#[test]
fn a_plan_tells_all_faults_as_validate_does() {
    let flow = FLOW
        .replace("target: fetch}", "target: fecth}")
        .replace("[serve]", "[sevre]");
    let world = World::with("flow.yaml", &format!("{TEMPLATE}{flow}"));
    let (plan, valid) = (
        world.run(&["plan", "flow.yaml"]),
        world.run(&["validate", "flow.yaml"]),
    );
    assert_eq!((plan.code, plan.stdout.as_str()), (2, ""));
    assert!(
        valid.stderr.starts_with(&plan.stderr) && plan.stderr.matches("did you mean").count() == 2,
        "{}",
        plan.shown()
    );
}

#[test]
fn a_plan_without_its_templates_knows_the_order_alone() {
    let ran = World::with("flow.yaml", FLOW).run(&["plan", "flow.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(
        ran.stderr.contains("note: `step` is not in these manifests"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        World::with("flow.yaml", FLOW)
            .run(&["plan", "flow.yaml", "-o", "yaml"])
            .stdout,
        ""
    );
}

#[test]
fn equal_flows_have_no_differences() {
    let ran = world().run(&["diff", "flow.yaml", "flow.yaml"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "nightly: no differences\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_edit_is_shown_with_what_becomes_of_it() {
    let edited = FLOW
        .replace("parallelism: 2", "parallelism: 3")
        .replace("delaySeconds: 90", "delaySeconds: 30")
        .replace(
            "- {name: other, template: step}",
            "- {name: another, template: step}",
        );
    let template = TEMPLATE.replace("\"true\"", "\"false\"");
    let world = world().and("new.yaml", &format!("{template}{edited}"));
    insta::assert_snapshot!("diff", world.run(&["diff", "flow.yaml", "new.yaml"]).shown());
    let ran = world.run(&["diff", "flow.yaml", "new.yaml", "-o", "json"]);
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ran.code, 1);
    assert_eq!(
        shown["entries"][1]["fields"][0],
        "dependsOn.rules[0].delaySeconds"
    );
}

#[test]
fn an_edit_of_a_run_goes_by_where_its_entries_stand() {
    let old = chain(&[("a", "true"), ("b", "exit 3"), ("c", "true")]);
    let new = chain(&[("a", "true"), ("b", "exit 0"), ("d", "true")]);
    let world = World::with("flow.yaml", &old).and("new.yaml", &new);
    assert_eq!(world.run(&["run", "flow.yaml"]).code, 1);
    insta::assert_snapshot!(
        "diff_of_a_run",
        world
            .run(&["diff", "flow.yaml", "new.yaml", "--run", "chain"])
            .shown()
    );
}

#[test]
fn what_can_not_be_compared_is_told() {
    let world = world().and("bad.yaml", &FLOW.replace("[serve]", "[sevre]"));
    let ran = world.run(&["diff", "flow.yaml", "bad.yaml"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("did you mean `serve`"),
        "{}",
        ran.shown()
    );
    assert_eq!(world.run(&["diff", "flow.yaml", "none.yaml"]).code, 2);
    assert_eq!(
        world
            .run(&["diff", "flow.yaml", "flow.yaml", "--run", "none"])
            .code,
        2
    );
}
