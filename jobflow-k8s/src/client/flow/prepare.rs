//! The flow as parsed, kept for as long as nothing that it was parsed from changes, and the Jobs that were built for
//! it, kept until they are there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobflow_core::facts::{Answer, FactKey, TemplateVersion};
use jobflow_core::record::NodeRecord;
use jobflow_core::{JobKey, NodeId};

use super::Surroundings;
use super::frozen::{Template, Templates};
use crate::fault::Fault;
use crate::names::job_name;
use crate::observe::{SlimJob, SlimTemplate};
use crate::parse::{Flow, Known, KnownTemplate, frozen, parse};
use crate::render::{Attempt, render};
use crate::schema::Schemas;
use crate::status::{has_started, too_large, with_removed};
use crate::types::{Entry, JobFlow};

/// What was made of a generation of the spec.
#[derive(Debug)]
pub(super) struct Parsed {
    generation: i64,
    /// Templates that entries name.
    used: Arc<BTreeSet<String>>,
    /// Whether a template has changed since.
    pub(super) templates_changed: bool,
    /// The flow; if this generation is at fault, what goes on nonetheless of one that was started.
    flow: Option<Arc<Flow>>,
    /// What is wrong with this generation.
    pub(super) faults: Vec<Fault>,
    /// Whether the record was read from the status that is known.
    pub(super) is_read: bool,
}

impl Parsed {
    /// Parses a flow, and keeps of what was known `before` whether the record was read.
    pub(super) fn of(
        object: &JobFlow,
        before: Option<Self>,
        templates: Templates<'_>,
        around: &Surroundings<'_>,
    ) -> Self {
        let used = Arc::new(template_names(object));
        let templates: BTreeMap<String, KnownTemplate> = used
            .iter()
            .filter_map(|name| Some((name.clone(), KnownTemplate::of(&templates.known(name)?.spec.0)?)))
            .collect();
        let known = Known {
            templates: Some(&templates),
            predicates: around.extensions.predicates(),
        };
        let generation = object.metadata.generation.unwrap_or(0);
        let is_read = before.is_some_and(|before| before.is_read);
        let (flow, faults) = match parsed(object, known) {
            Ok(flow) => (Some(Arc::new(flow)), Vec::new()),
            Err(faults) => (followed(object, known).map(Arc::new), faults),
        };
        Self {
            generation,
            used,
            templates_changed: false,
            flow,
            faults,
            is_read,
        }
    }

    pub(super) fn flow(&self) -> Option<&Arc<Flow>> {
        self.flow.as_ref()
    }

    pub(super) const fn templates(&self) -> &Arc<BTreeSet<String>> {
        &self.used
    }

    pub(super) fn uses(&self, template: &str) -> bool {
        self.used.contains(template)
    }

    pub(super) fn is_of(&self, generation: i64) -> bool {
        self.generation == generation && !self.templates_changed
    }
}

/// The flow, with what still runs of entries that are gone; one whose record couldn't be stored is at fault.
fn parsed(object: &JobFlow, known: Known<'_>) -> Result<Flow, Vec<Fault>> {
    let flow = parse(object, known)?;
    if let Some(fault) = too_large(object, &flow) {
        return Err(vec![fault]);
    }
    Ok(match &object.status {
        Some(status) => with_removed(flow, status),
        None => flow,
    })
}

/// What goes on of a flow that is at fault: none if nothing of it was started, or nobody knows.
fn followed(object: &JobFlow, known: Known<'_>) -> Option<Flow> {
    let status = object.status.as_ref().filter(|status| has_started(status))?;
    frozen(object, known).map(|flow| with_removed(flow, status))
}

/// Whether two flows have the same entries in the same places, so that nodes keep their numbers.
pub(super) fn same_places(one: &Flow, other: &Flow) -> bool {
    let names = |flow: &Flow| {
        flow.entries
            .iter()
            .map(|entry| entry.name.clone())
            .collect::<Vec<_>>()
    };
    names(one) == names(other)
}

/// The template of an entry; none if its Job is written inline.
pub(super) fn template_of(entry: &Entry) -> Option<&str> {
    let named = entry.template.as_deref().unwrap_or(&entry.name);
    entry.job_spec.is_none().then_some(named)
}

fn template_names(object: &JobFlow) -> BTreeSet<String> {
    let entries = object.spec.flows.iter().chain(&object.spec.finally).flatten();
    entries
        .filter_map(|entry| template_of(entry).map(str::to_owned))
        .collect()
}

/// Jobs that were built and are not there yet, as they are sent.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    bodies: BTreeMap<JobKey, Arc<[u8]>>,
}

/// From what a Job is built.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) object: &'a JobFlow,
    pub(super) flow: &'a Flow,
    pub(super) templates: Templates<'a>,
    pub(super) schemas: &'a Schemas,
}

