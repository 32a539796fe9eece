//! What is known beside a flow: templates and kinds of predicates.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::condition::PredicateFactory;
use serde_json::{Map, Value};

use crate::fault::FieldPath;
use crate::job::JobView;
use crate::patch;
use crate::types::Entry;

/// What is known beside the flow itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// Templates by name, as far as they are known; one that is missing is no fault here.
    pub templates: Option<&'a BTreeMap<String, KnownTemplate>>,
    /// Kinds of predicates for `dependsOn.custom`.
    pub predicates: &'a [Arc<dyn PredicateFactory>],
}

/// A template that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownTemplate {
    /// Its spec, which patches are merged over.
    pub spec: Map<String, Value>,
    /// The spec as it will be read.
    pub view: JobView,
}

impl KnownTemplate {
    /// Reads a template's spec; nothing if it is none.
    #[must_use]
    pub fn of(spec: &Map<String, Value>) -> Option<Self> {
        Some(Self {
            view: view(spec.clone())?,
            spec: spec.clone(),
        })
    }
}

impl<'a> Known<'a> {
    /// What the Job of an entry looks like, patched; nothing if that isn't known, or can't be made.
    pub(super) fn job(self, entry: &Entry) -> Option<Cow<'a, JobView>> {
        let patch = entry.patch.as_ref().filter(|patch| patch::changes_spec(patch));
        let template = || {
            let name = entry.template.as_deref().unwrap_or(&entry.name);
            self.templates?.get(name)
        };
        let source = match (&entry.job_spec, patch) {
            (None, None) => return template().map(|known| Cow::Borrowed(&known.view)),
            (None, Some(_)) => &template()?.spec,
            (Some(spec), _) => &spec.0,
        };
        let spec = match patch {
            Some(patch) => patch::apply(source, patch, &FieldPath::root()).ok()?.spec,
            None => source.clone(),
        };
        view(spec).map(Cow::Owned)
    }
}

fn view(spec: Map<String, Value>) -> Option<JobView> {
    serde_json::from_value(Value::Object(spec)).ok().map(JobView::of)
}
