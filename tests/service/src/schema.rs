//! What a definition's schema does to an object: it drops fields that it doesn't know, and refuses wrong types.
//!
//! Deliberately absent: patterns, and rules in CEL.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jobflow_k8s::crd;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Map, Value};

use super::kind::Kind;

/// Whose definitions of JobFlow and JobTemplate are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Served {
    /// Ours.
    #[default]
    Ours,
    /// Volcano's own, which knows none of the fields that we add.
    Volcanos,
}

/// The schemas that are served.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schemas {
    /// Whose definitions are served.
    pub served: Served,
}

/// Our schemas, by plural.
static OURS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let one = |(_, definition): (_, CustomResourceDefinition)| {
        let schema = crd::schema(&definition).map(serde_json::to_value);
        let schema = schema.and_then(Result::ok).unwrap_or_default();
        (definition.spec.names.plural, schema)
    };
    crd::definitions().into_iter().map(one).collect()
});

/// Volcano's schemas, by plural.
static VOLCANOS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let files = [
        include_str!("../../cluster/volcano-flow-crds/jobflows.yaml"),
        include_str!("../../cluster/volcano-flow-crds/jobtemplates.yaml"),
    ];
    let one = |text: &str| {
        let definition: Value = serde_saphyr::from_str(text).expect("the file is a definition");
        let plural = definition["spec"]["names"]["plural"].as_str().unwrap_or_default();
        let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        (plural.to_owned(), schema.clone())
    };
    files.into_iter().map(one).collect()
});

impl Schemas {
    /// Drops what the schema of the kind doesn't know, and tells what is wrong with the rest: reason, field, message.
    pub fn admit(self, kind: &Kind, object: &mut Value) -> Vec<(&'static str, String, String)> {
        let mut causes = Vec::new();
        let Some(properties) = self.properties(kind) else {
            return causes;
        };
        let Some(fields) = object.as_object_mut() else {
            return causes;
        };
        for part in ["spec", "status"] {
            if let Some(value) = fields.get_mut(part) {
                prune(&properties[part], value);
                fill(&properties[part], value);
                check(&properties[part], value, part, &mut causes);
            }
        }
        causes
    }

    /// A stored object as it is read: without what the schema that is served now doesn't know.
    #[must_use]
    pub fn read(self, kind: &Kind, mut object: Value) -> Value {
        let properties = self.properties(kind).filter(|_| self.served == Served::Volcanos);
        if let Some((properties, fields)) = properties.zip(object.as_object_mut()) {
            for part in ["spec", "status"] {
                if let Some(value) = fields.get_mut(part) {
                    prune(&properties[part], value);
                    fill(&properties[part], value);
                }
            }
        }
        object
    }

    fn properties(self, kind: &Kind) -> Option<&'static Value> {
        let volcanos = VOLCANOS
            .get(kind.plural)
            .filter(|_| self.served == Served::Volcanos);
        let schema = volcanos.or_else(|| OURS.get(kind.plural))?;
        Some(&schema["properties"])
    }
}

fn keeps_unknown(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

fn prune(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => prune_fields(schema, fields),
        Value::Array(items) => items.iter_mut().for_each(|item| prune(&schema["items"], item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn prune_fields(schema: &Value, fields: &mut Map<String, Value>) {
    let additional = &schema["additionalProperties"];
    let known = |name: &str| schema["properties"].get(name);
    let kept = keeps_unknown(schema) || additional.is_object() || *additional == true;
    fields.retain(|name, value| match known(name) {
        Some(schema) => !value.is_null() || schema["nullable"] == true,
        None => kept,
    });
    for (name, value) in fields {
        match known(name) {
            Some(schema) => prune(schema, value),
            None if additional.is_object() => prune(additional, value),
            None => {}
        }
    }
}

/// Sets what is missing and has a default.
fn fill(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                if let Some(default) = schema.get("default").filter(|_| !fields.contains_key(name)) {
                    fields.insert(name.clone(), default.clone());
                }
                if let Some(value) = fields.get_mut(name) {
                    fill(schema, value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(&schema["items"], item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn check(schema: &Value, value: &Value, path: &str, causes: &mut Vec<(&'static str, String, String)>) {
    if value.is_null() && schema["nullable"] == true {
        return;
    }
    let wanted = schema["type"].as_str().unwrap_or_default();
    let found = type_of(value);
    if !wanted.is_empty() && wanted != found && !(wanted == "number" && found == "integer") {
        let message =
            format!("Invalid value: \"{found}\": {path} in body must be of type {wanted}: \"{found}\"");
        causes.push(("FieldValueTypeInvalid", path.to_owned(), message));
        return;
    }
    if let Some(allowed) = schema["enum"]
        .as_array()
        .filter(|allowed| !allowed.contains(value))
    {
        let words: Vec<String> = allowed.iter().map(Value::to_string).collect();
        let message = format!(
            "Unsupported value: {value}: supported values: {}",
            words.join(", ")
        );
        causes.push(("FieldValueNotSupported", path.to_owned(), message));
    }
    check_bounds(schema, value, path, causes);
    check_parts(schema, value, path, causes);
}

fn check_bounds(schema: &Value, value: &Value, path: &str, causes: &mut Vec<(&'static str, String, String)>) {
    let mut wrong = |message: String| {
        causes.push((
            "FieldValueInvalid",
            path.to_owned(),
            format!("Invalid value: {value}: {path} in body should {message}"),
        ));
    };
    let limit = |name: &str| schema[name].as_f64();
    if let (Some(number), Some(most)) = (value.as_f64(), limit("maximum"))
        && number > most
    {
        wrong(format!("be less than or equal to {most}"));
    }
    if let (Some(number), Some(least)) = (value.as_f64(), limit("minimum"))
        && number < least
    {
        wrong(format!("be greater than or equal to {least}"));
    }
    let size = match value {
        Value::Array(items) => Some((items.len(), "maxItems", "minItems", "items")),
        Value::String(text) => Some((text.chars().count(), "maxLength", "minLength", "chars long")),
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    };
    let Some((size, most, least, word)) = size else {
        return;
    };
    let bound = |name: &str| {
        schema[name]
            .as_u64()
            .and_then(|bound| usize::try_from(bound).ok())
    };
    if let Some(most) = bound(most).filter(|most| size > *most) {
        wrong(format!("have at most {most} {word}"));
    }
    if let Some(least) = bound(least).filter(|least| size < *least) {
        wrong(format!("have at least {least} {word}"));
    }
}

fn check_parts(schema: &Value, value: &Value, path: &str, causes: &mut Vec<(&'static str, String, String)>) {
    match value {
        Value::Object(fields) => {
            let required = schema["required"].as_array().into_iter().flatten();
            for name in required
                .filter_map(Value::as_str)
                .filter(|name| !fields.contains_key(*name))
            {
                let at = format!("{path}.{name}");
                causes.push(("FieldValueRequired", at, "Required value".to_owned()));
            }
            for (name, value) in fields {
                let additional = &schema["additionalProperties"];
                let schema = schema["properties"].get(name).unwrap_or(additional);
                if schema.is_object() {
                    check(schema, value, &format!("{path}.{name}"), causes);
                }
            }
        }
        Value::Array(items) if schema["items"].is_object() => {
            for (place, item) in items.iter().enumerate() {
                check(&schema["items"], item, &format!("{path}[{place}]"), causes);
            }
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
