//! The chart: what it renders, and what it refuses.

use std::ffi::OsString;

use jobflow_controller::{Arguments, Parser};
use serde_json::Value;

use crate::rendering::{helm, objects, of_kind, rendered, root};

fn check(path: &str, generated: &str) {
    let path = root().join(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "{} is not what is rendered: run the test with UPDATE_GENERATED=1",
        path.display()
    );
}

#[test]
fn the_plain_manifests_are_what_the_chart_renders() {
    check("deploy/manifests/jobflow.yaml", &rendered(&[]));
}

#[test]
fn the_fields_that_a_policy_guards_are_those_of_our_definition() {
    let (_, definition) = jobflow_k8s::crd::definitions().into_iter().next().unwrap();
    let schema = serde_json::to_value(jobflow_k8s::crd::schema(&definition)).unwrap();
    let status = &schema["properties"]["status"]["properties"];
    let lists = [
        ("spec", &schema["properties"]["spec"]["properties"]),
        ("status", status),
        ("node", &status["nodes"]["items"]["properties"]),
    ];
    for (name, properties) in lists {
        let mut fields: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
        fields.sort();
        check(
            &format!("deploy/chart/jobflow/fields/{name}.txt"),
            &(fields.join("\n") + "\n"),
        );
    }
}

#[test]
fn kubectl_puts_definitions_and_manifests_together() {
    let kubectl = jobflow_test_cluster::Binaries::ready().unwrap().kubectl();
    let output = std::process::Command::new(kubectl)
        .arg("kustomize")
        .arg(root().join("deploy"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let all: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    assert_eq!(of_kind(&all, "CustomResourceDefinition").len(), 3);
    assert_eq!(of_kind(&all, "Namespace").len(), 1);
    assert_eq!(all.len(), objects(&[]).len() + 4);
}

#[test]
fn a_customization_names_files_that_are_there() {
    let text = std::fs::read_to_string(root().join("deploy/kustomization.yaml")).unwrap();
    let customization: Value = serde_saphyr::from_str(&text).unwrap();
    let files = customization["resources"].as_array().unwrap();
    assert!(files.len() >= 5);
    for file in files {
        assert!(
            root().join("deploy").join(file.as_str().unwrap()).is_file(),
            "{file}"
        );
    }
}

fn container(objects: &[Value]) -> &Value {
    let deployment = of_kind(objects, "Deployment").into_iter().next().unwrap();
    &deployment["spec"]["template"]["spec"]["containers"][0]
}

#[test]
fn the_program_takes_every_argument_that_the_chart_gives() {
    let other = [
        r#"namespaces=["a","b"]"#,
        r#"controller={"takeOver":false,"dryRun":true,"logFormat":"text","events":false}"#,
        r#"extraArguments=["--leader-elect=off"]"#,
    ];
    for values in [&[][..], &other[..]] {
        let objects = objects(values);
        let arguments = container(&objects)["args"].as_array().unwrap().iter();
        let typed = arguments.map(|argument| argument.as_str().unwrap().to_owned());
        let typed = std::iter::once("jobflow-controller".to_owned())
            .chain(typed)
            .map(OsString::from);
        let settings = Arguments::try_parse_from(typed).unwrap().settings().unwrap();
        assert_eq!(settings.take_over, values.is_empty());
        assert_eq!(settings.lease.is_some(), values.is_empty());
        assert_eq!(settings.namespaces.len(), if values.is_empty() { 0 } else { 2 });
    }
}

#[test]
fn a_pod_has_no_more_than_it_needs() {
    let objects = objects(&[]);
    let deployment = of_kind(&objects, "Deployment").into_iter().next().unwrap();
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    let container = container(&objects);
    let security = &container["securityContext"];
    assert_eq!(security["allowPrivilegeEscalation"], false);
    assert_eq!(security["readOnlyRootFilesystem"], true);
    assert_eq!(security["capabilities"]["drop"], serde_json::json!(["ALL"]));
    assert_eq!(container["livenessProbe"]["httpGet"]["path"], "/livez");
    assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/readyz");
    assert_eq!(pod["volumes"], Value::Null);
    assert_eq!(of_kind(&objects, "PodDisruptionBudget").len(), 1);
    // What is on its way is awaited, and the lease given up, before the pod is killed.
    assert_eq!(pod["terminationGracePeriodSeconds"], 30);
}

#[test]
fn nothing_renders_what_is_switched_off() {
    let off = [
        r#"roles={"create":false}"#,
        r#"policies={"submitters":false,"requests":false,"definitions":false}"#,
        r#"disruptionBudget={"create":false}"#,
        r#"metrics={"service":false}"#,
    ];
    let objects = objects(&off);
    for kind in [
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "PodDisruptionBudget",
        "Service",
    ] {
        assert_eq!(of_kind(&objects, kind).len(), 0, "{kind}");
    }
    assert_eq!(of_kind(&objects, "ClusterRole").len(), 1);
}

#[test]
fn no_role_for_people_gives_the_status() {
    let objects = objects(&[]);
    let people = of_kind(&objects, "ClusterRole");
    let people: Vec<_> = people
        .iter()
        .filter(|role| role["metadata"]["name"] != "jobflow-controller")
        .collect();
    assert_eq!(people.len(), 3);
    for role in people {
        for rule in role["rules"].as_array().unwrap() {
            let text = rule.to_string();
            assert!(!text.contains('*'), "{text}");
            assert!(
                !text.contains("/status") || !text.contains("update") && !text.contains("patch"),
                "{text}"
            );
        }
    }
}

#[test]
fn values_that_nobody_can_mean_are_refused_by_name() {
    let wrong = [
        (r#"replica=1"#, "replica"),
        (r#"replicas=-1"#, "replicas"),
        (r#"controller={"statusInterval":"soon"}"#, "statusInterval"),
        (r#"controller={"takeover":true}"#, "takeover"),
        (r#"image={"digest":"latest"}"#, "digest"),
        (r#"namespaces=["Upper"]"#, "namespaces"),
        (r#"metrics={"port":80}"#, "port"),
    ];
    for (value, named) in wrong {
        let output = helm(&[value]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains(named),
            "{value}: {said}"
        );
    }
}
