//! Fields of which at most one may be set: setting one takes the others away.
//!
//! This is where a patch differs from Kubernetes' own strategic merge, which leaves the old member beside the new one,
//! so that the API server refuses the result.

use serde_json::{Map, Value};

use super::directive::PATCH;
use super::table::Kind;

/// Whether a field is a member of the union that an object of this kind is.
#[must_use]
pub fn is_member(kind: Kind, field: &str) -> bool {
    match kind {
        Kind::Volume => field != "name",
        Kind::Env => ["value", "valueFrom"].contains(&field),
        Kind::EnvSource => [
            "fieldRef",
            "resourceFieldRef",
            "configMapKeyRef",
            "secretKeyRef",
            "fileKeyRef",
        ]
        .contains(&field),
        Kind::Probe => ["exec", "httpGet", "tcpSocket", "grpc"].contains(&field),
        Kind::Handler => ["exec", "httpGet", "tcpSocket", "sleep"].contains(&field),
        Kind::ResourceClaim => ["resourceClaimName", "resourceClaimTemplateName"].contains(&field),
        Kind::JobSpec
        | Kind::Task
        | Kind::PodTemplate
        | Kind::Metadata
        | Kind::PodSpec
        | Kind::Container
        | Kind::EphemeralVolume
        | Kind::ClaimTemplate
        | Kind::Lifecycle
        | Kind::Other => false,
    }
}

/// The members that a patch sets.
pub(super) fn set_by(kind: Kind, patch: &Map<String, Value>) -> Vec<&str> {
    let sets = |value: &Value| !value.is_null() && value.get(PATCH).is_none_or(|what| what != "delete");
    patch
        .iter()
        .filter(|(name, value)| !name.starts_with('$') && is_member(kind, name) && sets(value))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Takes away the members that a patch doesn't set, if it sets any.
pub(super) fn drop_others(kind: Kind, original: &mut Map<String, Value>, set: &[&str]) {
    if !set.is_empty() {
        original.retain(|name, _| !is_member(kind, name) || set.contains(&name.as_str()));
    }
}
