//! A strategic merge, as the API server of Kubernetes does it, but for unions.
//!
//! Comes in: an object as data, a patch, and the kind of the object. Goes out: the object, changed in place, and what
//! is wrong with the patch. Fields that aren't known are merged as maps, and replaced as lists. The depth is that of
//! the patch, which whoever read it has bounded.

use serde_json::{Map, Value};

use super::directive::{self, Directive, PATCH, RETAIN_KEYS};
use super::table::{self, Kind, Lists};
use super::union;
use crate::fault::{Code, Fault, FieldPath, MOST_FAULTS, Segment};

/// A merge on its way through a patch.
pub(super) struct Merging {
    /// Where in the patch it is.
    path: FieldPath,
    pub(super) faults: Vec<Fault>,
}

impl Merging {
    /// A merge of a patch that stands at `path`.
    pub(super) const fn at(path: FieldPath) -> Self {
        Self {
            path,
            faults: Vec::new(),
        }
    }

    /// Merges a map.
    pub(super) fn map(&mut self, kind: Kind, original: &mut Map<String, Value>, patch: &Map<String, Value>) {
        if let Some(what) = patch.get(PATCH) {
            return self.whole(what, original, patch);
        }
        if let Some(kept) = patch.get(RETAIN_KEYS) {
            self.at_field(RETAIN_KEYS, |merging| merging.retain(kept, original, patch));
        }
        let set = union::set_by(kind, patch);
        self.excluding(&set);
        union::drop_others(kind, original, &set);
        for (name, value) in patch {
            match Directive::of(name) {
                None => self.at_field(name, |merging| {
                    let order = value
                        .is_array()
                        .then(|| directive::order_of(patch, name))
                        .flatten();
                    merging.field(kind, original, name, value, order);
                }),
                Some(Directive::Order(of)) => self.order_alone(kind, original, patch, (name, of), value),
                Some(Directive::Patch | Directive::RetainKeys | Directive::DeleteFrom(_)) => {}
            }
        }
        // After the lists themselves: what is to go is gone in the end.
        for (name, value) in patch {
            if let Some(Directive::DeleteFrom(of)) = Directive::of(name) {
                self.at_field(name, |merging| {
                    merging.delete_from(original.get_mut(of), of, value)
                });
            }
        }
    }

    /// Merges one field.
    fn field(
        &mut self,
        kind: Kind,
        original: &mut Map<String, Value>,
        name: &str,
        value: &Value,
        order: Option<&Value>,
    ) {
        let table::Field { lists, inner } = table::field(kind, name);
        match (original.get_mut(name), value) {
            (_, Value::Null) => drop(original.shift_remove(name)),
            (Some(Value::Object(old)), Value::Object(new)) => self.map(inner, old, new),
            (Some(Value::Array(old)), Value::Array(new)) => self.list((lists, inner), old, new, order),
            (_, Value::Array(new)) if order.is_some() => {
                let mut list = Vec::new();
                self.list((lists, inner), &mut list, new, order);
                original.insert(name.to_owned(), Value::Array(list));
            }
            _ => match self.fresh(inner, value) {
                Some(value) => drop(original.insert(name.to_owned(), value)),
                None => drop(original.shift_remove(name)),
            },
        }
    }

    /// A value where there was none of its type.
    fn fresh(&mut self, kind: Kind, value: &Value) -> Option<Value> {
        if value.get(PATCH).is_some() || directive::has_patch_inside(value) {
            self.note("there is nothing here yet: what has a `$patch` inside is left out");
        }
        self.unions(kind, value);
        directive::fresh(value)
    }

    /// A value that is stored as it is.
    pub(super) fn stored(&mut self, kind: Kind, value: &Value) -> Value {
        if directive::has_patch_inside(value) {
            self.note("there is nothing here yet: a `$patch` inside has no effect");
        }
        self.unions(kind, value);
        directive::stored(value)
    }

