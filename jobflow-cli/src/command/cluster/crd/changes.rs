//! What one definition has that another lacks: fields by path. Pure.

use std::collections::BTreeSet;

use jobflow_k8s::crd::schema;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
};

/// Names that are told at most.
const MOST_NAMES: usize = 8;

/// Fields that come and go, and whether anything else changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::command::cluster) struct Changes {
    added: Vec<String>,
    removed: Vec<String>,
    other: bool,
}

/// What changes between two definitions.
pub(in crate::command::cluster) fn changes(
    before: &CustomResourceDefinition,
    after: &CustomResourceDefinition,
) -> Changes {
    let of = |definition| schema(definition).map(fields).unwrap_or_default();
    let (old, new) = (of(before), of(after));
    Changes {
        added: topmost(new.difference(&old)),
        removed: topmost(old.difference(&new)),
        other: before.spec != after.spec,
    }
}

/// In words; no changes are those of a definition that isn't there yet.
pub(in crate::command::cluster) fn told(changes: Option<&Changes>) -> String {
    let Some(Changes {
        added,
        removed,
        other,
    }) = changes
    else {
        return "is not there yet, and is created".to_owned();
    };
    let parts = [("adds", added), ("takes away", removed)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what} {}", listed(names)))
        .collect();
    match (parts.is_empty(), other) {
        (true, false) => "is there as it should be".to_owned(),
        (true, true) => "has the same fields; rules and descriptions change".to_owned(),
        (false, _) => parts.join("; "),
    }
}

/// The first few names.
pub(in crate::command::cluster) fn listed(names: &[String]) -> String {
    let shown = names
        .iter()
        .take(MOST_NAMES)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Paths without those below another one.
pub(in crate::command::cluster) fn topmost<'a>(paths: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for path in paths {
        let is_below = |above: &String| {
            path.strip_prefix(above.as_str())
                .is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        if !kept.iter().any(is_below) {
            kept.push(path.clone());
        }
    }
    kept
}

/// The paths of all fields of a schema.
pub(in crate::command::cluster) fn fields(schema: &JSONSchemaProps) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    collect(schema, "", &mut paths);
    paths
}

fn collect(schema: &JSONSchemaProps, path: &str, paths: &mut BTreeSet<String>) {
    for (name, inner) in schema.properties.iter().flatten() {
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        collect(inner, &path, paths);
        paths.insert(path);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
        collect(items, &format!("{path}[]"), paths);
    }
}

#[cfg(test)]
mod tests {
    use jobflow_k8s::crd::definitions;

    use super::*;

    fn ours() -> CustomResourceDefinition {
        definitions()
            .into_iter()
            .next()
            .map(|(_, definition)| definition)
            .unwrap()
    }

    fn without(names: &[&str]) -> CustomResourceDefinition {
        let mut value = serde_json::to_value(ours()).unwrap();
        for name in names {
            let spec = &mut value["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
            spec["properties"].as_object_mut().unwrap().remove(*name);
        }
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn fields_that_come_and_go_are_named_without_what_is_in_them() {
        let said = |before: &CustomResourceDefinition, after: &CustomResourceDefinition| {
            told(Some(&changes(before, after)))
        };
        assert_eq!(
            said(&without(&["retry", "suspend"]), &ours()),
            "adds spec.retry, spec.suspend"
        );
        assert_eq!(said(&ours(), &without(&["retry"])), "takes away spec.retry");
        assert_eq!(said(&ours(), &ours()), "is there as it should be");
        assert_eq!(told(None), "is not there yet, and is created");
    }
}
