//! The custom resource definitions of JobFlow, JobTemplate and JobFlowTemplate.
//!
//! Comes in: nothing but the types. Goes out: what `kubectl apply` installs. Deliberately absent: defaults (a stored
//! object says what its author wrote) and rules that look at more than one element (their cost passes the API
//! server's limit at 1,000 entries).

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;

use crate::types::{JobFlow, JobFlowTemplate, JobTemplate};

/// The definitions, each with the file name under which it is committed.
#[must_use]
pub fn definitions() -> [(&'static str, CustomResourceDefinition); 3] {
    [
        ("jobflows.yaml", finish(JobFlow::crd())),
        ("jobtemplates.yaml", finish(JobTemplate::crd())),
        ("jobflowtemplates.yaml", finish(JobFlowTemplate::crd())),
    ]
}

/// The structural schema of the objects of a definition.
#[must_use]
pub fn schema(definition: &CustomResourceDefinition) -> Option<&JSONSchemaProps> {
    let version = definition.spec.versions.first()?;
    version.schema.as_ref()?.open_api_v3_schema.as_ref()
}

/// Says of every list and map of the status that it is replaced whole: a list map costs managed fields an element.
fn finish(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    definition.metadata.annotations =
        Some([("helm.sh/resource-policy".to_owned(), "keep".to_owned())].into());
    for version in &mut definition.spec.versions {
        let Some(schema) = version
            .schema
            .as_mut()
            .and_then(|schema| schema.open_api_v3_schema.as_mut())
        else {
            continue;
        };
        let Some(status) = schema
            .properties
            .as_mut()
            .and_then(|properties| properties.get_mut("status"))
        else {
            continue;
        };
        for property in status
            .properties
            .iter_mut()
            .flat_map(|properties| properties.values_mut())
        {
            make_atomic(property);
        }
    }
    definition
}

fn make_atomic(schema: &mut JSONSchemaProps) {
    if schema.x_kubernetes_list_type.as_deref() == Some("map") {
        return;
    }
    match schema.type_.as_deref() {
        Some("array") => schema.x_kubernetes_list_type = Some("atomic".to_owned()),
        Some("object") => schema.x_kubernetes_map_type = Some("atomic".to_owned()),
        _ => return,
    }
    for property in schema
        .properties
        .iter_mut()
        .flat_map(|properties| properties.values_mut())
    {
        make_atomic(property);
    }
    match schema.items.as_mut() {
        Some(JSONSchemaPropsOrArray::Schema(items)) => make_atomic(items),
        Some(JSONSchemaPropsOrArray::Schemas(_)) | None => {}
    }
    match schema.additional_properties.as_mut() {
        Some(JSONSchemaPropsOrBool::Schema(values)) => make_atomic(values),
        Some(JSONSchemaPropsOrBool::Bool(_)) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn as_json(file: &str) -> Value {
        let (_, definition) = definitions().into_iter().find(|(name, _)| *name == file).unwrap();
        serde_json::to_value(definition).unwrap()
    }

    fn each_schema(value: &Value, visit: &mut impl FnMut(&Value)) {
        visit(value);
        let properties = value.get("properties").and_then(Value::as_object);
        for child in properties.into_iter().flat_map(|properties| properties.values()) {
            each_schema(child, visit);
        }
        for child in ["items", "additionalProperties"]
            .iter()
            .filter_map(|key| value.get(key))
        {
            each_schema(child, visit);
        }
    }

    fn root(file: &str) -> Value {
        as_json(file)["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
    }

    #[test]
    fn no_schema_has_a_default_or_a_choice_of_schemas() {
        for (file, _) in definitions() {
            each_schema(&root(file), &mut |schema| {
                for word in ["default", "anyOf", "oneOf", "allOf", "not", "$ref"] {
                    assert_eq!(schema.get(word), None, "{file}: {schema}");
                }
            });
        }
    }

    #[test]
    fn every_schema_is_structural() {
        for (file, _) in definitions() {
            each_schema(&root(file), &mut |schema| {
                let typed = schema.get("type").is_some()
                    || schema.get("x-kubernetes-int-or-string") == Some(&json!(true))
                    || schema.get("x-kubernetes-preserve-unknown-fields") == Some(&json!(true));
                assert!(typed || schema.is_boolean(), "{file}: {schema}");
                let both = schema.get("properties").is_some() && schema.get("additionalProperties").is_some();
                assert!(!both, "{file}: {schema}");
            });
        }
    }

    #[test]
    fn nothing_is_known_below_a_job_spec_in_a_flow() {
        let entry =
            &root("jobflows.yaml")["properties"]["spec"]["properties"]["flows"]["items"]["properties"];
        for schema in [&entry["jobSpec"], &entry["patch"]["properties"]["jobSpec"]] {
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["x-kubernetes-preserve-unknown-fields"], true);
            assert_eq!(schema.get("properties"), None);
        }
    }

    #[test]
    fn a_template_keeps_what_is_unknown_in_spec_task_pod_and_its_metadata() {
        let spec = root("jobtemplates.yaml")["properties"]["spec"].clone();
        let task = &spec["properties"]["tasks"]["items"];
        let pod = &task["properties"]["template"];
        for schema in [&spec, task, pod, &pod["properties"]["metadata"]] {
            assert_eq!(schema["x-kubernetes-preserve-unknown-fields"], true, "{schema}");
        }
        assert_eq!(spec["properties"]["minAvailable"]["type"], "integer");
    }

    #[test]
    fn lists_and_maps_of_the_status_are_atomic_but_the_conditions() {
        let status = root("jobflows.yaml")["properties"]["status"]["properties"].clone();
        assert_eq!(
            status["flowConditions"]["x-kubernetes-list-map-keys"],
            json!(["type"])
        );
        assert_eq!(status["nodes"]["x-kubernetes-list-type"], "atomic");
        assert_eq!(status["conditions"]["x-kubernetes-map-type"], "atomic");
        assert_eq!(status["state"]["x-kubernetes-map-type"], "atomic");
    }

    #[test]
    fn lists_of_the_spec_with_names_are_list_maps() {
        let spec = root("jobflows.yaml")["properties"]["spec"]["properties"].clone();
        let entry = &spec["flows"]["items"]["properties"];
        for list in [
            &spec["flows"],
            &spec["finally"],
            &spec["parameters"],
            &entry["outputs"],
        ] {
            assert_eq!(list["x-kubernetes-list-map-keys"], json!(["name"]));
        }
        assert_eq!(spec["requests"]["x-kubernetes-list-map-keys"], json!(["id"]));
    }

    #[test]
    fn only_names_and_the_like_are_required() {
        let mut required = std::collections::BTreeSet::new();
        for (file, _) in definitions() {
            each_schema(&root(file)["properties"]["spec"], &mut |schema| {
                let names = schema
                    .get("required")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                required.extend(names.filter_map(Value::as_str).map(str::to_owned));
            });
        }
        assert_eq!(
            required.into_iter().collect::<Vec<_>>(),
            ["id", "kind", "name", "on", "target", "template", "value", "verb"]
        );
    }

    #[test]
    fn definitions_stay_under_their_size() {
        for (file, definition) in definitions() {
            let size = serde_json::to_string(&definition).unwrap().len();
            assert!(size < 200_000, "{file}: {size}");
        }
    }
}
