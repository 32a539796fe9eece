//! DELETE: preconditions, finalizers, and what the garbage collector is to do with what the object owns.

use serde_json::{Value, json};

use super::object;
use super::refusal::Refusal;
use super::state::State;
use super::store::Key;

/// The finalizer that waits for what the object owns.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// The finalizer that sets free what the object owns.
pub(super) const ORPHAN: &str = "orphan";

/// How long a pod that was given a node may take to end, in seconds, unless it says otherwise.
const GRACE: i64 = 30;

/// Deletes an object, or begins to; what is answered.
///
/// # Errors
///
/// What the server would refuse it with.
pub(super) fn delete(state: &mut State, key: &Key, options: &Value) -> Result<Value, Refusal> {
    let missing = || Refusal::not_found(key.kind, &key.name);
    let current = Value::clone(state.store.get(key).ok_or_else(missing)?);
    check_preconditions(key, &current, &options["preconditions"])?;
    let finalizers = finalizers(&current, options["propagationPolicy"].as_str());
    let grace = grace(key, &current, options);
    if finalizers.is_empty() && grace == 0 {
        state.store.remove(key);
        return Ok(done(key, &current));
    }
    let mut next = current.clone();
    object::set(
        &mut next,
        "finalizers",
        (!finalizers.is_empty()).then(|| json!(finalizers)),
    );
    if !object::is_leaving(&current) {
        object::set(&mut next, "deletionTimestamp", Some(state.clock.stamp().into()));
        object::set(&mut next, "deletionGracePeriodSeconds", Some(grace.into()));
        if let Some(generation) = current["metadata"]["generation"].as_i64() {
            object::set(&mut next, "generation", Some((generation + 1).into()));
        }
    }
    if next == current {
        return Ok(current);
    }
    Ok(Value::clone(&state.store.put(key.clone(), next)))
}

fn check_preconditions(key: &Key, current: &Value, preconditions: &Value) -> Result<(), Refusal> {
    if let Some(wanted) = preconditions["uid"].as_str() {
        let uid = object::uid(current);
        if wanted != uid {
            let why = format!(
                "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might \
                 have been deleted and then recreated"
            );
            return Err(Refusal::precondition(key.kind, &key.name, &why));
        }
    }
    if let Some(wanted) = preconditions["resourceVersion"].as_str() {
        let version = object::meta(current, "resourceVersion");
        if wanted != version {
            let why = format!(
                "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
                 ({version}). The object might have been modified"
            );
            return Err(Refusal::precondition(key.kind, &key.name, &why));
        }
    }
    Ok(())
}

/// What holds the deletion back from now on.
fn finalizers(current: &Value, policy: Option<&str>) -> Vec<String> {
    let mut finalizers = object::finalizers(current);
    if let Some(policy) = policy {
        finalizers.retain(|finalizer| finalizer != FOREGROUND && finalizer != ORPHAN);
        match policy {
            "Foreground" => finalizers.push(FOREGROUND.to_owned()),
            "Orphan" => finalizers.push(ORPHAN.to_owned()),
            _ => {}
        }
    }
    finalizers
}

/// How long it may take to end: nothing but a pod on a node takes time.
fn grace(key: &Key, current: &Value, options: &Value) -> i64 {
    let phase = current["status"]["phase"].as_str().unwrap_or_default();
    let ended = ["Succeeded", "Failed"].contains(&phase);
    if key.kind.kind != "Pod" || ended || current["spec"]["nodeName"].as_str().is_none() {
        return 0;
    }
    let own = current["spec"]["terminationGracePeriodSeconds"].as_i64();
    options["gracePeriodSeconds"].as_i64().or(own).unwrap_or(GRACE)
}

fn done(key: &Key, gone: &Value) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {
            "name": key.name, "group": key.kind.group, "kind": key.kind.plural, "uid": object::uid(gone),
        },
    })
}
