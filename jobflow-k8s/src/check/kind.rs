//! Whether an object is one of ours, looks like one, or is none of our business.

use serde_json::Value;

use crate::fault::{Code, Fault, FieldPath, closest};
use crate::schema::Kind;
use crate::types::FLOW_GROUP;

/// Whose an object is.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// One of the kinds that are checked.
    Ours(Kind),
    /// Probably meant to be one of ours.
    LookAlike(Box<Fault>),
    /// Of another kind.
    Foreign,
}

/// Says whose an object is.
#[must_use]
pub fn subject(object: &Value) -> Subject {
    let text = |field: &str| object.get(field).and_then(Value::as_str);
    let (kind, version) = (
        text("kind").unwrap_or_default(),
        text("apiVersion").unwrap_or_default(),
    );
    if let Some(kind) = Kind::ALL
        .into_iter()
        .find(|k| k.name() == kind && k.api_version() == version)
    {
        return Subject::Ours(kind);
    }
    match look_alike(object, kind, version) {
        Some(fault) => Subject::LookAlike(Box::new(fault)),
        None => Subject::Foreign,
    }
}

fn look_alike(object: &Value, kind: &str, version: &str) -> Option<Fault> {
    let root = FieldPath::root();
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    let flow_kinds = [Kind::JobFlow, Kind::JobTemplate, Kind::JobFlowTemplate];
    if let Some(ours) = flow_kinds.into_iter().find(|ours| ours.name() == kind) {
        let message = format!("a {kind} of `{version}` isn't one that is known here");
        let help = format!("write `apiVersion: {}`", ours.api_version());
        return Some(Fault::error(Code::UnknownKind, root.field("apiVersion"), message).with_help(help));
    }
    if group == FLOW_GROUP {
        let fault = Fault::error(
            Code::UnknownKind,
            root.field("kind"),
            format!("{FLOW_GROUP} has no kind `{kind}`"),
        );
        return Some(fault.with_suggestion(kind, flow_kinds.map(Kind::name)));
    }
    if group == "batch.volcano.sh" && version != Kind::Job.api_version() && kind == "Job" {
        let message = format!("a Job of `{version}` isn't one that is known here");
        let help = format!("write `apiVersion: {}`", Kind::Job.api_version());
        return Some(Fault::error(Code::UnknownKind, root.field("apiVersion"), message).with_help(help));
    }
    if !object.is_object() {
        return Some(Fault::error(
            Code::WrongType,
            root,
            "no object: a manifest is a mapping with `kind` and `apiVersion`",
        ));
    }
    let (field, value) = match (kind.is_empty(), version.is_empty()) {
        (true, true) if object.get("spec").is_none() && object.get("metadata").is_none() => return None,
        (true, _) => ("kind", "JobFlow"),
        (_, true) => ("apiVersion", "flow.volcano.sh/v1alpha1"),
        (false, false) => return None,
    };
    let near = kind.is_empty() || closest(kind, flow_kinds.map(Kind::name)).is_some();
    let fault = Fault::error(Code::MissingField, root, format!("the object has no `{field}`"));
    near.then(|| fault.with_help(format!("a flow has `{field}: {value}`")))
}
