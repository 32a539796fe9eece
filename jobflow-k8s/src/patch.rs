//! A Job's spec, changed as an entry wants it: a strategic merge, then removals.
//!
//! Comes in: the spec as data, the patch, and where the patch stands. Goes out: the changed spec, or everything that is
//! wrong with the patch, each with its path in the patch. Deliberately absent: whether the result is a Job (see
//! [`crate::render`]), labels and annotations (likewise), and expressions.

mod directive;
mod grammar;
mod key;
mod lacking;
mod list;
mod merge;
mod origin;
mod remove;
mod table;
#[cfg(test)]
mod tests;
mod union;

use serde_json::{Map, Value};

use crate::fault::{Code, Fault, FieldPath};
use crate::types::Patch;
pub(crate) use directive::Directive;
pub use grammar::{PathFault, Removal, Step};
pub use origin::Origin;
pub use table::{Field, Kind, Lists, field};
pub use union::is_member;

/// A spec after a patch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patched {
    /// The spec.
    pub spec: Map<String, Value>,
    /// What the patch's author should look at nonetheless.
    pub warnings: Vec<Fault>,
}

/// Whether a patch changes the spec of the Job, and not only its labels and annotations.
#[must_use]
pub fn changes_spec(patch: &Patch) -> bool {
    patch.job_spec.as_ref().is_some_and(|spec| !spec.is_empty())
        || patch.remove.as_ref().is_some_and(|paths| !paths.is_empty())
}

/// Changes a Job's spec by a patch that stands at `path`.
///
/// ```
/// use jobflow_k8s::fault::FieldPath;
/// use jobflow_k8s::patch;
/// use serde_json::{Value, from_value, json};
///
/// let spec = json!({ "queue": "q", "tasks": [{ "name": "main", "replicas": 1, "policies": [] }] });
/// let Value::Object(spec) = spec else { unreachable!() };
/// let patch = json!({ "jobSpec": { "queue": null, "tasks": [{ "name": "main", "replicas": 3 }] } });
/// let patched = patch::apply(&spec, &from_value(patch).unwrap(), &FieldPath::root()).unwrap();
/// assert_eq!(
///     Value::Object(patched.spec),
///     json!({ "tasks": [{ "name": "main", "replicas": 3, "policies": [] }] })
/// );
/// ```
///
/// # Errors
///
/// Everything that is wrong with the patch; warnings come along.
pub fn apply(spec: &Map<String, Value>, patch: &Patch, path: &FieldPath) -> Result<Patched, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut spec = spec.clone();
    if touches_tasks(patch) {
        name_tasks(&mut spec);
    }
    if let Some(changes) = &patch.job_spec {
        let path = path.field("jobSpec");
        let mut changes = changes.0.clone();
        name_tasks(&mut changes);
        if patch.allow_new != Some(true) {
            faults.extend(lacking::faults(&spec, &changes, &path));
        }
        let mut merging = merge::Merging::at(path);
        merging.map(Kind::JobSpec, &mut spec, &changes);
        faults.extend(merging.faults);
    }
    for (at, text) in patch.remove.iter().flatten().enumerate() {
        let path = path.field("remove").index(at);
        match text.parse::<Removal>() {
            Err(fault) => faults.push(fault.at(path)),
            Ok(removal) => faults.extend(remove::apply(&removal, &mut spec, &path)),
        }
    }
    if faults.iter().any(Fault::is_error) {
        Err(faults)
    } else {
        Ok(Patched {
            spec,
            warnings: faults,
        })
    }
}

/// Merges a patch over an object of a kind, with nothing checked but the patch's own sense.
///
/// This is Kubernetes' strategic merge, but that setting one member of a union drops the others.
///
/// # Errors
///
/// Everything about the patch that makes no sense, with paths from the patch's root.
pub fn merge(
    kind: Kind,
    original: &Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<Fault>> {
    let mut merging = merge::Merging::at(FieldPath::root());
    let mut merged = original.clone();
    merging.map(kind, &mut merged, patch);
    if merging.faults.iter().any(Fault::is_error) {
        Err(merging.faults)
    } else {
        Ok(merged)
    }
}

/// What can be said of a patch without its template: paths that are none.
pub(crate) fn faults(patch: &Patch, path: &FieldPath) -> Vec<Fault> {
    let path = path.field("remove");
    let paths = patch.remove.iter().flatten().enumerate();
    paths
        .filter_map(|(at, text)| Some(text.parse::<Removal>().err()?.at(path.index(at))))
        .collect()
}

fn touches_tasks(patch: &Patch) -> bool {
    let merges = patch
        .job_spec
        .as_ref()
        .is_some_and(|spec| spec.contains_key("tasks"));
    merges
        || patch
            .remove
            .iter()
            .flatten()
            .any(|path| path.trim_start().starts_with("tasks"))
}

/// Gives tasks without a name the one that Volcano would give them, before they move.
fn name_tasks(spec: &mut Map<String, Value>) {
    let tasks = spec.get_mut("tasks").and_then(Value::as_array_mut);
    for (at, task) in tasks.into_iter().flatten().enumerate() {
        let Some(task) = task.as_object_mut() else {
            continue;
        };
        let has_name = task
            .get("name")
            .is_some_and(|name| !name.is_null() && name.as_str() != Some(""));
        if !has_name && !task.contains_key(directive::PATCH) {
            task.insert("name".to_owned(), format!("default{at}").into());
        }
    }
}

impl PathFault {
    /// The fault of a removal that stands at `path`.
    fn at(self, path: FieldPath) -> Fault {
        Fault::error(Code::BadPatch, path, self.to_string())
            .with_help("write it like `tasks[main].template.spec.containers[main].resources`")
    }
}
