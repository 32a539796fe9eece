//! The garbage collector, when a test lets it run: what is owned by nobody any more goes, and so does what waited for
//! that.

use serde_json::{Value, json};

use super::delete::{FOREGROUND, ORPHAN, delete};
use super::object;
use super::state::State;
use super::store::Key;

/// Collects until nothing more follows. Pods that were given time to end are left to whoever plays their node.
pub(super) fn collect_garbage(state: &mut State) {
    while step(state) {}
}

fn step(state: &mut State) -> bool {
    let all: Vec<(Key, Value)> = state
        .store
        .all()
        .map(|(key, object)| (key.clone(), Value::clone(object)))
        .collect();
    all.iter()
        .any(|(key, object)| abandoned(state, key, object, &all) || finalize(state, key, object, &all))
}

/// Deletes an object whose owners are all gone.
fn abandoned(state: &mut State, key: &Key, object: &Value, all: &[(Key, Value)]) -> bool {
    let owners = object::owners(object);
    let is_there = |uid: &str| all.iter().any(|(_, other)| object::uid(other) == uid);
    if owners.is_empty() || object::is_leaving(object) || owners.iter().any(|(uid, _)| is_there(uid)) {
        return false;
    }
    delete(state, key, &json!({ "propagationPolicy": "Background" })).is_ok()
}

/// Takes the collector's finalizers away once what they stand for is done.
fn finalize(state: &mut State, key: &Key, object: &Value, all: &[(Key, Value)]) -> bool {
    let finalizers = object::finalizers(object);
    if !object::is_leaving(object) {
        return false;
    }
    let owned: Vec<&(Key, Value)> = all
        .iter()
        .filter(|(_, other)| {
            object::owners(other)
                .iter()
                .any(|(owner, _)| owner == object::uid(object))
        })
        .collect();
    if finalizers.iter().any(|finalizer| finalizer == FOREGROUND) {
        let staying = owned.iter().find(|(_, other)| !object::is_leaving(other));
        if let Some((key, _)) = staying {
            return delete(state, key, &json!({ "propagationPolicy": "Foreground" })).is_ok();
        }
        let blocks = |other: &Value| {
            let owners = object::owners(other);
            owners
                .iter()
                .any(|(owner, blocks)| owner == object::uid(object) && *blocks)
        };
        return !owned.iter().any(|(_, other)| blocks(other)) && lift(state, key, object, FOREGROUND);
    }
    if finalizers.iter().any(|finalizer| finalizer == ORPHAN) {
        for (key, other) in owned {
            disown(state, key, other, object::uid(object));
        }
        return lift(state, key, object, ORPHAN);
    }
    false
}

fn lift(state: &mut State, key: &Key, object: &Value, finalizer: &str) -> bool {
    let mut left = object::finalizers(object);
    left.retain(|other| other != finalizer);
    let mut next = object.clone();
    object::set(&mut next, "finalizers", (!left.is_empty()).then(|| json!(left)));
    if object::is_free_to_go(&next) {
        state.store.remove(key);
        return true;
    }
    state.store.put(key.clone(), next);
    true
}

fn disown(state: &mut State, key: &Key, object: &Value, owner: &str) {
    let mut next = object.clone();
    let references = object["metadata"]["ownerReferences"].as_array();
    let others = references
        .into_iter()
        .flatten()
        .filter(|other| other["uid"] != owner);
    let others: Vec<Value> = others.cloned().collect();
    object::set(&mut next, "ownerReferences", Some(others.into()));
    state.store.put(key.clone(), next);
}
