//! Elements of lists by what tells them apart, and the order in which a merge leaves them.

use std::collections::BTreeMap;

use serde_json::Value;

/// What tells an element from others: the value of its merge key, or a scalar itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(String);

impl Key {
    /// The key of a scalar; lists and maps have none.
    pub(super) fn of_scalar(value: &Value) -> Option<Self> {
        match value {
            // With quotes, so that a text is never taken for a number.
            Value::String(_) | Value::Number(_) | Value::Bool(_) => Some(Self(value.to_string())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The key of an element of a list that is merged by `field`.
    pub(super) fn of_element(element: &Value, field: &str) -> Option<Self> {
        element.get(field).and_then(Self::of_scalar)
    }
}

/// A scalar as it is written in brackets.
pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The positions of keys; of one that stands twice, the first.
pub(super) fn positions(keys: impl IntoIterator<Item = Option<Key>>) -> BTreeMap<Key, usize> {
    let mut positions = BTreeMap::new();
    for (at, key) in keys.into_iter().enumerate() {
        if let Some(key) = key {
            positions.entry(key).or_insert(at);
        }
    }
    positions
}

/// Puts merged elements in order: those that the patch names as it names them, the rest as they stood before; of the
/// two, whichever stood first before goes first.
pub(super) fn arrange(
    elements: Vec<Value>,
    key: impl Fn(&Value) -> Option<Key>,
    patch: &BTreeMap<Key, usize>,
    before: &BTreeMap<Key, usize>,
) -> Vec<Value> {
    let rank = |element: &Value, positions: &BTreeMap<Key, usize>| {
        key(element).and_then(|key| positions.get(&key).copied())
    };
    let (mut named, mut rest) = (Vec::new(), Vec::new());
    for element in elements {
        let stood = rank(&element, before);
        match rank(&element, patch) {
            Some(rank) => named.push((rank, stood, element)),
            None => rest.push((stood, element)),
        }
    }
    named.sort_by_key(|(rank, _, _)| *rank);
    if rest.iter().all(|(stood, _)| stood.is_some()) {
        rest.sort_by_key(|(stood, _)| *stood);
    }
    let mut arranged = Vec::with_capacity(named.len() + rest.len());
    let (mut named, mut rest) = (named.into_iter().peekable(), rest.into_iter().peekable());
    while let Some((stood, _)) = rest.peek() {
        let goes_first = match (stood, named.peek()) {
            (Some(stood), Some((_, Some(other), _))) => stood < other,
            (_, Some(_)) => false,
            (_, None) => true,
        };
        if goes_first {
            arranged.extend(rest.next().map(|(_, element)| element));
        } else {
            arranged.extend(named.next().map(|(_, _, element)| element));
        }
    }
    arranged.extend(named.map(|(_, _, element)| element));
    arranged
}
