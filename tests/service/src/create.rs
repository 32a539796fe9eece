//! POST. The order in which a create is refused is the server's: the namespace, the schema, the quota, and only then
//! whether the name is taken.

use serde_json::Value;

use super::kind::Kind;
use super::object;
use super::refusal::Refusal;
use super::state::State;
use super::store::Key;

/// Creates an object in a namespace (empty for kinds of the whole cluster); what is answered.
///
/// # Errors
///
/// What the server would refuse it with.
pub(super) fn create(
    state: &mut State,
    kind: &'static Kind,
    namespace: &str,
    mut body: Value,
) -> Result<Value, Refusal> {
    check_head(kind, namespace, &body)?;
    let name = named(state, kind, &mut body)?;
    check_namespace(state, kind, namespace, &name)?;
    fill_in(state, kind, namespace, &mut body);
    let mut causes = state.schemas.admit(kind, &mut body);
    causes.extend(bad_name(&name));
    if !causes.is_empty() {
        return Err(Refusal::invalid(kind, &name, &causes));
    }
    check_quota(state, kind, namespace, &name)?;
    let key = Key {
        kind,
        namespace: namespace.to_owned(),
        name,
    };
    if state.store.get(&key).is_some() {
        return Err(Refusal::already_exists(kind, &key.name));
    }
    state.check_size(&body)?;
    Ok(Value::clone(&state.store.put(key, body)))
}

/// Whether the body is an object of that kind for that namespace.
pub(super) fn check_head(kind: &Kind, namespace: &str, body: &Value) -> Result<(), Refusal> {
    let version = kind.api_version();
    let said = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
    if !body.is_object() {
        return Err(Refusal::bad_request("the object provided is not an object"));
    }
    if said("apiVersion") != version && !said("apiVersion").is_empty() {
        let said = said("apiVersion");
        let message = format!(
            "the API version in the data ({said}) does not match the expected API version ({version})"
        );
        return Err(Refusal::bad_request(message));
    }
    if said("kind") != kind.kind && !said("kind").is_empty() {
        let (said, kind) = (said("kind"), kind.kind);
        let message = format!("{said} in version \"{version}\" cannot be handled as a {kind}");
        return Err(Refusal::bad_request(message));
    }
    let theirs = object::meta(body, "namespace");
    if !theirs.is_empty() && theirs != namespace {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Refusal::bad_request(message));
    }
    Ok(())
}

/// The name of the object, made from `generateName` if need be.
fn named(state: &mut State, kind: &Kind, body: &mut Value) -> Result<String, Refusal> {
    let (name, prefix) = (
        object::name(body).to_owned(),
        object::meta(body, "generateName").to_owned(),
    );
    if !name.is_empty() {
        return Ok(name);
    }
    if prefix.is_empty() {
        let required = "Required value: name or generateName is required".to_owned();
        let cause = ("FieldValueRequired", "metadata.name".to_owned(), required);
        return Err(Refusal::invalid(kind, "", &[cause]));
    }
    let name = format!("{prefix}{}", suffix(state.store.version() + 1));
    object::set(body, "name", Some(name.as_str().into()));
    Ok(name)
}

/// What is wrong with a name that is no DNS subdomain.
fn bad_name(name: &str) -> Option<(&'static str, String, String)> {
    let letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let label = |label: &str| {
        label.starts_with(letter)
            && label.ends_with(letter)
            && label.chars().all(|each| letter(each) || each == '-')
    };
    if name.split('.').all(label) {
        return None;
    }
    let message = format!(
        "Invalid value: \"{name}\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
         '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
         validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    );
    Some(("FieldValueInvalid", "metadata.name".to_owned(), message))
}

/// Five letters of the server's alphabet, other ones for another number.
fn suffix(mut number: u64) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut letters = String::new();
    for _ in 0..5 {
        let place = usize::try_from(number % LETTERS.len() as u64).unwrap_or(0);
        letters.insert(0, char::from(LETTERS[place]));
        number /= LETTERS.len() as u64;
    }
    letters
}

fn check_namespace(state: &State, kind: &Kind, namespace: &str, name: &str) -> Result<(), Refusal> {
    if !kind.namespaced {
        return Ok(());
    }
    let Some(found) = state.store.get(&Key::within("namespaces", "", namespace)) else {
        return Err(Refusal::no_namespace(namespace));
    };
    if found["status"]["phase"] == "Terminating" {
        return Err(Refusal::terminating(kind, name, namespace));
    }
    Ok(())
}

fn check_quota(state: &State, kind: &'static Kind, namespace: &str, name: &str) -> Result<(), Refusal> {
    let Some(most) = state.quotas.get(&(namespace.to_owned(), kind)) else {
        return Ok(());
    };
    let all = state.store.of_kind(kind);
    let used = all.filter(|(key, _)| key.namespace == namespace).count();
    if used >= *most {
        return Err(Refusal::quota(kind, name, used, *most));
    }
    Ok(())
}

/// What the server writes into a new object itself.
fn fill_in(state: &mut State, kind: &Kind, namespace: &str, body: &mut Value) {
    body["apiVersion"] = kind.api_version().into();
    body["kind"] = kind.kind.into();
    if kind.namespaced {
        object::set(body, "namespace", Some(namespace.into()));
    }
    object::set(body, "uid", Some(state.store.next_uid().into()));
    object::set(body, "creationTimestamp", Some(state.clock.stamp().into()));
    for field in [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "generation",
    ] {
        object::set(body, field, None);
    }
    if kind.counts_generations() {
        object::set(body, "generation", Some(1.into()));
    }
    if kind.status
        && let Some(fields) = body.as_object_mut()
    {
        fields.shift_remove("status");
    }
}
