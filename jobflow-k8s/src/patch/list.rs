//! Lists of a strategic merge.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::directive::PATCH;
use super::key::{Key, arrange, positions};
use super::merge::Merging;
use super::table::{Kind, Lists};
use crate::fault::Code;

impl Merging {
    /// Merges a list, and puts it in order; an empty order says nothing.
    pub(super) fn list(
        &mut self,
        (lists, inner): (Lists, Kind),
        original: &mut Vec<Value>,
        patch: &[Value],
        order: Option<&Value>,
    ) {
        let key = move |element: &Value| match lists.key() {
            Some(field) => Key::of_element(element, field),
            None => Key::of_scalar(element),
        };
        let order = match order {
            None => None,
            Some(order) => match self.order(order, &key) {
                Some(order) if order.is_empty() => None,
                Some(order) => Some(order),
                None => return,
            },
        };
        let length = original.len();
        let old = match order {
            Some(_) => positions(original.iter().map(key)),
            None => BTreeMap::new(),
        };
        // An order without a list is all that there is to say about it.
        let only_order = patch.is_empty() && order.is_some();
        let joined = match lists {
            _ if only_order => None,
            Lists::Atomic => self.replace(inner, original, patch),
            Lists::Set => self.join(original, patch),
            Lists::Keyed(field) => self.keyed((field, inner), original, patch),
        };
        let (positions, before) = match (order, joined) {
            (Some(order), None) => (order, old),
            (Some(order), Some(joined)) if !self.agrees(&joined.named, &order) => return,
            // As in Kubernetes, new elements take the places at the end that deleted ones leave free.
            (Some(order), Some(_)) => (order, positions(original.iter().take(length).map(key))),
            (None, Some(joined)) => (
                joined.named,
                positions(original.iter().take(joined.kept).map(key)),
            ),
            (None, None) => return,
        };
        *original = arrange(std::mem::take(original), key, &positions, &before);
    }

    /// The wanted order of keys.
    fn order(&mut self, order: &Value, key: &impl Fn(&Value) -> Option<Key>) -> Option<BTreeMap<Key, usize>> {
        let keys: Option<Vec<Option<Key>>> = order.as_array().map(|order| order.iter().map(key).collect());
        match keys {
            Some(keys) if keys.iter().all(Option::is_some) => Some(positions(keys)),
            Some(_) | None => {
                let message = "the order of a list names each element by its merge key, or is of scalars";
                self.error(Code::BadPatch, message);
                None
            }
        }
    }

    /// Whether the elements of the patch stand in the wanted order.
    fn agrees(&mut self, named: &BTreeMap<Key, usize>, order: &BTreeMap<Key, usize>) -> bool {
        let mut keys: Vec<_> = named.iter().collect();
        keys.sort_by_key(|(_, at)| **at);
        let ranks: Vec<_> = keys.iter().map(|(key, _)| order.get(*key)).collect();
        let agrees = ranks.iter().all(Option::is_some) && ranks.is_sorted();
        if !agrees {
            self.error(
                Code::BadPatch,
                "the elements of this list don't stand in the order that `$setElementOrder` gives them",
            );
        }
        agrees
    }

    /// Replaces a list; it stands as the patch has it.
    fn replace(&mut self, inner: Kind, original: &mut Vec<Value>, patch: &[Value]) -> Option<Joined> {
        if let Some(at) = patch.iter().position(|element| element.get(PATCH).is_some()) {
            self.at_index(at, |merging| {
                let message = "this list is replaced as a whole: `$patch` has no meaning in it";
                merging.error(Code::BadPatch, message);
            });
            return None;
        }
        *original = patch
            .iter()
            .enumerate()
            .map(|(at, element)| self.at_index(at, |merging| merging.stored(inner, element)))
            .collect();
        None
    }

    /// Joins two sets of scalars.
    fn join(&mut self, original: &mut Vec<Value>, patch: &[Value]) -> Option<Joined> {
        let mut known = BTreeSet::new();
        original.retain(|element| Key::of_scalar(element).is_none_or(|key| known.insert(key)));
        let kept = original.len();
        for (at, element) in patch.iter().enumerate() {
            match Key::of_scalar(element) {
                None => self.at_index(at, |merging| {
                    merging.error(Code::WrongType, "the elements of this list are scalars");
                }),
                Some(key) => {
                    if known.insert(key) {
                        original.push(element.clone());
                    }
                }
            }
        }
        Some(Joined {
            named: positions(patch.iter().map(Key::of_scalar)),
            kept,
        })
    }

