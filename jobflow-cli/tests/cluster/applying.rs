//! From manifests to the cluster: everything that is wrong first, then all of it, and nothing in between.

use jobflow_test_cluster::User;
use serde_json::json;

use crate::world::World;

pub(crate) const FLOW: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: nightly}
spec:
  suspend: true
  flows:
  - name: prepare
  - name: train
    dependsOn: {targets: [prepare]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: prepare}
spec:
  tasks:
  - replicas: 1
    name: main
    template:
      spec:
        restartPolicy: Never
        containers: [{name: main, image: busybox, command: ['true']}]
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: train}
spec:
  tasks:
  - replicas: 1
    name: main
    template:
      spec:
        restartPolicy: Never
        containers: [{name: main, image: busybox, command: ['true']}]
";

#[test]
fn what_others_need_is_applied_before_the_flow() {
    let world = World::new().and("flow.yaml", FLOW);
    let ran = world.run(&["apply", "flow.yaml"]);
    insta::assert_snapshot!("applied", ran.shown(&world));
    let again = world.run(&["apply", "-f", "flow.yaml"]);
    assert_eq!(again.stdout.matches(" unchanged\n").count(), 4, "{again:?}");
    let world = world.and("flow.yaml", &FLOW.replace("suspend: true", "parallelism: 3"));
    let changed = world.run(&["apply", "flow.yaml"]);
    assert!(
        changed
            .stdout
            .contains("jobflow.flow.volcano.sh/nightly configured\n"),
        "{changed:?}"
    );
    let spec = &world.stored("nightly").unwrap()["spec"];
    assert_eq!(
        (&spec["parallelism"], &spec["suspend"]),
        (&json!(3), &json!(null))
    );
}

#[test]
fn a_dry_run_changes_nothing() {
    let world = World::new().and("flow.yaml", FLOW);
    let ran = world.run(&["apply", "flow.yaml", "--dry-run=server"]);
    assert_eq!(ran.stdout.matches(" would be created\n").count(), 4, "{ran:?}");
    let mut offline = world.bare(&["apply", "flow.yaml", "--dry-run=client"]);
    let ran = crate::world::Ran::of(&mut offline);
    assert_eq!(
        (ran.code, ran.stdout.matches(" would be applied\n").count()),
        (0, 4),
        "{ran:?}"
    );
    assert_eq!(world.stored("nightly"), None);
}

#[test]
fn all_that_is_wrong_is_told_at_once_and_nothing_is_applied() {
    let broken = FLOW
        .replace("targets: [prepare]", "targets: [prepaer]")
        .replace("suspend", "suspended");
    let world = World::new().and("flow.yaml", &broken).and(
        "more.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  namespace: elsewhere\n",
    );
    let ran = world.run(&["apply", "flow.yaml", "more.yaml"]);
    insta::assert_snapshot!("faults", ran.shown(&world));
    assert_eq!(world.stored("nightly"), None);
    let settings = world
        .runtime
        .block_on(world.api("", "ConfigMap").get_opt("settings"))
        .unwrap();
    assert!(settings.is_none());
}

#[test]
fn what_the_server_refuses_has_its_line_and_keeps_all_else_back() {
    let claim = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  'no key': y\n---\n\
                 apiVersion: example.org/v1\nkind: Unknown\nmetadata: {name: x}\n";
    let world = World::new().and("flow.yaml", FLOW).and("more.yaml", claim);
    let ran = world.run(&["apply", "flow.yaml", "more.yaml"]);
    assert!(
        ran.code == 2
            && ran.stderr.contains("does not know the kind Unknown")
            && ran.stderr.contains("more.yaml:9"),
        "{ran:?}"
    );
    let world = world.and("more.yaml", claim.split("---").next().unwrap());
    let ran = world.run(&["apply", "flow.yaml", "more.yaml"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("error[refused]") && ran.stderr.contains("more.yaml:"),
        "{ran:?}"
    );
    assert_eq!(world.stored("nightly"), None);
}

#[test]
fn a_field_that_somebody_else_has_set_is_not_overwritten_unasked() {
    let world = World::new().and("flow.yaml", &FLOW.replace("suspend: true", "parallelism: 2"));
    assert_eq!(world.run(&["apply", "flow.yaml"]).code, 0);
    let patch = kube::api::Patch::Merge(json!({ "spec": { "parallelism": 5 } }));
    let parameters = kube::api::PatchParams {
        field_manager: Some("somebody".to_owned()),
        ..Default::default()
    };
    world
        .runtime
        .block_on(world.flows().patch("nightly", &parameters, &patch))
        .unwrap();
    let ran = world.run(&["apply", "flow.yaml"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("somebody") && ran.stderr.contains("--force-conflicts"),
        "{ran:?}"
    );
    assert!(
        ran.stderr.contains("parallelism: 2"),
        "the line is shown: {ran:?}"
    );
    let ran = world.run(&["apply", "flow.yaml", "--force-conflicts"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.stored("nightly").unwrap()["spec"]["parallelism"], 2);
}

#[test]
fn a_namespace_that_comes_along_is_made_first() {
    let world = World::new();
    let name = format!("{}-made", world.namespace);
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {name}}}\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"
    );
    let world = world.and("all.yaml", &text);
    let mut command = world.bare(&["apply", "all.yaml"]);
    let ran = crate::world::Ran::of(command.env("KUBECONFIG", world.cluster.kubeconfig(User::Admin)));
    assert_eq!(
        (ran.code, ran.stdout),
        (0, format!("namespace/{name} created\nconfigmap/a created\n")),
        "{}",
        ran.stderr
    );
}

#[test]
fn each_submission_is_a_flow_of_its_own() {
    let world = World::new().and("flow.yaml", FLOW);
    let first = world.run(&["submit", "flow.yaml", "-o", "name"]);
    let second = world.run(&["submit", "flow.yaml", "-o", "name"]);
    assert_eq!((first.code, second.code), (0, 0), "{first:?} {second:?}");
    assert_ne!(first.stdout, second.stdout);
    let name = first
        .stdout
        .trim()
        .strip_prefix("jobflow.flow.volcano.sh/")
        .unwrap();
    assert!(
        name.starts_with("nightly-") && name.len() == "nightly-".len() + 5,
        "{name}"
    );
    assert_eq!(
        world.stored(name).unwrap()["spec"]["suspend"],
        json!(null),
        "a new flow isn't suspended"
    );
    assert_eq!(world.stored("nightly"), None);
}

#[test]
fn a_submission_that_is_waited_for_ends_as_the_flow_does() {
    let world = World::new().and(
        "flow.yaml",
        &FLOW.replace("name: nightly", "generateName: nightly-"),
    );
    let ran = world.run(&["submit", "flow.yaml", "--wait", "--timeout", "1s"]);
    assert!(
        ran.code == 5 && ran.stderr.contains("not there yet after 1 s: it is Pending"),
        "{ran:?}"
    );
    let ran = world.run(&["apply", "flow.yaml"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("`submit`"),
        "a flow without a name can only be submitted: {ran:?}"
    );
}
