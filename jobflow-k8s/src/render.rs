//! The Job of an attempt, ready to be created.
//!
//! Comes in: the flow, one of its entries, which attempt, and the template if it has one. Goes out: the Job, or why it
//! can't be made. Deliberately absent: the queue's existence, and sending anything.

mod draft;
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
pub use draft::Draft;
pub(crate) use metadata::owner;

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
    let source = source(entry, template)?;
    let mut draft = Draft::of(schemas, entry, source, &place(flow, entry))?;
    let ttl = draft
        .spec
        .shift_remove("ttlSecondsAfterFinished")
        .filter(|ttl| !ttl.is_null());
    defaults_of_flow(flow, entry, &mut draft.spec);
    let (view, more) = draft.read(schemas)?;
    let Draft {
        spec, mut warnings, ..
    } = draft;
    warnings.extend(more);
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

/// Why a Job can't be made, in a line: the errors with their paths.
#[must_use]
pub fn why(faults: &[Fault]) -> String {
    const MOST: usize = 8;
    let errors = faults.iter().filter(|fault| fault.is_error());
    let told = errors.clone().take(MOST).map(|fault| {
        let help = fault.help.iter().map(|help| format!(" ({help})"));
        let path = Some(&fault.path).filter(|path| !path.is_root());
        let path = path.map_or_else(String::new, |path| format!("{path}: "));
        format!("{path}{}{}", fault.message, help.collect::<String>())
    });
    let told = told.collect::<Vec<_>>().join("; ");
    match errors.count().saturating_sub(MOST) {
        0 => told,
        more => format!("{told}; and {more} more"),
    }
}

/// The spec that an entry starts from.
fn source<'a>(
    entry: &'a Entry,
    template: Option<&'a JobTemplate>,
) -> Result<&'a Map<String, Value>, Vec<Fault>> {
    match (&entry.job_spec, template) {
        (Some(spec), _) => Ok(&spec.0),
        (None, Some(template)) => Ok(&template.spec.0),
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

/// Where an entry stands in its flow.
fn place(flow: &JobFlow, entry: &Entry) -> FieldPath {
    let spec = FieldPath::root().field("spec");
    let lists = [("flows", &flow.spec.flows), ("finally", &flow.spec.finally)];
    let found = lists.into_iter().find_map(|(list, entries)| {
        let at = entries
            .iter()
            .flatten()
            .position(|other| other.name == entry.name)?;
        Some(spec.field(list).index(at))
    });
    found.unwrap_or(spec)
}

/// Queue and priority class of the flow, where the Job has none. A template's queue `default` counts as none, since
/// Volcano's definition writes it into every template; the one of a patch or an inline spec is its author's.
fn defaults_of_flow(flow: &JobFlow, entry: &Entry, spec: &mut Map<String, Value>) {
    let text = |spec: &Map<String, Value>, field: &str| {
        spec.get(field)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .filter(|text| !text.is_empty())
    };
    let patch = entry.patch.as_ref().and_then(|patch| patch.job_spec.as_ref());
    let says_queue = entry.job_spec.as_ref().or(patch).is_some_and(|spec| {
        text(spec, "queue").is_some() || patch.is_some_and(|patch| text(patch, "queue").is_some())
    });
    if let Some(queue) = &flow.spec.queue
        && text(spec, "queue").is_none_or(|queue| queue == "default" && !says_queue)
    {
        spec.insert("queue".to_owned(), queue.as_str().into());
    }
    if let Some(class) = &flow.spec.priority_class_name
        && text(spec, "priorityClassName").is_none()
    {
        spec.insert("priorityClassName".to_owned(), class.as_str().into());
    }
}
