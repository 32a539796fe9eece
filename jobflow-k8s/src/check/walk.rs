//! A value and its schema, walked side by side.

mod say;
mod scalar;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Shape;
use crate::fault::{Code, Fault, FieldPath, MOST_FAULTS, Segment};
use crate::patch::Directive;
use crate::schema::{Kind, Schemas};

/// A walk through a value. Its depth is that of the value, which the reader has bounded.
pub(super) struct Walk<'a> {
    schemas: &'a Schemas,
    shape: Shape,
    path: FieldPath,
    faults: Vec<Fault>,
    /// Faults that were found but not kept.
    more: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(schemas: &'a Schemas, shape: Shape, path: FieldPath) -> Self {
        Self {
            schemas,
            shape,
            path,
            faults: Vec::new(),
            more: 0,
        }
    }

    pub(super) fn finish(mut self) -> Vec<Fault> {
        if self.more > 0 {
            let message = format!("and {} more faults", self.more);
            self.faults
                .push(Fault::error(Code::TooLarge, FieldPath::root(), message));
        }
        self.faults
    }

    /// Walks through a whole object.
    pub(super) fn object(&mut self, kind: Kind, object: &Value) {
        const FIELDS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];
        let Some(fields) = object.as_object() else {
            return self.wrong_type("an object", object);
        };
        for (name, value) in fields {
            match name.as_str() {
                "apiVersion" | "kind" | "status" => {}
                "metadata" => self.at_field(name, |walk| walk.value(walk.schemas.metadata(), value)),
                "spec" => self.at_field(name, |walk| walk.value(walk.schemas.spec(kind), value)),
                _ => self.at_field(name, |walk| walk.unknown(name, &FIELDS, false)),
            }
        }
        if fields.get("spec").is_none_or(Value::is_null) {
            self.missing("spec");
        }
    }

    /// Walks through the fields of an object.
    pub(super) fn fields(&mut self, schema: &'a Value, fields: &Map<String, Value>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema
            .get("additionalProperties")
            .filter(|schema| schema.is_object());
        let keeps = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        for (name, value) in fields {
            // What a directive says is looked at when the patch is merged.
            if self.shape == Shape::Patch && Directive::of(name).is_some() {
                continue;
            }
            let is_required = required.iter().any(|field| field == name);
            if let Some(schema) = properties.and_then(|properties| properties.get(name)).or(others) {
                if !value.is_null() || is_required {
                    self.at_field(name, |walk| walk.value(schema, value));
                }
                continue;
            }
            let Some(properties) = properties else { continue };
            let known: Vec<_> = properties.keys().map(String::as_str).collect();
            self.at_field(name, |walk| walk.unknown(name, &known, keeps));
        }
        for name in required.iter().filter_map(Value::as_str) {
            if self.shape != Shape::Patch && !fields.contains_key(name) {
                self.missing(name);
            }
        }
    }

    fn value(&mut self, schema: &'a Value, value: &Value) {
        let schema = self.schemas.resolve(schema);
        let is_string = schema.get("type") == Some(&Value::from("string"));
        if self.may_stand_for_any(value, is_string) {
            return;
        }
        if schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
            return self.int_or_string(schema, value);
        }
        let Some(expected) = schema.get("type").and_then(Value::as_str) else {
            return;
        };
        match (expected, value) {
            ("object", Value::Object(fields)) => self.inner(schema, fields),
            ("array", Value::Array(elements)) => self.elements(schema, elements),
            ("string", Value::String(text)) => self.text(schema, text),
            ("boolean", Value::Bool(_)) => {}
            ("integer", Value::Number(number)) if number.is_i64() || number.is_u64() => {
                self.number(schema, number)
            }
            ("number", Value::Number(number)) => self.number(schema, number),
            _ => self.wrong_type(name_of_type(expected), value),
        }
    }

    /// Whether a value may stand anywhere: null in a patch, an expression in a flow.
    fn may_stand_for_any(&self, value: &Value, is_string: bool) -> bool {
        match (self.shape, value) {
            (Shape::Patch, Value::Null) => true,
            (Shape::Patch | Shape::Inline, Value::String(text)) => !is_string && text.contains("${{"),
            (Shape::Whole | Shape::Inline | Shape::Patch, _) => false,
        }
    }

    /// Job specs inside of flows are walked in their own shape.
    fn inner(&mut self, schema: &'a Value, fields: &Map<String, Value>) {
        let outer = self.shape;
        if std::ptr::eq(schema, self.schemas.job_spec())
            && outer == Shape::Whole
            && !self.path.segments().is_empty()
        {
            self.shape = self.shape_of_job_spec();
        }
        self.fields(schema, fields);
        self.shape = outer;
    }

    fn shape_of_job_spec(&self) -> Shape {
        let names = self.path.segments().iter().rev().map(|segment| match segment {
            Segment::Field(name) => name.as_str(),
            Segment::Index(_) => "",
        });
        match names.take(2).collect::<Vec<_>>().as_slice() {
            ["jobSpec", "patch"] => Shape::Patch,
            ["jobSpec", ..] => Shape::Inline,
            _ => Shape::Whole,
        }
    }

    fn elements(&mut self, schema: &'a Value, elements: &[Value]) {
        self.length(schema, "Items", elements.len() as u64, "elements");
        if let Some(items) = schema.get("items") {
            for (index, element) in elements.iter().enumerate() {
                self.path.push(Segment::Index(index));
                self.value(items, element);
                self.path.pop();
            }
        }
        let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
        if let Some([Value::String(key)]) = keys.map(Vec::as_slice) {
            self.duplicates(key, elements);
        }
    }

    fn duplicates(&mut self, key: &str, elements: &[Value]) {
        let mut seen = BTreeSet::new();
        for (index, element) in elements.iter().enumerate() {
            let Some(name) = element.get(key).and_then(Value::as_str) else {
                continue;
            };
            // An element that is deleted first and then written anew.
            if self.shape == Shape::Patch && element.get("$patch").is_some() {
                continue;
            }
            if !seen.insert(name) {
                let path = self.path.index(index).field(key);
                self.push(Fault::error(
                    Code::DuplicateName,
                    path,
                    format!("`{name}` stands twice"),
                ));
            }
        }
    }

    fn at_field(&mut self, name: &str, walk: impl FnOnce(&mut Self)) {
        self.path.push(Segment::Field(name.to_owned()));
        walk(self);
        self.path.pop();
    }

    fn push_here(&mut self, fault: impl FnOnce(FieldPath) -> Fault) {
        if self.faults.len() < MOST_FAULTS {
            let fault = fault(self.path.clone());
            self.faults.push(fault);
        } else {
            self.more += 1;
        }
    }

    fn push(&mut self, fault: Fault) {
        self.push_here(|_| fault);
    }
}

fn name_of_type(expected: &str) -> &str {
    match expected {
        "object" => "a mapping",
        "array" => "a list",
        "string" => "a string",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        other => other,
    }
}