    /// Members of one union that a new value sets together, anywhere in it.
    fn unions(&mut self, kind: Kind, value: &Value) {
        match value {
            Value::Object(fields) => {
                self.excluding(&union::set_by(kind, fields));
                for (name, value) in fields {
                    let inner = table::field(kind, name).inner;
                    if inner != Kind::Other {
                        self.at_field(name, |merging| merging.unions(inner, value));
                    }
                }
            }
            Value::Array(elements) => {
                for (at, element) in elements.iter().enumerate() {
                    self.at_index(at, |merging| merging.unions(kind, element));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn excluding(&mut self, set: &[&str]) {
        if let [first, second, ..] = set {
            let message = format!("`{first}` and `{second}` exclude each other");
            self.at_field(second, |merging| merging.error(Code::Conflict, message));
        }
    }

    /// A map that is replaced or emptied.
    fn whole(&mut self, what: &Value, original: &mut Map<String, Value>, patch: &Map<String, Value>) {
        match what.as_str() {
            Some("replace") => *original = directive::stored_map(patch),
            Some("delete") => {
                original.clear();
                if patch.len() > 1 {
                    self.note("`$patch: delete` leaves nothing here: the fields beside it have no effect");
                }
            }
            _ => self.bad_directive(what),
        }
    }

    /// A `$patch` that says something else.
    pub(super) fn bad_directive(&mut self, what: &Value) {
        let message = format!("`$patch` is {what}; it can be `replace` or `delete`");
        let help = match what.as_str() {
            Some("merge") => "leave it away: merging is what happens without it",
            _ => "merging is what happens without it",
        };
        self.at_field(PATCH, |merging| {
            merging.push(Fault::error(Code::BadPatch, merging.path.clone(), message).with_help(help));
        });
    }

    /// Clears the fields that `$retainKeys` doesn't name.
    fn retain(&mut self, kept: &Value, original: &mut Map<String, Value>, patch: &Map<String, Value>) {
        let kept: Option<Vec<&str>> = kept.as_array().map(|kept| {
            kept.iter()
                .map(|name| name.as_str().unwrap_or_default())
                .collect()
        });
        let Some(kept) = kept else {
            return self.error(Code::BadPatch, "`$retainKeys` is a list of names of fields");
        };
        let sets = |(name, value): &(&String, &Value)| !value.is_null() && Directive::of(name).is_none();
        if let Some((name, _)) = patch
            .iter()
            .filter(sets)
            .find(|(name, _)| !kept.contains(&name.as_str()))
        {
            let message = format!("`$retainKeys` doesn't name `{name}`, which the patch sets");
            return self.error(Code::BadPatch, message);
        }
        original.retain(|name, _| kept.contains(&name.as_str()));
    }

    /// Says an error here.
    pub(super) fn error(&mut self, code: Code, message: impl Into<String>) {
        self.push(Fault::error(code, self.path.clone(), message));
    }

    /// Says a warning here.
    pub(super) fn note(&mut self, message: &str) {
        self.push(Fault::warning(Code::BadPatch, self.path.clone(), message));
    }

    fn push(&mut self, fault: Fault) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(fault);
        }
    }

    pub(super) fn at_field<T>(&mut self, name: &str, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Segment::Field(name.to_owned()));
        let result = inside(self);
        self.path.pop();
        result
    }

    pub(super) fn at_index<T>(&mut self, index: usize, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Segment::Index(index));
        let result = inside(self);
        self.path.pop();
        result
    }

    /// The lists of a field, and its order alone.
    fn order_alone(
        &mut self,
        kind: Kind,
        original: &mut Map<String, Value>,
        patch: &Map<String, Value>,
        (name, of): (&str, &str),
        order: &Value,
    ) {
        let table::Field { lists, inner } = table::field(kind, of);
        self.at_field(name, |merging| match (patch.get(of), original.get_mut(of)) {
            (Some(Value::Array(_)), _) | (None, None) => {}
            (None, Some(Value::Array(list))) => {
                merging.list((lists, inner), list, &[], Some(order));
            }
            (Some(_), _) | (None, Some(_)) => {
                merging.error(Code::BadPatch, format!("`{of}` is no list that has an order"));
            }
        });
    }
}

impl Lists {
    /// The field whose value tells elements apart.
    pub(super) const fn key(self) -> Option<&'static str> {
        match self {
            Self::Keyed(field) => Some(field),
            Self::Atomic | Self::Set => None,
        }
    }
}
