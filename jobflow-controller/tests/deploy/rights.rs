//! The rights in the chart are those of the committed list, no more and no less.

use std::collections::BTreeSet;

use jobflow_controller::findings::rights::{CLUSTER, FLOWS, LEASE, Right};
use serde_json::Value;

use crate::rendering::{objects, of_kind};

/// Group, resource, verb and name of each single right.
type Rights = BTreeSet<(String, String, String, String)>;

fn listed(rights: &[Right]) -> Rights {
    let mut all = Rights::new();
    for right in rights {
        let names: &[&str] = if right.names.is_empty() {
            &[""]
        } else {
            right.names
        };
        for (verb, name) in right
            .verbs
            .iter()
            .flat_map(|verb| names.iter().map(move |name| (verb, name)))
        {
            all.insert((
                right.group.into(),
                right.resource.into(),
                (*verb).into(),
                (*name).into(),
            ));
        }
    }
    all
}

fn texts(rule: &Value, field: &str) -> Vec<String> {
    let texts = rule[field].as_array().into_iter().flatten();
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn granted(role: &Value) -> Rights {
    let mut all = Rights::new();
    for rule in role["rules"].as_array().unwrap() {
        let mut names = texts(rule, "resourceNames");
        if names.is_empty() {
            names.push(String::new());
        }
        for group in texts(rule, "apiGroups") {
            for resource in texts(rule, "resources") {
                for verb in texts(rule, "verbs") {
                    let names = names.iter().cloned();
                    all.extend(names.map(|name| (group.clone(), resource.clone(), verb.clone(), name)));
                }
            }
        }
    }
    all
}

fn named<'a>(objects: &[&'a Value], name: &str) -> Vec<&'a Value> {
    objects
        .iter()
        .copied()
        .filter(|object| object["metadata"]["name"] == name)
        .collect()
}

#[test]
fn on_the_cluster_the_controller_has_what_is_listed() {
    let objects = objects(&[]);
    let roles = named(&of_kind(&objects, "ClusterRole"), "jobflow-controller");
    assert_eq!(
        granted(roles.first().unwrap()),
        &listed(&FLOWS) | &listed(&CLUSTER)
    );
    let lease = of_kind(&objects, "Role");
    assert_eq!(lease.len(), 1);
    assert_eq!(granted(lease.first().unwrap()), listed(&LEASE));
}

#[test]
fn with_namespaces_there_are_roles_in_them_and_nothing_on_the_cluster() {
    let objects = objects(&[r#"namespaces=["a","b"]"#, r#"roles={"create":false}"#]);
    assert_eq!(
        of_kind(&objects, "ClusterRole").len() + of_kind(&objects, "ClusterRoleBinding").len(),
        0
    );
    let all = of_kind(&objects, "Role");
    let roles = named(&all, "jobflow-controller");
    let places: Vec<_> = roles
        .iter()
        .map(|role| role["metadata"]["namespace"].as_str().unwrap())
        .collect();
    assert_eq!(places, ["a", "b"]);
    for role in roles {
        assert_eq!(granted(role), listed(&FLOWS));
    }
    for binding in of_kind(&objects, "ValidatingAdmissionPolicyBinding") {
        let of_definitions = binding["metadata"]["name"] == "jobflow-controller-definitions";
        assert_eq!(
            binding["spec"]["matchResources"].is_null(),
            of_definitions,
            "{binding}"
        );
    }
}
