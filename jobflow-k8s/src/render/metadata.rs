//! Name, owner, labels and annotations of a created Job.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde_json::Value;

use super::Attempt;
use crate::names::{self, label_value};
use crate::types::{Entry, FLOW_GROUP, JobFlow, JobTemplate, VERSION};

type Map = BTreeMap<String, String>;

/// The metadata of the Job of an attempt.
pub(super) fn of(
    flow: &JobFlow,
    entry: &Entry,
    attempt: Attempt,
    template: Option<&JobTemplate>,
    ttl: Option<&Value>,
) -> ObjectMeta {
    let name = flow.metadata.name.as_deref().unwrap_or_default();
    let template = template.filter(|_| entry.job_spec.is_none());
    let source = template.map(|template| &template.metadata);
    let patch = entry.patch.as_ref();
    let mut labels = copied(source.and_then(|source| source.labels.as_ref()));
    let mut annotations = copied(source.and_then(|source| source.annotations.as_ref()));
    labels.extend(patched(patch.and_then(|patch| patch.labels.as_ref())));
    annotations.extend(patched(patch.and_then(|patch| patch.annotations.as_ref())));
    for (key, value) in owners(flow, template) {
        labels.insert(key.to_owned(), label_value(&value));
        annotations.insert(key.to_owned(), value);
    }
    let index = attempt.instance.unwrap_or(0);
    labels.insert(names::LABEL_ENTRY.to_owned(), label_value(&entry.name));
    labels.insert(names::LABEL_INDEX.to_owned(), index.to_string());
    labels.insert(names::LABEL_ATTEMPT.to_owned(), attempt.number.to_string());
    annotations.insert(
        names::ANNOTATION_NODE.to_owned(),
        format!("{}/{index}/{}", entry.name, attempt.number),
    );
    if let Some(source) = source {
        annotations.insert(names::ANNOTATION_TEMPLATE.to_owned(), version(source));
    }
    if let Some(ttl) = ttl {
        annotations.insert(names::ANNOTATION_TTL.to_owned(), ttl.to_string());
    }
    ObjectMeta {
        name: Some(names::job_name(
            name,
            &entry.name,
            attempt.instance,
            attempt.number,
        )),
        namespace: flow.metadata.namespace.clone(),
        owner_references: flow.metadata.uid.as_deref().map(|uid| vec![owner(name, uid)]),
        labels: Some(labels),
        annotations: Some(annotations),
        ..ObjectMeta::default()
    }
}

/// The reference of a flow as the owner that makes what it owns go with it.
pub(crate) fn owner(name: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: format!("{FLOW_GROUP}/{VERSION}"),
        kind: "JobFlow".to_owned(),
        name: name.to_owned(),
        uid: uid.to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// What Volcano's own tools look for.
fn owners(flow: &JobFlow, template: Option<&JobTemplate>) -> Vec<(&'static str, String)> {
    let namespace = flow.metadata.namespace.as_deref().unwrap_or_default();
    let text =
        |metadata: &ObjectMeta| format!("{namespace}.{}", metadata.name.as_deref().unwrap_or_default());
    let template = template.map(|template| (names::CREATED_BY_TEMPLATE, text(&template.metadata)));
    std::iter::once((names::CREATED_BY_FLOW, text(&flow.metadata)))
        .chain(template)
        .collect()
}

fn version(source: &ObjectMeta) -> String {
    format!(
        "{}/{}",
        source.uid.as_deref().unwrap_or_default(),
        source.generation.unwrap_or(0)
    )
}

fn copied(map: Option<&Map>) -> Map {
    let entries = map.into_iter().flatten().filter(|(key, _)| names::is_copied(key));
    entries.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn patched(map: Option<&Map>) -> Map {
    let entries = map
        .into_iter()
        .flatten()
        .filter(|(key, _)| !names::is_reserved(key));
    entries.map(|(key, value)| (key.clone(), value.clone())).collect()
}
