//! Takes away what a path names.

use serde_json::{Map, Value};

use super::grammar::{Removal, Step};
use super::key::{Key, text};
use super::lacking::list;
use super::table::{self, Kind, Lists};
use crate::fault::{Code, Fault, FieldPath, closest};

/// Takes away what a path names, or says why it names nothing; `at` is where the path is written.
pub(super) fn apply(removal: &Removal, spec: &mut Map<String, Value>, at: &FieldPath) -> Option<Fault> {
    let gone = in_map(Kind::JobSpec, spec, &removal.steps);
    gone.err().map(|missing| missing.fault(removal, at))
}

/// Why a path names nothing.
struct Missing {
    message: String,
    written: String,
    known: Vec<String>,
    help: Option<&'static str>,
}

type Gone = Result<(), Missing>;

fn in_map(kind: Kind, map: &mut Map<String, Value>, steps: &[Step]) -> Gone {
    let Some((Step::Field(name) | Step::Named(name), rest)) = steps.split_first() else {
        return Ok(());
    };
    if !map.contains_key(name) {
        return Err(Missing {
            message: format!("there is no `{name}`"),
            written: name.clone(),
            known: map.keys().cloned().collect(),
            help: (name == "spec" && map.contains_key("tasks"))
                .then_some("paths begin in the Job's spec, with `tasks` for example"),
        });
    }
    if rest.is_empty() {
        map.shift_remove(name);
        return Ok(());
    }
    let table::Field { lists, inner } = table::field(kind, name);
    match map.get_mut(name) {
        Some(Value::Object(fields)) => in_map(inner, fields, rest),
        Some(Value::Array(elements)) => in_list((name, lists, inner), elements, rest),
        Some(_) | None => Err(Missing::because(name, format!("`{name}` has nothing inside"))),
    }
}

fn in_list((of, lists, inner): (&str, Lists, Kind), elements: &mut Vec<Value>, steps: &[Step]) -> Gone {
    let (name, rest) = match (lists, steps.split_first()) {
        (Lists::Atomic, _) => {
            let help = "its elements have no names: take all of it away, or write it anew in `jobSpec`";
            let message = format!("`{of}` is a list that is replaced as a whole");
            return Err(Missing {
                help: Some(help),
                ..Missing::because(of, message)
            });
        }
        (_, Some((Step::Named(name), rest))) => (name, rest),
        (_, Some((Step::Field(name), _))) => {
            let message = format!("`{of}` is a list: its elements are named in brackets, not by `.{name}`");
            return Err(Missing::because(name, message));
        }
        (_, None) => return Ok(()),
    };
    let key = |element: &Value| match lists {
        Lists::Keyed(field) => element.get(field).map(text),
        Lists::Set | Lists::Atomic => Key::of_scalar(element).map(|_| text(element)),
    };
    let Some(at) = elements
        .iter()
        .position(|element| key(element).as_deref() == Some(name))
    else {
        return Err(Missing {
            message: format!("`{of}` has no element `{name}`"),
            written: name.clone(),
            known: elements.iter().filter_map(key).collect(),
            help: None,
        });
    };
    match (rest.is_empty(), elements.get_mut(at)) {
        (true, _) => drop(elements.remove(at)),
        (false, Some(Value::Object(fields))) => return in_map(inner, fields, rest),
        (false, _) => return Err(Missing::because(name, format!("`{name}` has nothing inside"))),
    }
    Ok(())
}

impl Missing {
    fn because(written: &str, message: String) -> Self {
        Self {
            message,
            written: written.to_owned(),
            known: Vec::new(),
            help: None,
        }
    }

    fn fault(self, removal: &Removal, at: &FieldPath) -> Fault {
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        let close = closest(&self.written, known.iter().copied()).is_some();
        let only = match known.as_slice() {
            names if !close && self.help.is_none() && !names.is_empty() => format!(", only {}", list(names)),
            _ => String::new(),
        };
        let message = format!("`{removal}` names nothing: {}{only}", self.message);
        let fault = Fault::error(Code::BadPatch, at.clone(), message);
        match self.help {
            Some(help) => fault.with_help(help),
            None => fault.with_suggestion(&self.written, known),
        }
    }
}
