//! A Job as the loop holds it: who it is, its life, and what is known of its pods.

use std::collections::BTreeMap;

use jobflow_core::Time;
use jobflow_core::gang::PodKey;
use jobflow_k8s::job::JobView;
use jobflow_k8s::types::Job as JobObject;
use jobflow_k8s::types::JobPhase;
use serde_json::Value;

use super::pods::Known;
use crate::course::Course;
use crate::life::{Life, Manner};
use crate::object::Place;
use crate::options::{Asked, Options};

/// One Job.
pub(super) struct Job {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) queue: String,
    pub(super) life: Life,
    /// The pod template of each task; empty where pods are no objects.
    pub(super) templates: Vec<Value>,
    pub(super) pods: BTreeMap<PodKey, Known>,
    /// A request of it is under way.
    pub(super) busy: bool,
    /// It is being deleted: Volcano looks after it no more.
    pub(super) leaving: bool,
    /// When it is its turn by itself, as noted with the others.
    pub(super) due: Option<Time>,
}

/// Takes a Job in as it is found; `Ok(None)` for one that has ended. One that was half way starts from its beginning.
pub(super) fn read(
    object: JobObject,
    options: &Options,
    has_queue: impl Fn(&str) -> bool,
    now: Time,
) -> Result<Option<Job>, String> {
    let phase = object
        .status
        .as_ref()
        .and_then(|status| status.state.as_ref()?.phase);
    if phase.is_some_and(is_final) {
        return Ok(None);
    }
    let metadata = object.metadata;
    let namespace = metadata.namespace.unwrap_or_default();
    let name = metadata.name.unwrap_or_default();
    let (labels, annotations) = (
        metadata.labels.unwrap_or_default(),
        metadata.annotations.unwrap_or_default(),
    );
    let spec = serde_json::from_value(Value::Object(object.spec.0)).map_err(|error| error.to_string())?;
    let view = JobView::of(spec);
    let templates: Vec<Value> = view
        .tasks
        .iter()
        .map(|task| Value::Object(task.template.clone()))
        .collect();
    let usual = (options.course)(&Asked {
        namespace: &namespace,
        name: &name,
        labels: &labels,
        annotations: &annotations,
    });
    let manner = Manner {
        detail: options.detail,
        pods: options.pods,
    };
    let course = Course::annotated(&annotations, &templates, &usual);
    Ok(Some(Job {
        life: Life::new(view.gang(), course, manner, has_queue(&view.queue), now),
        namespace,
        name,
        uid: metadata.uid.unwrap_or_default(),
        queue: view.queue,
        templates: if options.pods { templates } else { Vec::new() },
        pods: BTreeMap::new(),
        busy: false,
        leaving: metadata.deletion_timestamp.is_some(),
        due: None,
    }))
}

const fn is_final(phase: JobPhase) -> bool {
    match phase {
        JobPhase::Completed | JobPhase::Failed | JobPhase::Terminated => true,
        JobPhase::New
        | JobPhase::Pending
        | JobPhase::Running
        | JobPhase::Restarting
        | JobPhase::Completing
        | JobPhase::Terminating
        | JobPhase::Aborting
        | JobPhase::Aborted
        | JobPhase::Unknown => false,
    }
}

impl Job {
    /// Which pod a key is.
    pub(super) fn place(&self, key: PodKey) -> Place {
        let gang = self.life.gang();
        Place {
            namespace: self.namespace.clone(),
            job: self.name.clone(),
            uid: self.uid.clone(),
            queue: self.queue.clone(),
            task: self.life.task(key).to_owned(),
            index: key.index,
            version: gang.version_of(key).unwrap_or(gang.status.version),
            retry_count: gang.status.retry_count,
        }
    }
}
