//! A value and its schema, walked side by side.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::quantity::is_quantity;
use super::{Shape, words};
use crate::fault::{Code, Fault, FieldPath, MOST_FAULTS, Segment};
use crate::names;
use crate::schema::{Kind, Schemas};
use crate::types::schema::{DNS_SUBDOMAIN, IDENTIFIER};

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
            let is_required = required.iter().any(|field| field == name);
            if let Some(schema) = properties.and_then(|properties| properties.get(name)).or(others) {
                if !value.is_null() || is_required {
                    self.at_field(name, |walk| walk.value(schema, value));
                }
                continue;
            }
            let Some(properties) = properties else { continue };
            if self.shape == Shape::Patch && name.starts_with("$patch") {
                continue;
            }
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

    fn text(&mut self, schema: &Value, text: &str) {
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
            return self.one_of(text, allowed);
        }
        self.length(schema, "Length", text.chars().count() as u64, "characters");
        let (follows, rule) = match schema.get("pattern").and_then(Value::as_str) {
            Some(DNS_SUBDOMAIN) => (names::is_dns_subdomain(text), names::DNS_SUBDOMAIN_RULE),
            Some(IDENTIFIER) => (names::is_identifier(text), names::IDENTIFIER_RULE),
            Some(_) | None => return,
        };
        if !follows {
            let message = format!("`{}` is no valid name", shown(text));
            self.push_here(|path| Fault::error(Code::BadName, path, message).with_help(rule));
        }
    }

    fn one_of(&mut self, text: &str, allowed: &[Value]) {
        let allowed: Vec<_> = allowed.iter().filter_map(Value::as_str).collect();
        if allowed.contains(&text) {
            return;
        }
        let message = format!("`{}` is none of {}", shown(text), allowed.join(", "));
        self.push_here(|path| Fault::error(Code::BadValue, path, message).with_suggestion(text, allowed));
    }

    fn number(&mut self, schema: &Value, number: &serde_json::Number) {
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        let narrow = schema.get("format") == Some(&Value::from("int32"));
        let least = bound("minimum").or_else(|| narrow.then_some(f64::from(i32::MIN)));
        let most = bound("maximum").or_else(|| narrow.then_some(f64::from(i32::MAX)));
        let Some(value) = number.as_f64() else { return };
        let message = match (least, most) {
            (Some(least), _) if value < least => format!("{number} is too small: at least {least}"),
            (_, Some(most)) if value > most => format!("{number} is too large: at most {most}"),
            _ => return,
        };
        self.push_here(|path| Fault::error(Code::BadValue, path, message));
    }

    fn int_or_string(&mut self, schema: &Value, value: &Value) {
        let quantity = schema.get("format") == Some(&Value::from("quantity"));
        match value {
            Value::Number(number) if quantity || number.is_i64() => {}
            Value::String(text) if quantity && !is_quantity(text) => {
                let message = format!("`{}` is no amount", shown(text));
                let help = "write a number with a suffix such as `500m`, `4Gi`, `2`";
                self.push_here(|path| Fault::error(Code::BadValue, path, message).with_help(help));
            }
            Value::String(_) => {}
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                self.wrong_type("a whole number or a string", value);
            }
        }
    }

    fn length(&mut self, schema: &Value, what: &str, length: u64, unit: &str) {
        let bound = |side: &str| schema.get(format!("{side}{what}")).and_then(Value::as_u64);
        let message = match (bound("min"), bound("max")) {
            (Some(least), _) if length < least => format!("{length} {unit}, but at least {least} are needed"),
            (_, Some(most)) if length > most => format!("{length} {unit}, but at most {most} are allowed"),
            _ => return,
        };
        self.push_here(|path| Fault::error(Code::BadValue, path, message));
    }

    fn unknown(&mut self, name: &str, known: &[&str], keeps: bool) {
        let message = format!("unknown field `{}`", shown(name));
        self.push_here(|path| {
            let fault = if keeps {
                Fault::warning(Code::UnknownField, path, message)
            } else {
                Fault::error(Code::UnknownField, path, message)
            };
            match words::meant(name, |word| known.contains(&word)) {
                Some(word) => fault.with_help(format!("did you mean `{word}`?")),
                None => fault.with_suggestion(name, known.iter().copied()),
            }
        });
    }

    fn missing(&mut self, name: &str) {
        let message = format!("the field `{name}` is missing");
        self.push_here(|path| Fault::error(Code::MissingField, path, message));
    }

    fn wrong_type(&mut self, expected: &str, found: &Value) {
        let message = format!("expected {expected}, found {}", described(found));
        let help = match (expected, found) {
            ("a whole number" | "a number", Value::String(text)) if text.parse::<i64>().is_ok() => {
                Some(format!("write `{text}` without quotes"))
            }
            ("true or false", Value::String(text)) if text == "true" || text == "false" => {
                Some(format!("write `{text}` without quotes"))
            }
            ("a string", Value::Number(_) | Value::Bool(_)) => {
                Some(format!("write it in quotes: `\"{found}\"`"))
            }
            ("a list", Value::String(_) | Value::Object(_)) => {
                Some("write it as a list, each element after `- `".to_owned())
            }
            _ => None,
        };
        self.push_here(|path| {
            let fault = Fault::error(Code::WrongType, path, message);
            match help {
                Some(help) => fault.with_help(help),
                None => fault,
            }
        });
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

fn described(found: &Value) -> String {
    match found {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string \"{}\"", shown(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a mapping".to_owned(),
    }
}

/// The beginning of a text, without control characters.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let start: String = text
        .chars()
        .take(MOST)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(MOST).is_some() {
        format!("{start}…")
    } else {
        start
    }
}
