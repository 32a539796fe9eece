//! GET of one object and LIST: from the store, from an API server's cache, or as it was at a version.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::call::Call;
use super::kind::Kind;
use super::refusal::Refusal;
use super::schema::Schemas;
use super::select::Selector;
use super::state::State;
use super::store::Key;

/// One object.
///
/// # Errors
///
/// If there is none, as far as the reader may know.
pub(super) fn get(state: &State, call: &Call, key: &Key) -> Result<Value, Refusal> {
    let missing = || Refusal::not_found(key.kind, &key.name);
    let version = at(state, call, key.kind)?;
    let found = match version {
        At::Latest => state.store.get(key).cloned(),
        At::Version(version) => state.store.at(key.kind, version).remove(key),
    };
    let found = found.ok_or_else(missing)?;
    Ok(shown(state.schemas, call, key.kind, &found))
}

/// Many objects.
///
/// # Errors
///
/// If the version asked for, or a page's, isn't kept, or doesn't exist yet.
pub(super) fn list(state: &State, call: &Call, kind: &'static Kind) -> Result<Value, Refusal> {
    let page = Page::read(call)?;
    let version = match &page.from {
        Some((version, _)) if *version < state.store.oldest() => return Err(page_expired()),
        Some((version, _)) => At::Version(*version),
        None => at(state, call, kind)?,
    };
    let (version, objects) = match version {
        At::Latest => (state.store.version(), latest(state, kind)),
        At::Version(version) => (version, state.store.at(kind, version)),
    };
    let selector = selector(call, kind);
    let selected: Vec<(Key, Arc<Value>)> = objects
        .into_iter()
        .filter(|(key, object)| selector.matches(key, object))
        .filter(|(key, _)| page.from.as_ref().is_none_or(|(_, after)| path(key) > *after))
        .collect();
    Ok(page.cut((state.schemas, call, kind), version, &selected))
}

/// Which objects a list or watch is about.
pub(super) fn selector(call: &Call, kind: &'static Kind) -> Selector {
    let namespace = (!call.namespace.is_empty()).then(|| call.namespace.clone());
    Selector::read(
        kind,
        namespace,
        call.parameter("labelSelector"),
        call.parameter("fieldSelector"),
    )
}

/// An object as the reader wants it.
pub(super) fn shown(schemas: Schemas, call: &Call, kind: &Kind, object: &Value) -> Value {
    if call.only_metadata {
        return json!({
            "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"],
        });
    }
    schemas.read(kind, object.clone())
}

fn latest(state: &State, kind: &'static Kind) -> BTreeMap<Key, Arc<Value>> {
    let all = state.store.of_kind(kind);
    all.map(|(key, object)| (key.clone(), Arc::clone(object)))
        .collect()
}

/// As of when something is read.
enum At {
    Latest,
    Version(u64),
}

fn at(state: &State, call: &Call, kind: &Kind) -> Result<At, Refusal> {
    let wanted = call.parameter("resourceVersion");
    let limited = !call.parameter("limit").is_empty() && wanted != "0";
    let exact = call.parameter("resourceVersionMatch") == "Exact";
    let (reached, _) = state.store.replicas[call.replica].reached(kind, Instant::now());
    let Some(version) = version(wanted)? else {
        return Ok(At::Latest);
    };
    if version > state.store.version() {
        return Err(Refusal::too_large_version(version, state.store.version()));
    }
    if version > 0 && (exact || limited) {
        if version < state.store.oldest() {
            let message = "The resourceVersion for the provided list is too old.";
            return Err(Refusal::expired(message));
        }
        return Ok(At::Version(version));
    }
    // A cache that hasn't come that far is waited for.
    Ok(At::Version(reached.max(version)))
}

/// The version that a text means; none for an empty one.
pub(super) fn version(text: &str) -> Result<Option<u64>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    let refused = |_| Refusal::bad_request(format!("resourceVersion: Invalid value: \"{text}\""));
    text.parse().map(Some).map_err(refused)
}

fn page_expired() -> Refusal {
    Refusal::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list \
         without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
         results. Continuing with the provided token results in an inconsistent list - objects that were created, \
         modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    )
}

/// The order of a list.
fn path(key: &Key) -> String {
    format!("{}/{}", key.namespace, key.name)
}

/// By which schemas, for whom, and of which kind.
type Shown<'a> = (Schemas, &'a Call, &'a Kind);

/// Which part of a list is asked for.
struct Page {
    limit: Option<usize>,
    from: Option<(u64, String)>,
}

impl Page {
    fn read(call: &Call) -> Result<Self, Refusal> {
        // A cache knows no pages.
        let cached = call.parameter("resourceVersion") == "0";
        let limit = call.parameter("limit").parse().ok();
        let token = call.parameter("continue");
        let from = token.split_once(':').map(|(version, after)| {
            let version = version.parse().ok();
            version.map(|version| (version, after.to_owned()))
        });
        if !token.is_empty() && from.as_ref().is_none_or(Option::is_none) {
            return Err(Refusal::bad_request(
                "invalid continue token: continue key is not valid",
            ));
        }
        Ok(Self {
            limit: limit.filter(|limit| *limit > 0 && !cached),
            from: from.flatten(),
        })
    }

    fn cut(&self, for_whom: Shown<'_>, version: u64, selected: &[(Key, Arc<Value>)]) -> Value {
        let (_, call, kind) = for_whom;
        let size = self.limit.unwrap_or(selected.len()).min(selected.len());
        let (page, rest) = selected.split_at(size);
        let mut metadata = json!({ "resourceVersion": version.to_string() });
        if let (Some((last, _)), false) = (page.last(), rest.is_empty()) {
            metadata["continue"] = format!("{version}:{}", path(last)).into();
            metadata["remainingItemCount"] = rest.len().into();
        } else if kind.custom {
            metadata["continue"] = "".into();
        }
        let items: Vec<Value> = page.iter().map(|(_, object)| item(for_whom, object)).collect();
        let (api_version, list) = if call.only_metadata {
            (
                "meta.k8s.io/v1".to_owned(),
                "PartialObjectMetadataList".to_owned(),
            )
        } else {
            (kind.api_version(), format!("{}List", kind.kind))
        };
        json!({ "apiVersion": api_version, "kind": list, "metadata": metadata, "items": items })
    }
}

/// An object in a list: built-in kinds don't say what they are there.
fn item((schemas, call, kind): Shown<'_>, object: &Value) -> Value {
    let mut item = shown(schemas, call, kind, object);
    if !kind.custom
        && !call.only_metadata
        && let Some(fields) = item.as_object_mut()
    {
        fields.shift_remove("apiVersion");
        fields.shift_remove("kind");
    }
    item
}
