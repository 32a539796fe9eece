//! What is said of a fault.

use serde_json::Value;

use super::Walk;
use crate::check::words;
use crate::fault::{Code, Fault};

impl Walk<'_> {
    pub(super) fn unknown(&mut self, name: &str, known: &[&str], keeps: bool) {
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

    pub(super) fn missing(&mut self, name: &str) {
        let message = format!("the field `{name}` is missing");
        self.push_here(|path| Fault::error(Code::MissingField, path, message));
    }

    pub(super) fn wrong_type(&mut self, expected: &str, found: &Value) {
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
pub(super) fn shown(text: &str) -> String {
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
