//! Objects against the schemas: unknown fields, wrong types, bad values, all at once.
//!
//! Comes in: a value, or a document of [`crate::yaml`]. Goes out: faults with paths, places and suggestions.
//! Deliberately absent: rules that look at more than one field.

mod kind;
mod quantity;
mod walk;
mod words;

use serde_json::{Map, Value};

use crate::fault::{Fault, FieldPath};
use crate::job::JobView;
use crate::schema::{Kind, Schemas};
use crate::yaml::Document;
pub use kind::{Subject, subject};
use walk::Walk;

/// How a Job's spec is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Whole, as the API server takes it.
    Whole,
    /// Whole, in a flow: `${{ … }}` may stand in the place of any value.
    Inline,
    /// A part that is merged over a template: null, `$patch` and `${{ … }}` may stand anywhere.
    Patch,
}

impl Schemas {
    /// Checks an object that was read from a text; none of our kinds: nothing to say.
    #[must_use]
    pub fn check_document(&self, document: &Document) -> Vec<Fault> {
        let faults = match subject(&document.value) {
            Subject::Ours(kind) => {
                let mut faults = document.unrendered();
                faults.extend(self.check_object(kind, &document.value));
                if !faults.iter().any(Fault::is_error) {
                    faults.extend(rules_of_jobs(kind, &document.value));
                }
                faults
            }
            Subject::LookAlike(fault) => vec![*fault],
            Subject::Foreign => return Vec::new(),
        };
        faults
            .into_iter()
            .map(|fault| document.with_place(fault))
            .collect()
    }

    /// Checks an object of a kind, from its root.
    #[must_use]
    pub fn check_object(&self, kind: Kind, object: &Value) -> Vec<Fault> {
        let mut walk = Walk::new(self, Shape::Whole, FieldPath::root());
        walk.object(kind, object);
        walk.finish()
    }

    /// Checks the spec of a Job that stands at `path`.
    #[must_use]
    pub fn check_job_spec(&self, spec: &Map<String, Value>, shape: Shape, path: FieldPath) -> Vec<Fault> {
        let mut walk = Walk::new(self, shape, path);
        walk.fields(self.job_spec(), spec);
        walk.finish()
    }
}

/// What Volcano's admission would say to a template or a Job.
fn rules_of_jobs(kind: Kind, object: &Value) -> Vec<Fault> {
    let spec = object.get("spec").and_then(Value::as_object);
    let path = FieldPath::root().field("spec");
    match (kind, spec) {
        (Kind::JobTemplate | Kind::Job, Some(spec)) => match JobView::read_checked(spec, &path) {
            Ok((_, faults)) | Err(faults) => faults,
        },
        (Kind::JobTemplate | Kind::Job | Kind::JobFlow | Kind::JobFlowTemplate, _) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
