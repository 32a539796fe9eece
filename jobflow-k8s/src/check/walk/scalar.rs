//! Scalars and their bounds.

use serde_json::Value;

use super::Walk;
use super::say::shown;
use crate::check::quantity::is_quantity;
use crate::fault::{Code, Fault};
use crate::names;
use crate::types::schema::{DNS_SUBDOMAIN, IDENTIFIER};

impl Walk<'_> {
    pub(super) fn text(&mut self, schema: &Value, text: &str) {
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

    pub(super) fn one_of(&mut self, text: &str, allowed: &[Value]) {
        let allowed: Vec<_> = allowed.iter().filter_map(Value::as_str).collect();
        if allowed.contains(&text) {
            return;
        }
        let message = format!("`{}` is none of {}", shown(text), allowed.join(", "));
        self.push_here(|path| Fault::error(Code::BadValue, path, message).with_suggestion(text, allowed));
    }

    pub(super) fn number(&mut self, schema: &Value, number: &serde_json::Number) {
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

    pub(super) fn int_or_string(&mut self, schema: &Value, value: &Value) {
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

    pub(super) fn length(&mut self, schema: &Value, what: &str, length: u64, unit: &str) {
        let bound = |side: &str| schema.get(format!("{side}{what}")).and_then(Value::as_u64);
        let message = match (bound("min"), bound("max")) {
            (Some(least), _) if length < least => format!("{length} {unit}, but at least {least} are needed"),
            (_, Some(most)) if length > most => format!("{length} {unit}, but at most {most} are allowed"),
            _ => return,
        };
        self.push_here(|path| Fault::error(Code::BadValue, path, message));
    }
}