impl<'a> Source<'a> {
    fn entry(self, node: NodeId) -> Option<&'a Entry> {
        self.flow.entries.get(node.position())
    }

    /// The template of an entry; none if its Job is written inline.
    fn template(self, entry: &Entry) -> Option<Template> {
        template_of(entry).map(|name| self.templates.find(name))
    }
}

impl Prepared {
    /// Answers what can be answered on the spot.
    pub(super) fn answer(&mut self, source: Source<'_>, question: &FactKey) -> Option<Answer> {
        if let FactKey::Template(node) = question {
            return template_answer(source, *node);
        }
        let FactKey::Rendered(key) = question else {
            return None;
        };
        self.rendered(source, *key)
    }

    /// None while the template isn't there: that is another question's answer.
    fn rendered(&mut self, source: Source<'_>, key: JobKey) -> Option<Answer> {
        let entry = source.entry(key.node)?;
        let template = match source.template(entry) {
            Some(Template::Missing | Template::Freezing) => return None,
            Some(Template::Faulty(why)) => return Some(Answer::Unrenderable(why.into())),
            Some(Template::There(template)) => Some(template),
            None => None,
        };
        Some(match build(source, entry, key, template.as_deref()) {
            Ok((body, digest)) => {
                self.bodies.insert(key, body);
                Answer::Rendered(digest)
            }
            Err(message) => Answer::Unrenderable(message.into()),
        })
    }

    /// The Job to send: as it was built for the plan, or built now from what was intended.
    pub(super) fn body(
        &mut self,
        source: Source<'_>,
        key: JobKey,
        intended: &NodeRecord,
    ) -> Result<Arc<[u8]>, NotBuilt> {
        if let Some(body) = self.bodies.get(&key) {
            return Ok(Arc::clone(body));
        }
        let entry = source.entry(key.node).ok_or(NotBuilt::NotIntended)?;
        let template = match source.template(entry) {
            Some(Template::Missing | Template::Freezing) => return Err(NotBuilt::NotIntended),
            Some(Template::Faulty(why)) => return Err(NotBuilt::Faulty(why)),
            Some(Template::There(template)) => Some(template),
            None => None,
        };
        let same_entry = source.flow.graph.entry(key.node).hash == intended.entry_hash;
        if !same_entry || template.as_deref().map(version) != intended.template {
            return Err(NotBuilt::NotIntended);
        }
        let (body, _) = build(source, entry, key, template.as_deref()).map_err(NotBuilt::Faulty)?;
        self.bodies.insert(key, Arc::clone(&body));
        Ok(body)
    }

    /// The queue of a Job that was sent and isn't there.
    pub(super) fn queue(&self, key: JobKey) -> Option<Arc<str>> {
        let job: SlimJob = serde_json::from_slice(self.bodies.get(&key)?).ok()?;
        Some(job.queue.into())
    }

    pub(super) fn forget(&mut self, key: JobKey) {
        self.bodies.remove(&key);
    }

    pub(super) fn forget_all(&mut self) {
        self.bodies.clear();
    }
}

/// Why there is nothing to send.
#[derive(Debug)]
pub(super) enum NotBuilt {
    /// The entry or its template is another than the one that was intended, or gone.
    NotIntended,
    /// It can't be built any more, and why.
    Faulty(String),
}

/// None while it is being frozen.
fn template_answer(source: Source<'_>, node: NodeId) -> Option<Answer> {
    match source.entry(node).and_then(|entry| source.template(entry)) {
        Some(Template::There(template)) => Some(Answer::Template(version(&template))),
        Some(Template::Missing) => Some(Answer::NoTemplate),
        Some(Template::Freezing) => None,
        Some(Template::Faulty(why)) => Some(Answer::Unrenderable(why.into())),
        None => Some(Answer::Template(TemplateVersion::default())),
    }
}

fn version(template: &SlimTemplate) -> TemplateVersion {
    TemplateVersion {
        uid: template.metadata.uid.as_deref().unwrap_or_default().into(),
        generation: template.metadata.generation.unwrap_or(0),
    }
}

fn build(
    source: Source<'_>,
    entry: &Entry,
    key: JobKey,
    template: Option<&SlimTemplate>,
) -> Result<(Arc<[u8]>, u64), String> {
    let attempt = Attempt {
        instance: None,
        number: key.attempt,
    };
    let words = |faults: Vec<Fault>| {
        let words: Vec<String> = faults.iter().map(ToString::to_string).collect();
        words.join("; ")
    };
    let template = template.map(|template| &**template);
    let rendered = render(source.schemas, source.object, entry, attempt, template).map_err(words)?;
    let body = serde_json::to_vec(&rendered.job).map_err(|error| error.to_string())?;
    Ok((body.into(), rendered.digest))
}

/// The name of the Job of a key.
pub(super) fn name_of(flow_name: &str, flow: &Flow, key: JobKey) -> String {
    let entry = flow
        .entries
        .get(key.node.position())
        .map_or("", |entry| entry.name.as_str());
    job_name(flow_name, entry, None, key.attempt)
}
