//! Who wrote what of a patched spec: the patch, or what it was merged over.
//!
//! Comes in: the path of a fault in the patched spec. Goes out: the path of what is to blame in the patch, if that is
//! the patch. A removal is to blame for what is missing; a field of the patch for what is wrong there, or beside it in
//! the innermost map that the patch touches.

use serde_json::Value;

use super::grammar::{Removal, Step};
use super::key::text;
use super::table::{self, Kind, Lists};
use crate::fault::{FieldPath, Segment};
use crate::types::Patch;

/// A patched spec and its patch.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The patched spec, with its tasks named.
    pub spec: &'a Value,
    /// The patch.
    pub patch: &'a Patch,
}

impl Origin<'_> {
    /// The path in the patch of what is to blame for a fault at `path` of the spec; from the root of each.
    #[must_use]
    pub fn of(&self, path: &FieldPath) -> Option<FieldPath> {
        self.removal(path).or_else(|| self.change(path))
    }

    /// The path in the patch of what stands at `path` of the spec, if the patch wrote it.
    #[must_use]
    pub fn written(&self, path: &FieldPath) -> Option<FieldPath> {
        let found = self.change(path)?;
        let same_depth = found.segments().len() == path.segments().len() + 1;
        let changes = serde_json::to_value(self.patch).ok()?;
        let value = found
            .segments()
            .iter()
            .try_fold(&changes, |value, segment| match segment {
                Segment::Field(name) => value.get(name),
                Segment::Index(index) => value.get(index),
            });
        (same_depth && value.is_some()).then_some(found)
    }

    /// A removal of what is missing, or of something inside of it, or around it.
    fn removal(&self, path: &FieldPath) -> Option<FieldPath> {
        let names = self.names(path);
        if names.is_empty() {
            return None;
        }
        let is_meant = |text: &String| {
            let Ok(removal) = text.parse::<Removal>() else {
                return false;
            };
            let steps = removal.steps.iter().map(|step| match step {
                Step::Field(name) | Step::Named(name) => name.as_str(),
            });
            steps.zip(&names).all(|(step, name)| step == name)
        };
        let at = self.patch.remove.iter().flatten().position(is_meant)?;
        Some(FieldPath::root().field("remove").index(at))
    }

    /// The steps of a path, elements by their names.
    fn names(&self, path: &FieldPath) -> Vec<String> {
        let mut names = Vec::new();
        let (mut value, mut kind, mut lists) = (Some(self.spec), Kind::JobSpec, Lists::Atomic);
        for segment in path.segments() {
            match segment {
                Segment::Field(name) => {
                    let field = table::field(kind, name);
                    (kind, lists) = (field.inner, field.lists);
                    value = value.and_then(|value| value.get(name));
                    names.push(name.clone());
                }
                Segment::Index(index) => {
                    value = value.and_then(|value| value.get(index));
                    let key = lists.key().and_then(|key| value?.get(key));
                    names.push(key.map_or_else(|| index.to_string(), text));
                }
            }
        }
        names
    }

    /// The innermost value of the patch on the way to `path`.
    fn change(&self, path: &FieldPath) -> Option<FieldPath> {
        let changes = self
            .patch
            .job_spec
            .as_ref()
            .filter(|changes| !changes.is_empty())?;
        let mut found = FieldPath::root().field("jobSpec");
        let segments = path.segments();
        let Some((Segment::Field(first), rest)) = segments.split_first() else {
            return Some(found);
        };
        let mut place = Place {
            written: changes.get(first),
            merged: self.spec.get(first),
            field: table::field(Kind::JobSpec, first),
        };
        found = found.field(first);
        if place.written.is_none() {
            return Some(found);
        }
        for segment in rest {
            let Some(step) = place.step(segment) else {
                // A field that isn't there is named; of a list the element that isn't there can't be.
                return Some(match segment {
                    Segment::Field(name) => found.field(name),
                    Segment::Index(_) => found,
                });
            };
            found.push(step);
        }
        Some(found)
    }
}

/// The same place in the patch and in the patched spec.
struct Place<'a> {
    written: Option<&'a Value>,
    merged: Option<&'a Value>,
    field: table::Field,
}

impl Place<'_> {
    /// Goes one step down in both; the step that it is in the patch.
    fn step(&mut self, segment: &Segment) -> Option<Segment> {
        match segment {
            Segment::Field(name) => {
                self.written = Some(self.written?.get(name)?);
                self.merged = self.merged.and_then(|merged| merged.get(name));
                self.field = table::field(self.field.inner, name);
                Some(segment.clone())
            }
            Segment::Index(index) => {
                self.merged = self.merged.and_then(|merged| merged.get(index));
                let at = match self.field.lists.key() {
                    None => *index,
                    Some(key) => {
                        let key_of = |value: &Value| value.get(key).map(text);
                        let wanted = key_of(self.merged?)?;
                        let elements = self.written?.as_array()?;
                        let named = |(at, element): (usize, &Value)| {
                            let name = key_of(element).or_else(|| Some(format!("default{at}")));
                            name.is_some_and(|name| name == wanted)
                        };
                        elements.iter().enumerate().position(named)?
                    }
                };
                self.written = Some(self.written?.get(at)?);
                Some(Segment::Index(at))
            }
        }
    }
}
