use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use super::*;

fn ours() -> Value {
    let (_, definition) = jobflow_k8s::crd::definitions().into_iter().next().unwrap();
    let mut definition = serde_json::to_value(definition).unwrap();
    definition["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
    definition
}

fn checked(served: &Value) -> Option<(Check, String)> {
    let served: CustomResourceDefinition = serde_json::from_value(served.clone()).unwrap();
    let needed = needed(true);
    let needed = needed
        .iter()
        .find(|needed| needed.name == "jobflows.flow.volcano.sh")
        .unwrap();
    check(needed, Some(&served))
}

/// JobFlow as Volcano's own chart defines it: what its types declare, and nothing of ours.
fn volcano() -> Value {
    let strings = json!({"type": "array", "items": {"type": "string"}});
    let mut definition = ours();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = json!({
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {
                "jobRetainPolicy": {"type": "string"},
                "flows": {"type": "array", "items": {"type": "object", "properties": {
                    "name": {"type": "string"},
                    "dependsOn": {"type": "object", "properties": {"targets": strings}},
                }}},
            }},
            "status": {"type": "object", "properties": {
                "pendingJobs": strings, "runningJobs": strings, "failedJobs": strings, "completedJobs": strings,
                "terminatedJobs": strings, "unKnowJobs": strings,
                "state": {"type": "object", "properties": {"phase": {"type": "string"}}},
            }},
        },
    });
    definition
}

#[test]
fn our_own_definitions_lack_nothing() {
    for needed in needed(true) {
        let definitions = jobflow_k8s::crd::definitions();
        let own = definitions
            .iter()
            .find(|(_, own)| own.metadata.name.as_deref() == Some(&needed.name));
        let Some((_, own)) = own else {
            continue;
        };
        let mut own = serde_json::to_value(own).unwrap();
        own["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
        let own: CustomResourceDefinition = serde_json::from_value(own).unwrap();
        assert_eq!(check(&needed, Some(&own)), None);
    }
}

#[test]
fn volcano_s_definition_drops_the_record() {
    let (check, line) = checked(&volcano()).unwrap();
    assert_eq!(check, Check::SchemaLacksFields);
    assert!(line.starts_with("jobflows.flow.volcano.sh drops "), "{line}");
    let schema = &volcano()["spec"]["versions"][0];
    let version: CustomResourceDefinitionVersion = serde_json::from_value(schema.clone()).unwrap();
    let needed = needed(true);
    let lacking = lacking(needed.first().unwrap().schema.as_ref().unwrap(), &version);
    for path in [
        "status.nodes",
        "status.requests",
        "status.flowConditions",
        "spec.finally",
        "spec.flows[].retry",
    ] {
        assert!(
            lacking.iter().any(|lacking| lacking == path),
            "{path}: {lacking:?}"
        );
    }
    assert!(!lacking.iter().any(|path| path == "status.state.phase"));
}

#[test]
fn one_field_that_an_older_version_of_ours_lacks_is_named() {
    let mut old = ours();
    let schema = &mut old["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let node = &mut schema["properties"]["status"]["properties"]["nodes"]["items"]["properties"];
    node.as_object_mut().unwrap().remove("entryHash");
    let line = "jobflows.flow.volcano.sh drops 1 fields: status.nodes[].entryHash";
    assert_eq!(checked(&old), Some((Check::SchemaLacksFields, line.to_owned())));
}

#[test]
fn a_schema_that_keeps_what_it_does_not_know_lacks_nothing() {
    let mut open = ours();
    open["spec"]["versions"][0]["schema"]["openAPIV3Schema"] =
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    assert_eq!(checked(&open), None);
}

#[test]
fn what_is_served_otherwise_is_told_apart() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 5] = [
        (
            |crd| crd["spec"]["versions"][0]["served"] = json!(false),
            "version v1alpha1 is not served",
        ),
        (
            |crd| crd["spec"]["versions"][0]["name"] = json!("v1"),
            "version v1alpha1 is not served",
        ),
        (
            |crd| crd["spec"]["versions"][0]["subresources"] = json!({}),
            "it has no status subresource",
        ),
        (
            |crd| crd["status"] = Value::Null,
            "the server has not accepted the definition yet",
        ),
        (
            |crd| {
                let properties = &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
                let entry = &mut properties["spec"]["properties"]["flows"]["items"]["properties"];
                entry["jobSpec"] = json!({"type": "object"});
            },
            "drops 1 fields: spec.flows[].jobSpec.* (whatever it holds)",
        ),
    ];
    for (change, expected) in changes {
        let mut served = ours();
        change(&mut served);
        let (_, line) = checked(&served).unwrap();
        assert!(line.ends_with(expected), "{line}");
    }
    let needed = needed(true);
    let (_, line) = check(needed.last().unwrap(), None).unwrap();
    assert_eq!(line, "commands.bus.volcano.sh: the definition is not installed");
}

#[test]
fn without_commands_their_definition_is_not_needed() {
    let names = |commands| {
        needed(commands)
            .into_iter()
            .map(|needed| needed.name)
            .collect::<Vec<_>>()
    };
    assert!(names(true).contains(&"commands.bus.volcano.sh".to_owned()));
    assert_eq!(names(false).len(), names(true).len() - 1);
}
