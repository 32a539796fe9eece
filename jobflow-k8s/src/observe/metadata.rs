//! The metadata of a watched object, cut down to what is used.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// Takes away what nobody here reads: labels, managed fields, and every annotation but those that `is_kept` names.
///
/// Of the owners only the controller stays; identity is its UID.
pub(super) fn trimmed(metadata: ObjectMeta, is_kept: impl Fn(&str) -> bool) -> ObjectMeta {
    let ObjectMeta {
        annotations,
        creation_timestamp,
        deletion_grace_period_seconds: _,
        deletion_timestamp,
        finalizers: _,
        generate_name: _,
        generation,
        labels: _,
        managed_fields: _,
        name,
        namespace,
        owner_references,
        resource_version,
        self_link: _,
        uid,
    } = metadata;
    let annotations: BTreeMap<_, _> = annotations
        .into_iter()
        .flatten()
        .filter(|(key, _)| is_kept(key))
        .collect();
    let mut owners = owner_references.unwrap_or_default();
    owners.retain(|owner| owner.controller == Some(true));
    owners.shrink_to_fit();
    ObjectMeta {
        annotations: (!annotations.is_empty()).then_some(annotations),
        creation_timestamp,
        deletion_timestamp,
        generation,
        name,
        namespace,
        owner_references: (!owners.is_empty()).then_some(owners),
        resource_version,
        uid,
        ..ObjectMeta::default()
    }
}
