//! The Job of an attempt, ready to be created.
//!
//! Comes in: the flow, one of its entries, which attempt, and the template if it has one. Goes out: the Job, or why it
//! can't be made. Deliberately absent: the queue's existence, and sending anything.

mod metadata;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::fault::{Code, Fault, FieldPath};
use crate::job::JobView;
use crate::parse::digest;
use crate::schema::Schemas;
use crate::types::job::VolcanoJobSpec;
use crate::types::{Entry, Job, JobFlow, JobTemplate};

/// Which job of an entry is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The instance of a group; none without `forEach`.
    pub instance: Option<u32>,
    /// The attempt, from 1.
    pub number: u32,
}

impl Attempt {
    /// The first attempt of an entry that is no group.
    pub const FIRST: Self = Self {
        instance: None,
        number: 1,
    };
}

/// A Job that can be created.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The object.
    pub job: Job,
    /// The object's spec as it will be read.
    pub view: JobView,
    /// A digest of the object: equal for equal objects.
    pub digest: u64,
    /// What its author should look at nonetheless.
    pub warnings: Vec<Fault>,
}

/// Makes the Job of an attempt.
///
/// # Errors
///
/// Everything for which Volcano would refuse it, with paths from the root of the template, or of the flow for what
/// the entry says itself.
pub fn render(
    schemas: &Schemas,
    flow: &JobFlow,
    entry: &Entry,
    attempt: Attempt,
    template: Option<&JobTemplate>,
) -> Result<Rendered, Vec<Fault>> {
    let mut spec = source(entry, template)?;
    let ttl = spec
        .shift_remove("ttlSecondsAfterFinished")
        .filter(|ttl| !ttl.is_null());
    defaults_of_flow(flow, &mut spec);
    let path = FieldPath::root().field("spec");
    let (view, warnings) = JobView::read(schemas, &spec, &path)?;
    let mut job = Job::new("", VolcanoJobSpec(spec));
    job.metadata = metadata::of(flow, entry, attempt, template, ttl.as_ref());
    let digest = serde_json::to_value(&job).map_or(0, |value| digest(&value));
    Ok(Rendered {
        job,
        view,
        digest,
        warnings,
    })
}

/// The spec that an entry starts from.
fn source(entry: &Entry, template: Option<&JobTemplate>) -> Result<Map<String, Value>, Vec<Fault>> {
    match (&entry.job_spec, template) {
        (Some(spec), _) => Ok(spec.0.clone()),
        (None, Some(template)) => Ok(template.spec.0.clone()),
        (None, None) => {
            let name = entry.template.as_deref().unwrap_or(&entry.name);
            let message = format!("there is no JobTemplate `{name}`");
            Err(vec![Fault::error(
                Code::UnknownReference,
                FieldPath::root(),
                message,
            )])
        }
    }
}

/// Queue and priority class of the flow, where the Job has none. A template's queue `default` counts as none, since
/// Volcano's definition writes it into every template.
fn defaults_of_flow(flow: &JobFlow, spec: &mut Map<String, Value>) {
    let text = |spec: &Map<String, Value>, field: &str| {
        spec.get(field)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .filter(|text| !text.is_empty())
    };
    if let Some(queue) = &flow.spec.queue
        && text(spec, "queue").is_none_or(|queue| queue == "default")
    {
        spec.insert("queue".to_owned(), queue.as_str().into());
    }
    if let Some(class) = &flow.spec.priority_class_name
        && text(spec, "priorityClassName").is_none()
    {
        spec.insert("priorityClassName".to_owned(), class.as_str().into());
    }
}
