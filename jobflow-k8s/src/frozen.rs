//! Templates that are frozen for one flow, so that later edits of them don't change it.
//!
//! Comes in: a flow, and a template as it is when the flow first sees it. Goes out: a JobTemplate to create beside it,
//! named with the hash of what it holds, owned by the flow; and back from that the template as it was, once the hash
//! agrees. Deliberately absent: when a template is frozen, and sending anything.

mod content;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::fault::{Code, Fault, FieldPath};
use crate::names::{self, label_value};
use crate::render::owner;
use crate::types::{FLOW_GROUP, JobFlow, JobTemplate};
use content::Content;

/// The most bytes of JSON that a flow may freeze.
pub const MOST_BYTES: usize = 4 << 20;

/// The longest name of an object.
const MOST_NAME: usize = 253;

/// Makes the frozen form of a template. Freezing the same content for the same flow again gives the same object.
///
/// # Errors
///
/// If the flow isn't stored yet, so that it can own nothing.
pub fn freeze(flow: &JobFlow, template: &JobTemplate) -> Result<JobTemplate, Fault> {
    let (Some(name), Some(uid)) = (&flow.metadata.name, &flow.metadata.uid) else {
        let message = "only a flow that is stored can freeze its templates";
        let path = FieldPath::root().field("metadata").field("uid");
        return Err(Fault::error(Code::MissingField, path, message));
    };
    let content = Content::of_template(template);
    let metadata = &template.metadata;
    let source = metadata.name.clone().unwrap_or_default();
    let mut labels = content.labels.clone();
    labels.insert(names::FROZEN.to_owned(), label_value(&source));
    labels.insert(names::CREATED_BY_FLOW.to_owned(), label_of(&flow.metadata));
    let mut annotations = content.annotations.clone();
    annotations.insert(names::FROZEN.to_owned(), source);
    annotations.insert(
        names::ANNOTATION_TEMPLATE.to_owned(),
        format!(
            "{}/{}",
            metadata.uid.as_deref().unwrap_or_default(),
            metadata.generation.unwrap_or(0)
        ),
    );
    let mut frozen = JobTemplate::new(&frozen_name(name, &content.hash(uid)), template.spec.clone());
    frozen.metadata.namespace = flow.metadata.namespace.clone();
    frozen.metadata.owner_references = Some(vec![owner(name, uid)]);
    frozen.metadata.labels = Some(labels);
    frozen.metadata.annotations = Some(annotations);
    Ok(frozen)
}

/// The UID of the flow that a template was frozen for: by its owner, never by its name or label alone.
#[must_use]
pub fn flow_of(template: &ObjectMeta) -> Option<&str> {
    let is_labelled = |labels: &BTreeMap<String, String>| labels.contains_key(names::FROZEN);
    let mut owners = template.owner_references.iter().flatten();
    let is_ours = |group: &str| group.split('/').next() == Some(FLOW_GROUP);
    let owner = owners.find(|owner| {
        owner.controller == Some(true) && owner.kind == "JobFlow" && is_ours(&owner.api_version)
    });
    owner
        .filter(|_| template.labels.as_ref().is_some_and(is_labelled))
        .map(|owner| owner.uid.as_str())
}

/// The name of the template that one was frozen from.
#[must_use]
pub fn source_of(template: &ObjectMeta) -> Option<&str> {
    template
        .annotations
        .as_ref()?
        .get(names::FROZEN)
        .map(String::as_str)
}

/// Selects the frozen templates of a flow, among those that bear its label.
#[must_use]
pub fn selector(flow: &ObjectMeta) -> String {
    format!("{},{}={}", names::FROZEN, names::CREATED_BY_FLOW, label_of(flow))
}

/// The template as it was when it was frozen for the flow with this UID: with its own name, labels, annotations, UID and
/// generation.
///
/// # Errors
///
/// If it isn't one of the flow's, or if somebody changed it: its hash doesn't agree any more.
pub fn thaw(uid: &str, frozen: &JobTemplate) -> Result<JobTemplate, Fault> {
    let name = frozen.metadata.name.as_deref().unwrap_or_default();
    if flow_of(&frozen.metadata) != Some(uid) {
        let message = format!("the JobTemplate `{name}` wasn't frozen for this flow");
        return Err(Fault::error(
            Code::Conflict,
            FieldPath::root().field("metadata"),
            message,
        ));
    }
    let content = Content::of_frozen(frozen);
    let written = name.rsplit_once('-').map_or(name, |(_, hash)| hash);
    if content.hash(uid) != written {
        let message = format!("the frozen JobTemplate `{name}` was changed: its hash doesn't agree any more");
        let help = format!(
            "delete it, and let the flow begin anew; `{}` may have changed since it was frozen",
            content.name
        );
        return Err(Fault::error(Code::Conflict, FieldPath::root().field("spec"), message).with_help(help));
    }
    let (source_uid, generation) = version(frozen.metadata.annotations.as_ref());
    let mut template = JobTemplate::new(&content.name, frozen.spec.clone());
    template.metadata.namespace = frozen.metadata.namespace.clone();
    template.metadata.labels = Some(content.labels);
    template.metadata.annotations = Some(content.annotations);
    template.metadata.uid = source_uid;
    template.metadata.generation = generation;
    Ok(template)
}

/// What all frozen templates of a flow take with one more, in bytes of JSON.
///
/// # Errors
///
/// If that is more than [`MOST_BYTES`], with the numbers.
pub fn fits(used: usize, more: &JobTemplate) -> Result<usize, Fault> {
    let size = size(more);
    let all = used.saturating_add(size);
    if all <= MOST_BYTES {
        return Ok(all);
    }
    let path = FieldPath::root().field("spec").field("templateBinding");
    let message = format!(
        "the templates of this flow are too large to be frozen: {used} bytes are, one of {size} bytes is to be, and at \
         most {MOST_BYTES} may be"
    );
    let help = "use fewer or smaller templates, or `templateBinding: Live`";
    Err(Fault::error(Code::TooLarge, path, message).with_help(help))
}

/// How many bytes of JSON a template takes.
#[must_use]
pub fn size(template: &JobTemplate) -> usize {
    serde_json::to_vec(template).map_or(0, |bytes| bytes.len())
}

fn label_of(flow: &ObjectMeta) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    label_value(&format!("{}.{}", text(&flow.namespace), text(&flow.name)))
}

/// The flow's name, shortened if need be, and the hash.
fn frozen_name(flow: &str, hash: &str) -> String {
    let room = MOST_NAME - hash.len() - 1;
    let start: String = flow.chars().take(room).collect();
    let start = start.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    format!("{start}-{hash}")
}

fn version(annotations: Option<&BTreeMap<String, String>>) -> (Option<String>, Option<i64>) {
    let text = annotations.and_then(|annotations| annotations.get(names::ANNOTATION_TEMPLATE));
    let parts = text.and_then(|text| text.rsplit_once('/'));
    let (uid, generation) = parts.unwrap_or_default();
    ((!uid.is_empty()).then(|| uid.to_owned()), generation.parse().ok())
}