    /// Merges elements with the same key; nothing if the list stands as it is.
    fn keyed(
        &mut self,
        (field, inner): (&str, Kind),
        original: &mut Vec<Value>,
        patch: &[Value],
    ) -> Option<Joined> {
        let parts = self.parts(field, patch)?;
        if parts.replaces {
            original.clear();
            for (at, _, element) in parts.plain {
                let element = Value::Object(element.clone());
                original.push(self.at_index(at, |merging| merging.stored(inner, &element)));
            }
            return None;
        }
        if !parts.deleted.is_empty() {
            original.retain(|element| {
                Key::of_element(element, field).is_none_or(|key| !parts.deleted.contains(&key))
            });
        }
        let kept = original.len();
        let mut places = positions(original.iter().map(|element| Key::of_element(element, field)));
        let mut named = BTreeMap::new();
        for (at, key, element) in parts.plain {
            named.entry(key.clone()).or_insert(at);
            self.at_index(at, |merging| {
                match places.get(&key).and_then(|at| original.get_mut(*at)) {
                    Some(Value::Object(old)) => merging.map(inner, old, element),
                    Some(_) | None => {
                        let element = Value::Object(element.clone());
                        places.insert(key, original.len());
                        original.push(merging.stored(inner, &element));
                    }
                }
            });
        }
        Some(Joined { named, kept })
    }

    /// What a patch says of the elements of a keyed list; nothing if it makes no sense.
    fn parts<'a>(&mut self, field: &str, patch: &'a [Value]) -> Option<Parts<'a>> {
        let mut parts = Parts::default();
        let faults = self.faults.len();
        for (at, element) in patch.iter().enumerate() {
            self.at_index(at, |merging| merging.part(field, at, element, &mut parts));
        }
        (self.faults.len() == faults).then_some(parts)
    }

    fn part<'a>(&mut self, field: &str, at: usize, element: &'a Value, parts: &mut Parts<'a>) {
        let Some(fields) = element.as_object() else {
            return self.error(Code::WrongType, "each element of this list is a mapping");
        };
        let key = Key::of_element(element, field);
        match (fields.get(PATCH), key) {
            (Some(what), _) if what == "replace" => {
                parts.replaces = true;
                if fields.keys().any(|name| name != PATCH && name != field) {
                    let message = "`$patch: replace` replaces the whole list, and its own element is left out: \
                                   give it an element of its own";
                    self.error(Code::BadPatch, message);
                }
            }
            (Some(what), Some(key)) if what == "delete" => drop(parts.deleted.insert(key)),
            (Some(what), _) if what != "delete" => self.bad_directive(what),
            (None, Some(key)) => parts.plain.push((at, key, fields)),
            (_, None) => {
                let message =
                    format!("which element is meant? Elements of this list are merged by `{field}`");
                self.error(Code::MissingField, message);
            }
            (Some(_), Some(_)) => {}
        }
    }

    /// Takes scalars out of a list.
    pub(super) fn delete_from(&mut self, list: Option<&mut Value>, of: &str, gone: &Value) {
        let keys: Option<BTreeSet<Key>> = gone
            .as_array()
            .and_then(|gone| gone.iter().map(Key::of_scalar).collect());
        let Some(keys) = keys else {
            return self.error(
                Code::BadPatch,
                "`$deleteFromPrimitiveList` takes a list of scalars",
            );
        };
        match list {
            None => {}
            Some(Value::Array(list)) => {
                list.retain(|element| Key::of_scalar(element).is_none_or(|key| !keys.contains(&key)));
            }
            Some(_) => self.error(Code::BadPatch, format!("`{of}` is no list")),
        }
    }
}

/// A list after a merge, before it is put in order.
struct Joined {
    /// The keys that the patch names, by their positions there.
    named: BTreeMap<Key, usize>,
    /// How many elements at the beginning were there before.
    kept: usize,
}

/// What a patch says of the elements of a keyed list.
#[derive(Default)]
struct Parts<'a> {
    replaces: bool,
    deleted: BTreeSet<Key>,
    plain: Vec<(usize, Key, &'a Map<String, Value>)>,
}
