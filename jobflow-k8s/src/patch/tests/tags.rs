//! The table against the tags of Kubernetes' Go types, which a test of the whole project compares with their sources.

use std::collections::BTreeSet;

use super::*;

const TAGS: &str = include_str!("../../../tests/data/core-v1-patch-tags.json");

fn types() -> Map<String, Value> {
    serde_json::from_str(TAGS).unwrap()
}

/// Compares a type with a kind, and so on downwards.
fn compare(types: &Map<String, Value>, name: &str, kind: Kind, seen: &mut BTreeSet<(String, Kind)>) {
    let Some(Value::Object(fields)) = types.get(name) else {
        return;
    };
    if !seen.insert((name.to_owned(), kind)) {
        return;
    }
    for (field, facts) in fields {
        let row = super::field(kind, field);
        let expected = match (facts["strategy"].as_str(), facts["key"].as_str()) {
            (None, None) => Lists::Atomic,
            (Some("merge"), None) => Lists::Set,
            (Some("merge" | "merge,retainKeys"), Some("name")) => Lists::Keyed("name"),
            (Some("merge"), Some("ip")) => Lists::Keyed("ip"),
            (Some("merge"), Some("uid")) => Lists::Keyed("uid"),
            (Some("merge"), Some("mountPath")) => Lists::Keyed("mountPath"),
            (Some("merge"), Some("devicePath")) => Lists::Keyed("devicePath"),
            (Some("merge"), Some("containerPort")) => Lists::Keyed("containerPort"),
            (Some("merge"), Some("topologyKey")) => Lists::Keyed("topologyKey"),
            other => panic!("{name}.{field}: {other:?} is not known"),
        };
        assert_eq!(row.lists, expected, "{name}.{field}");
        if let Some(of) = facts["of"].as_str() {
            compare(types, of, row.inner, seen);
        }
    }
}

#[test]
fn lists_of_pod_templates_are_merged_as_the_tags_of_kubernetes_say() {
    let mut seen = BTreeSet::new();
    compare(&types(), "PodTemplateSpec", Kind::PodTemplate, &mut seen);
    assert!(seen.len() > 50, "{}", seen.len());
    for (name, kind) in [
        ("PodSpec", Kind::PodSpec),
        ("Container", Kind::Container),
        ("EphemeralContainer", Kind::Container),
        ("ObjectMeta", Kind::Metadata),
        ("Volume", Kind::Volume),
        ("EnvVar", Kind::Env),
        ("Probe", Kind::Probe),
    ] {
        assert!(seen.contains(&(name.to_owned(), kind)), "{name}");
    }
}

#[test]
fn unions_have_the_members_that_kubernetes_has() {
    let types = types();
    for (name, kind) in [
        ("Volume", Kind::Volume),
        ("EnvVarSource", Kind::EnvSource),
        ("Probe", Kind::Probe),
        ("LifecycleHandler", Kind::Handler),
    ] {
        for member in types[name].as_object().unwrap().keys() {
            assert!(is_member(kind, member), "{name}.{member}");
        }
    }
    assert!(!is_member(Kind::Volume, "name") && !is_member(Kind::Probe, "periodSeconds"));
}
