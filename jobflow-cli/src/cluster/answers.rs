//! What a server says against an object, as faults of the manifest that it was read from.

use jobflow_k8s::fault::{Code, Fault, FieldPath};
use jobflow_k8s::yaml::Document;
use kube::core::Status;
use kube::core::response::StatusCause;
use serde_json::Value;

use super::refusal::{is_unserved, said};

const OLD_DEFINITIONS: &str = "the definitions on this cluster are older than this program, or Volcano's own: see `kubectl jobflow doctor`";

/// All that a server says against an object, each with its place.
pub(crate) fn faults(document: &Document, status: &Status) -> Vec<Fault> {
    let causes = status
        .details
        .as_ref()
        .map(|details| details.causes.as_slice())
        .unwrap_or_default();
    let unknown = unknown_fields(&status.message);
    let found: Vec<Fault> = if !unknown.is_empty() {
        unknown
            .iter()
            .map(|field| unknown_field(field, document))
            .collect()
    } else if causes.is_empty() {
        vec![whole(status)]
    } else {
        causes.iter().map(|cause| of_cause(cause, document)).collect()
    };
    found.into_iter().map(|fault| placed(document, fault)).collect()
}

/// A fault with the place of its field, or of the nearest one around it that is there.
pub(crate) fn placed(document: &Document, fault: Fault) -> Fault {
    let mut path = fault.path.clone();
    loop {
        if let Some(place) = document.place(&path) {
            return Fault {
                place: Some(place),
                ..fault
            };
        }
        if path.pop().is_none() {
            return fault;
        }
    }
}

fn whole(status: &Status) -> Fault {
    let fault = Fault::error(Code::Refused, FieldPath::root(), said(status));
    match status.code {
        404 if is_unserved(status) => Fault::error(
            Code::Refused,
            FieldPath::root().field("kind"),
            "the server does not know this kind",
        )
        .with_help("install the definitions with: kubectl jobflow crd --install"),
        403 => fault.with_help("ask for that right, or name another namespace with -n"),
        _ => fault,
    }
}

fn of_cause(cause: &StatusCause, document: &Document) -> Fault {
    let fault = Fault::error(Code::Refused, path(&cause.field, document), cause.message.clone());
    match cause.reason.as_str() {
        "FieldManagerConflict" => fault.with_help("take the field over with --force-conflicts"),
        _ => fault,
    }
}

fn unknown_field(field: &str, document: &Document) -> Fault {
    let message = format!(
        "the server does not know the field `{}`",
        field.trim_start_matches('.')
    );
    Fault::error(Code::Refused, path(field, document), message).with_help(OLD_DEFINITIONS)
}

/// Fields that a server would drop, as its two ways of checking name them.
fn unknown_fields(message: &str) -> Vec<String> {
    let strict = message
        .split("unknown field \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    let typed = message
        .match_indices(": field not declared in schema")
        .filter_map(|(at, _)| {
            let before = message.get(..at)?;
            // A selector such as `[name="a b"]` may hold blanks.
            let start = before.rfind(" .").map_or(0, |blank| blank.saturating_add(1));
            before.get(start..).filter(|path| path.starts_with('.'))
        });
    strict.chain(typed).map(str::to_owned).collect()
}

/// The path of a field as servers write it: with a dot before it, and `[name="x"]` for elements of a list.
fn path(written: &str, document: &Document) -> FieldPath {
    let written = written.trim_start_matches('.');
    if let Ok(path) = written.parse() {
        return path;
    }
    let mut path = FieldPath::root();
    let mut value = Some(&document.value);
    for part in parts(written) {
        let (next, inner) = step(&path, value, part);
        let Some(next) = next else { return path };
        (path, value) = (next, inner);
    }
    path
}

/// Names, and selectors with their brackets.
fn parts(written: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = written;
    while !rest.is_empty() {
        rest = rest.trim_start_matches('.');
        let end = match rest.starts_with('[') {
            true => rest.find(']').map(|end| end + 1),
            false => rest.find(['.', '[']),
        };
        let (part, after) = rest
            .split_at_checked(end.unwrap_or(rest.len()))
            .unwrap_or((rest, ""));
        parts.push(part);
        rest = after;
    }
    parts
}

fn step<'a>(
    path: &FieldPath,
    value: Option<&'a Value>,
    part: &str,
) -> (Option<FieldPath>, Option<&'a Value>) {
    let Some(selector) = part.strip_prefix('[').and_then(|part| part.strip_suffix(']')) else {
        return (Some(path.field(part)), value.and_then(|value| value.get(part)));
    };
    let list = value.and_then(Value::as_array);
    let at = match selector.split_once('=') {
        Some((key, wanted)) => list.and_then(|list| {
            let wanted = wanted.trim_matches('"');
            list.iter()
                .position(|element| element.get(key).and_then(Value::as_str) == Some(wanted))
        }),
        None => selector.parse().ok(),
    };
    match at {
        Some(at) => (Some(path.index(at)), list.and_then(|list| list.get(at))),
        None => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use jobflow_k8s::yaml;
    use kube::core::response::StatusDetails;

    use super::*;

    const TEXT: &str = "\
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: f}
spec:
  flows:
  - name: a
  - name: b
    flavour: sweet
";

    fn told(message: &str, causes: &[(&str, &str)]) -> Vec<(String, Option<u32>)> {
        let cause = |(field, reason): &(&str, &str)| StatusCause {
            field: (*field).to_owned(),
            reason: (*reason).to_owned(),
            message: "no".to_owned(),
        };
        let status = Status {
            code: 422,
            details: Some(StatusDetails {
                name: "f".to_owned(),
                group: String::new(),
                kind: String::new(),
                uid: String::new(),
                causes: causes.iter().map(cause).collect(),
                retry_after_seconds: 0,
            }),
            ..Status::failure(message, "")
        };
        let documents = yaml::read("a.yaml", TEXT).documents;
        let found = faults(&documents[0], &status);
        found
            .iter()
            .map(|fault| {
                (
                    fault.path.to_string(),
                    fault.place.as_ref().map(|place| place.position.line),
                )
            })
            .collect()
    }

    #[test]
    fn a_field_that_is_named_has_its_line() {
        let lines = |path: &str, line| (path.to_owned(), Some(line));
        assert_eq!(
            told(
                "",
                &[
                    ("spec.flows[1].name", ""),
                    (".spec.flows", "FieldManagerConflict")
                ]
            ),
            [lines("spec.flows[1].name", 7), lines("spec.flows", 5)]
        );
        assert_eq!(
            told(
                "bad: .spec.flows[name=\"b\"].flavour: field not declared in schema",
                &[]
            ),
            [lines("spec.flows[1].flavour", 8)]
        );
        assert_eq!(
            told(
                "strict decoding error: unknown field \"spec.flows[1].flavour\", unknown field \"spec.x\"",
                &[]
            ),
            [lines("spec.flows[1].flavour", 8), lines("spec.x", 4)]
        );
        assert_eq!(told("it is not so", &[]), [lines("", 1)]);
    }
}
