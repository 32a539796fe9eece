//! The spec of an entry's Job: template or inline spec, and the patch over it, each fault with the path of its author.
//!
//! Comes in: an entry, and the spec that it starts from. Goes out: the spec to create, or everything that is wrong:
//! with paths from the root of the flow for what the entry says, from the root of the template for what that says.
//! Deliberately absent: what the flow adds, and metadata.

use serde_json::{Map, Value};

use crate::check::Shape;
use crate::fault::{Fault, FieldPath};
use crate::job::JobView;
use crate::patch::{self, Origin};
use crate::schema::Schemas;
use crate::types::{Entry, Patch};

/// The spec of a Job before it is read.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    /// The spec, patched.
    pub spec: Map<String, Value>,
    /// What the author of the patch should look at nonetheless.
    pub warnings: Vec<Fault>,
    /// What the patch was merged over, and the patch with its path.
    patched: Option<Patched<'a>>,
    /// Where the spec stands that everything else comes from.
    path: FieldPath,
}

#[derive(Clone, Debug)]
struct Patched<'a> {
    source: &'a Map<String, Value>,
    patch: &'a Patch,
    path: FieldPath,
}

impl<'a> Draft<'a> {
    /// Patches the spec that an entry starts from; the entry stands at `at`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the patch; warnings come along.
    pub fn of(
        schemas: &Schemas,
        entry: &'a Entry,
        source: &'a Map<String, Value>,
        at: &FieldPath,
    ) -> Result<Self, Vec<Fault>> {
        let path = match entry.job_spec {
            Some(_) => at.field("jobSpec"),
            None => FieldPath::root().field("spec"),
        };
        let Some(patch) = entry.patch.as_ref().filter(|patch| patch::changes_spec(patch)) else {
            return Ok(Self {
                spec: source.clone(),
                warnings: Vec::new(),
                patched: None,
                path,
            });
        };
        let patched = Patched {
            source,
            patch,
            path: at.field("patch"),
        };
        let mut faults = patch.job_spec.as_ref().map_or_else(Vec::new, |changes| {
            schemas.check_job_spec(changes, Shape::Patch, patched.path.field("jobSpec"))
        });
        match patch::apply(source, patch, &patched.path) {
            Ok(applied) if !faults.iter().any(Fault::is_error) => {
                faults.extend(applied.warnings);
                Ok(Self {
                    spec: applied.spec,
                    warnings: faults,
                    patched: Some(patched),
                    path,
                })
            }
            Ok(_) => Err(faults),
            Err(more) => {
                faults.extend(more);
                Err(faults)
            }
        }
    }

    /// Reads the spec, as Volcano's admission would.
    ///
    /// # Errors
    ///
    /// Everything for which Volcano would refuse it; warnings come along.
    pub fn read(&self, schemas: &Schemas) -> Result<(JobView, Vec<Fault>), Vec<Fault>> {
        let Some(patched) = &self.patched else {
            return JobView::read(schemas, &self.spec, &self.path);
        };
        let place = |faults| self.place(schemas, patched, faults);
        JobView::read(schemas, &self.spec, &FieldPath::root())
            .map(|(view, warnings)| (view, place(warnings)))
            .map_err(place)
    }

    /// Faults with the paths of who wrote what is wrong: what was so before the patch isn't the patch's.
    fn place(&self, schemas: &Schemas, patched: &Patched<'_>, faults: Vec<Fault>) -> Vec<Fault> {
        if faults.is_empty() {
            return faults;
        }
        let own = match JobView::read(schemas, patched.source, &FieldPath::root()) {
            Ok((_, warnings)) => warnings,
            Err(own) => own,
        };
        let spec = Value::Object(self.spec.clone());
        let origin = Origin {
            spec: &spec,
            patch: patched.patch,
        };
        faults
            .into_iter()
            .map(|fault| {
                let before = own
                    .iter()
                    .find(|own| own.code == fault.code && own.message == fault.message);
                let path = match before {
                    Some(before) => self.path.join(&before.path),
                    None => match origin.of(&fault.path) {
                        Some(inner) => patched.path.join(&inner),
                        None => patched.path.clone(),
                    },
                };
                Fault { path, ..fault }
            })
            .collect()
    }
}
