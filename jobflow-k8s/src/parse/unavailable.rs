//! Fields that have a meaning but no effect yet: each is a fault, none is ignored.

use serde_json::Value;

use crate::fault::{Code, Fault, FieldPath};
use crate::types::{DependsOn, Entry, JobFlowSpec, Patch, Rule};

/// The fields of a spec that aren't available yet.
pub(super) fn faults(spec: &JobFlowSpec, root: &FieldPath) -> Vec<Fault> {
    let mut found = Found { faults: Vec::new() };
    for (is_there, field) in [
        (is_filled(spec.requests.as_ref()), "requests"),
        (spec.flow_template.is_some(), "flowTemplate"),
        (spec.tasks.is_some(), "tasks"),
        (is_filled(spec.parameters.as_ref()), "parameters"),
        (
            spec.arguments
                .as_ref()
                .is_some_and(|arguments| !arguments.is_empty()),
            "arguments",
        ),
    ] {
        found.note(is_there, root, field);
    }
    for (list, field) in [(&spec.flows, "flows"), (&spec.finally, "finally")] {
        for (at, entry) in list.iter().flatten().enumerate() {
            found.entry(entry, &root.field(field).index(at));
        }
    }
    found.faults
}

fn is_filled<T>(list: Option<&Vec<T>>) -> bool {
    list.is_some_and(|list| !list.is_empty())
}

struct Found {
    faults: Vec<Fault>,
}

impl Found {
    fn note(&mut self, is_there: bool, path: &FieldPath, field: &str) {
        if is_there {
            let message = format!("`{field}` is not available in this version yet");
            self.faults
                .push(Fault::error(Code::NotAvailable, path.field(field), message));
        }
    }

    fn entry(&mut self, entry: &Entry, path: &FieldPath) {
        for (is_there, field) in [
            (entry.flow.is_some(), "flow"),
            (entry.switch.is_some(), "switch"),
            (entry.when.is_some(), "when"),
            (entry.for_each.is_some(), "forEach"),
            (is_filled(entry.outputs.as_ref()), "outputs"),
            (entry.approval.is_some(), "approval"),
        ] {
            self.note(is_there, path, field);
        }
        if let Some(patch) = &entry.patch {
            self.patch(patch, &path.field("patch"));
        }
        if let Some(spec) = &entry.job_spec {
            self.expressions(&Value::Object(spec.0.clone()), &path.field("jobSpec"));
        }
        if let Some(depends_on) = &entry.depends_on {
            self.depends_on(depends_on, &path.field("dependsOn"));
        }
    }

    /// Expressions in a patch.
    fn patch(&mut self, patch: &Patch, path: &FieldPath) {
        let Patch {
            job_spec,
            remove: _,
            allow_new: _,
            labels,
            annotations,
        } = patch;
        if let Some(spec) = job_spec {
            self.expressions(&Value::Object(spec.0.clone()), &path.field("jobSpec"));
        }
        for (map, field) in [(labels, "labels"), (annotations, "annotations")] {
            for (key, value) in map.iter().flatten() {
                let path = path.field(field).field(key.as_str());
                self.expressions(&Value::from(value.as_str()), &path);
            }
        }
    }

    fn depends_on(&mut self, depends_on: &DependsOn, path: &FieldPath) {
        for (at, rule) in depends_on.rules.iter().flatten().enumerate() {
            let Rule {
                target: _,
                condition: _,
                task: _,
                at_least: _,
                instances,
                delay_seconds: _,
                pairwise,
            } = rule;
            let path = path.field("rules").index(at);
            self.note(instances.is_some(), &path, "instances");
            self.note(*pairwise == Some(true), &path, "pairwise");
        }
    }

    /// Expressions in a spec. Its depth is bounded by whoever read it.
    fn expressions(&mut self, value: &Value, path: &FieldPath) {
        match value {
            Value::String(text) if text.contains("${{") => {
                let message = "expressions are not available in this version yet";
                self.faults
                    .push(Fault::error(Code::NotAvailable, path.clone(), message));
            }
            Value::Array(elements) => {
                elements
                    .iter()
                    .enumerate()
                    .for_each(|(at, element)| self.expressions(element, &path.index(at)));
            }
            Value::Object(fields) => {
                fields
                    .iter()
                    .for_each(|(name, inner)| self.expressions(inner, &path.field(name.as_str())));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
