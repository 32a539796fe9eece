//! A definition as it can be seen in what the server publishes to everybody (`/openapi/v3`).

use http::Request;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use serde_json::{Value, json};

use crate::findings::definitions::Needed;

/// The definition, as far as it is published; none if its kind isn't served.
pub(super) async fn definition(
    client: &Client,
    needed: &Needed,
) -> Result<Option<CustomResourceDefinition>, kube::Error> {
    let Some((plural, group)) = needed.name.split_once('.') else {
        return Ok(None);
    };
    let version = jobflow_k8s::types::VERSION;
    let path = format!("/openapi/v3/apis/{group}/{version}");
    let request = Request::get(path)
        .body(Vec::new())
        .map_err(kube::Error::HttpError)?;
    match client.request::<Value>(request).await {
        Ok(document) => Ok(read(&document, group, version, plural)),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// What is served as a definition of its own: paths tell the subresource, schemas the fields.
fn read(document: &Value, group: &str, version: &str, plural: &str) -> Option<CustomResourceDefinition> {
    let object = format!("/apis/{group}/{version}/namespaces/{{namespace}}/{plural}/{{name}}");
    let paths = document.get("paths")?;
    let operation = paths.get(&object)?.get("get")?;
    let kind = operation
        .get("x-kubernetes-group-version-kind")?
        .get("kind")?
        .as_str()?;
    let is_it = |schema: &&Value| {
        let kinds = schema
            .get("x-kubernetes-group-version-kind")
            .and_then(Value::as_array);
        kinds
            .into_iter()
            .flatten()
            .any(|found| found["kind"] == kind && found["group"] == group)
    };
    let schemas = document.get("components")?.get("schemas")?.as_object()?;
    let schema = schemas.values().find(is_it)?;
    let status = match paths.get(format!("{object}/status")) {
        Some(_) => json!({"status": {}}),
        None => json!({}),
    };
    // What is not about fields of ours is left out: `metadata` refers to schemas elsewhere.
    let mut schema = schema.clone();
    schema
        .get_mut("properties")
        .and_then(Value::as_object_mut)?
        .remove("metadata");
    let definition = json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [{
                "name": version, "served": true, "storage": true, "subresources": status,
                "schema": {"openAPIV3Schema": schema},
            }],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    });
    serde_json::from_value(definition).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Check;
    use crate::findings::definitions::{check, needed};

    fn document(schema: Value, status: bool) -> Value {
        let path = "/apis/flow.volcano.sh/v1alpha1/namespaces/{namespace}/jobflows/{name}";
        let kind = json!({"group": "flow.volcano.sh", "version": "v1alpha1", "kind": "JobFlow"});
        let mut schema = schema;
        schema["x-kubernetes-group-version-kind"] = json!([kind]);
        schema["properties"]["metadata"] =
            json!({"allOf": [{"$ref": "#/components/schemas/ObjectMeta"}], "default": {}});
        let mut document = json!({
            "paths": {path: {"get": {"x-kubernetes-group-version-kind": kind}}},
            "components": {"schemas": {"JobFlow": schema, "JobFlowList": {}}},
        });
        if status {
            document["paths"][format!("{path}/status")] = json!({});
        }
        document
    }

    #[test]
    fn what_is_published_is_checked_like_a_definition() {
        let (_, ours) = jobflow_k8s::crd::definitions().into_iter().next().unwrap();
        let schema = serde_json::to_value(jobflow_k8s::crd::schema(&ours)).unwrap();
        let needed = needed(true);
        let needed = needed.first().unwrap();
        let checked = |schema: Value, status| {
            let document = document(schema, status);
            check(
                needed,
                read(&document, "flow.volcano.sh", "v1alpha1", "jobflows").as_ref(),
            )
        };
        assert_eq!(checked(schema.clone(), true), None);
        assert_eq!(
            checked(schema.clone(), false).unwrap().0,
            Check::DefinitionMissing
        );
        let mut old = schema;
        old["properties"]["status"]["properties"]
            .as_object_mut()
            .unwrap()
            .remove("nodes");
        let line = "jobflows.flow.volcano.sh drops 1 fields: status.nodes";
        assert_eq!(
            checked(old, true),
            Some((Check::SchemaLacksFields, line.to_owned()))
        );
        assert_eq!(
            read(&json!({"paths": {}}), "flow.volcano.sh", "v1alpha1", "jobflows"),
            None
        );
    }
}
