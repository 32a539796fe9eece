//! The schemas as editors want them: JSON Schema, draft 2020-12.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{JOB_SPEC, Kind, Schemas};

/// The schemas of our kinds, each with the file name under which it is committed.
#[must_use]
pub fn files(schemas: &Schemas) -> [(&'static str, Value); 3] {
    [
        ("jobflow.json", document(schemas, Kind::JobFlow)),
        ("jobtemplate.json", document(schemas, Kind::JobTemplate)),
        ("jobflowtemplate.json", document(schemas, Kind::JobFlowTemplate)),
    ]
}

fn document(schemas: &Schemas, kind: Kind) -> Value {
    let mut spec = schemas.spec(kind).clone();
    for list in ["flows", "finally"] {
        for job_spec in ["jobSpec", "patch/properties/jobSpec"] {
            let place = spec.pointer_mut(&format!("/properties/{list}/items/properties/{job_spec}"));
            place
                .into_iter()
                .for_each(|place| *place = names_of_job_spec(schemas));
        }
    }
    let mut root = json!({
        "type": "object",
        "properties": {
            "apiVersion": { "const": kind.api_version() },
            "kind": { "const": kind.name() },
            "metadata": { "$ref": "#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" },
            "spec": spec,
            "status": { "type": "object" },
        },
        "required": ["apiVersion", "kind", "metadata", "spec"],
    });
    rewrite(&mut root);
    let mut definitions = Map::new();
    collect(schemas, &root, &mut definitions);
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{} ({})", kind.name(), kind.api_version()),
    });
    if let (Some(document), Value::Object(root)) = (document.as_object_mut(), root) {
        document.extend(root);
        document.insert("$defs".to_owned(), Value::Object(definitions));
    }
    document
}

/// A Job's spec in a flow: its fields are named but not typed, since any of them may be an expression or null.
fn names_of_job_spec(schemas: &Schemas) -> Value {
    let mut names = untyped(schemas.job_spec());
    let tasks = schemas.job_spec().pointer("/properties/tasks/items").map(untyped);
    if let (Some(place), Some(tasks)) = (names.pointer_mut("/properties/tasks"), tasks) {
        place["items"] = tasks;
    }
    names["x-kubernetes-preserve-unknown-fields"] = true.into();
    names
}

fn untyped(schema: &Value) -> Value {
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let properties = properties.map(|(name, schema)| {
        let description = schema.get("description").cloned();
        (
            name.clone(),
            description.map_or_else(|| json!({}), |text| json!({ "description": text })),
        )
    });
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "x-kubernetes-preserve-unknown-fields": true,
    })
}

/// Adds what a schema refers to, and what that refers to.
fn collect(schemas: &Schemas, root: &Value, definitions: &mut Map<String, Value>) {
    let mut wanted = references(root);
    while let Some(name) = wanted.pop_first() {
        if definitions.contains_key(&name) || name == JOB_SPEC {
            continue;
        }
        let Some(schema) = schemas.definitions.get(&name) else {
            continue;
        };
        let mut schema = schema.clone();
        rewrite(&mut schema);
        wanted.extend(references(&schema));
        definitions.insert(name, schema);
    }
    definitions.sort_keys();
}

fn references(schema: &Value) -> BTreeSet<String> {
    match schema {
        Value::Object(fields) => {
            let own = fields
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|name| name.rsplit('/').next());
            own.map(str::to_owned)
                .into_iter()
                .chain(fields.values().flat_map(references))
                .collect()
        }
        Value::Array(elements) => elements.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeSet::new(),
    }
}

/// Puts what only the API server knows into words of JSON Schema.
fn rewrite(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    let is_true = |name: &str| fields.get(name) == Some(&Value::Bool(true));
    let keeps = is_true("x-kubernetes-preserve-unknown-fields");
    let either = is_true("x-kubernetes-int-or-string");
    fields.retain(|name, _| !name.starts_with("x-kubernetes-") && name != "nullable");
    if either {
        fields.remove("format");
        fields.insert("type".to_owned(), json!(["number", "string"]));
    }
    if fields.contains_key("properties") && !keeps {
        fields.insert("additionalProperties".to_owned(), false.into());
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(rewrite);
    }
    for inner in ["items", "additionalProperties"] {
        fields.get_mut(inner).into_iter().for_each(rewrite);
    }
}
