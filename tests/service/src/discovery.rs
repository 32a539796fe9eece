//! What the server says of itself: its version, its groups and their kinds.

use serde_json::{Value, json};

use super::call::{Call, Verb};
use super::kind::{KINDS, Kind};
use super::refusal::Refusal;
use super::state::State;

/// Answers what is asked of no object.
///
/// # Errors
///
/// If the path means nothing.
pub(super) fn discover(state: &State, call: &Call) -> Result<Value, Refusal> {
    let steps: Vec<&str> = call.path.split('/').filter(|step| !step.is_empty()).collect();
    match steps.as_slice() {
        _ if call.verb != Verb::Other => Err(Refusal::no_such_path()),
        ["version"] => Ok(json!({ "major": "1", "minor": "36", "gitVersion": "v1.36.1" })),
        ["readyz" | "livez" | "healthz"] => Ok("ok".into()),
        ["api"] => Ok(json!({ "kind": "APIVersions", "versions": ["v1"] })),
        ["apis"] => Ok(groups(state)),
        ["api", version] => resources(state, "", version),
        ["apis", group, version] => resources(state, group, version),
        _ => Err(Refusal::no_such_path()),
    }
}

fn served(state: &State) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| !state.gone.contains(kind))
}

fn groups(state: &State) -> Value {
    let mut names: Vec<(&str, &str)> = served(state).map(|kind| (kind.group, kind.version)).collect();
    names.sort_unstable();
    names.dedup();
    let group = |(group, version): &(&str, &str)| {
        let version = json!({ "groupVersion": format!("{group}/{version}"), "version": version });
        json!({ "name": group, "versions": [version], "preferredVersion": version })
    };
    let named = names.iter().filter(|(name, _)| !name.is_empty());
    let groups: Vec<Value> = named.map(group).collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

fn resources(state: &State, group: &str, version: &str) -> Result<Value, Refusal> {
    let mut list = Vec::new();
    let mut api_version = None;
    for kind in served(state).filter(|kind| kind.group == group && kind.version == version) {
        api_version = Some(kind.api_version());
        let resource = |name: String, verbs: &[&str]| {
            json!({
                "name": name, "singularName": kind.kind.to_lowercase(), "namespaced": kind.namespaced,
                "kind": kind.kind, "verbs": verbs,
            })
        };
        let verbs = ["delete", "get", "list", "patch", "create", "update", "watch"];
        list.push(resource(kind.plural.to_owned(), &verbs));
        if kind.status {
            list.push(resource(
                format!("{}/status", kind.plural),
                &["get", "patch", "update"],
            ));
        }
    }
    let api_version = api_version.ok_or_else(Refusal::no_such_path)?;
    Ok(json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": list,
    }))
}
