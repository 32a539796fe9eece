//! The value of one document, in the order of its author, within bounds.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{MOST_DEPTH, options};
use crate::fault::{Code, Position};

/// Why a text has no value.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) position: Option<Position>,
}

/// Reads the value of a text with one document. A key that stands twice has its last value.
pub(super) fn value(text: &str) -> Result<Value, Unreadable> {
    serde_saphyr::with_deserializer_from_str_with_options(text, options(), |deserializer| {
        Node { depth: 0 }.deserialize(deserializer)
    })
    .map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_saphyr::Error) -> Unreadable {
    use serde_saphyr::Error;

    let error = error.without_snippet();
    let position = error
        .location()
        .filter(|location| location.line() > 0)
        .map(|location| Position {
            line: u32::try_from(location.line()).unwrap_or(u32::MAX),
            column: u32::try_from(location.column()).unwrap_or(u32::MAX),
        });
    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is non-exhaustive")]
    let code = match error {
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => Code::TooLarge,
        _ => Code::Syntax,
    };
    let options = serde_saphyr::RenderOptions::default();
    let message = error.render_with_options(options);
    Unreadable {
        code,
        message: without_location(&message),
        position,
    }
}

/// The first line of a message, without the place, which a fault carries by itself.
fn without_location(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.split(" at line ").next().unwrap_or_default();
    line.trim_start_matches("error: ")
        .trim_end_matches('.')
        .to_owned()
}

/// Builds a value at some depth: aliases replay what they stand for, so the parser's own count isn't enough.
#[derive(Clone, Copy)]
struct Node {
    depth: usize,
}

impl Node {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= MOST_DEPTH {
            return Err(E::custom(format!("nested deeper than {MOST_DEPTH} levels")));
        }
        Ok(Self {
            depth: self.depth + 1,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Node {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON knows")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    /// A float without a fraction is a whole number, as kubectl hands it on.
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && value.abs() < EXACT {
            return Ok((value as i64).into());
        }
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number that isn't finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inner = self.deeper::<A::Error>()?;
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(inner)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper::<A::Error>()?;
        let mut map = Map::new();
        while let Some(Key(key)) = entries.next_key()? {
            map.insert(key, entries.next_value_seed(inner)?);
        }
        Ok(Value::Object(map))
    }
}

/// A key of a mapping: its text.
struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)
            .map(Key)
            .map_err(|error| D::Error::custom(format!("a key must be text: {error}")))
    }
}
