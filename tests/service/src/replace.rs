//! PUT, on an object and on its `/status`: conditional on the version, each without effect on the other's part, and
//! without a new version when nothing changes.

use serde_json::Value;

use super::create::check_head;
use super::kind::Kind;
use super::object;
use super::refusal::Refusal;
use super::state::State;
use super::store::Key;

/// Which part of an object a write is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All but the status, if the kind keeps that apart.
    Main,
    /// The status.
    Status,
}

/// Replaces a part of an object; what is answered.
///
/// # Errors
///
/// What the server would refuse it with.
pub(super) fn replace(state: &mut State, key: &Key, part: Part, body: Value) -> Result<Value, Refusal> {
    check_head(key.kind, &key.namespace, &body)?;
    if object::name(&body) != key.name {
        let message = format!(
            "the name of the object ({}) does not match the name on the URL ({})",
            object::name(&body),
            key.name
        );
        return Err(Refusal::bad_request(message));
    }
    let current = current(state, key, &body)?;
    check_version(key, &current, &body)?;
    write(state, key, part, &current, body)
}

/// The object as it is; a body with another UID is a conflict.
fn current(state: &State, key: &Key, body: &Value) -> Result<Value, Refusal> {
    let missing = || Refusal::not_found(key.kind, &key.name);
    let found = state.store.get(key).ok_or_else(missing)?;
    let (wanted, uid) = (object::uid(body), object::uid(found));
    if !wanted.is_empty() && wanted != uid {
        let path = [key.kind.group, key.kind.plural, &key.namespace, &key.name].join("/");
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{path}, ResourceVersion: 0, AdditionalErrorMsg: \
             Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}"
        );
        return Err(Refusal::conflict(key.kind, &key.name, &why));
    }
    Ok(Value::clone(found))
}

fn check_version(key: &Key, current: &Value, body: &Value) -> Result<(), Refusal> {
    let version = object::meta(body, "resourceVersion");
    if version.is_empty() && key.kind.refuses_unconditional_updates() {
        return Err(Refusal::unconditional(key.kind, &key.name));
    }
    if !version.is_empty() && version != object::meta(current, "resourceVersion") {
        return Err(Refusal::stale(key.kind, &key.name));
    }
    Ok(())
}

/// Writes a new state of an object that is there, if it is another one.
pub(super) fn write(
    state: &mut State,
    key: &Key,
    part: Part,
    current: &Value,
    body: Value,
) -> Result<Value, Refusal> {
    let mut next = match part {
        Part::Main => main_of(key.kind, current, body),
        Part::Status => status_of(current, &body),
    };
    let causes = state.schemas.admit(key.kind, &mut next);
    if !causes.is_empty() {
        return Err(Refusal::invalid(key.kind, &key.name, &causes));
    }
    if key.kind.counts_generations() && is_new_generation(key.kind, current, &next) {
        let generation = current["metadata"]["generation"].as_i64().unwrap_or(0) + 1;
        object::set(&mut next, "generation", Some(generation.into()));
    }
    if next == *current {
        return Ok(next);
    }
    state.check_size(&next)?;
    let written = Value::clone(&state.store.put(key.clone(), next));
    if object::is_leaving(&written) && object::is_free_to_go(&written) {
        state.store.remove(key);
    }
    Ok(written)
}

fn main_of(kind: &Kind, current: &Value, mut body: Value) -> Value {
    if kind.status {
        object::take_over(&mut body, "status", current);
    }
    body["apiVersion"] = current["apiVersion"].clone();
    body["kind"] = current["kind"].clone();
    let kept = [
        "namespace",
        "uid",
        "creationTimestamp",
        "generation",
        "generateName",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "resourceVersion",
    ];
    for field in kept {
        object::set(&mut body, field, current["metadata"].get(field).cloned());
    }
    body
}

fn status_of(current: &Value, body: &Value) -> Value {
    let mut next = current.clone();
    object::take_over(&mut next, "status", body);
    next
}

fn is_new_generation(kind: &Kind, current: &Value, next: &Value) -> bool {
    let decides = |name: &str| name != "metadata" && !(kind.status && name == "status");
    let fields = |value: &Value| -> Vec<(String, Value)> {
        let all = value.as_object().into_iter().flatten();
        let mut kept: Vec<(String, Value)> = all
            .filter(|(name, _)| decides(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        kept.sort_by(|(one, _), (other, _)| one.cmp(other));
        kept
    };
    fields(current) != fields(next)
}
