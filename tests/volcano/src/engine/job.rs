//! A Job as the loop holds it: who it is, its life, and what is known of its pods.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use jobflow_core::Time;
use jobflow_core::gang::PodKey;
use jobflow_k8s::job::JobView;
use jobflow_k8s::types::Job as JobObject;
use jobflow_k8s::types::JobPhase;
use jobflow_local::pod::addresses::{AddressBook, Addresses};
use serde_json::{Map, Value};

use super::pods::Known;
use crate::course::Course;
use crate::lead::{Lead, Told};
use crate::life::{Life, Manner};
use crate::object::Place;
use crate::options::{Asked, Options};
use crate::processes::Run;

/// Jobs with more pods are left alone.
const MOST_PODS: u32 = 100_000;

type Texts = BTreeMap<String, String>;

/// One Job.
pub(super) struct Job {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) queue: String,
    pub(super) lead: Lead,
    /// The pod template of each task; empty where pods are no objects.
    pub(super) templates: Vec<Value>,
    labels: Texts,
    annotations: Texts,
    pub(super) pods: BTreeMap<PodKey, Known>,
    /// The addresses of its pods, where they have any of their own.
    pub(super) addresses: Option<Addresses>,
    /// How many pods the tasks have, in their order.
    replicas: Vec<u32>,
    /// A request of it is under way.
    pub(super) busy: bool,
    /// It is being deleted: Volcano looks after it no more.
    pub(super) leaving: bool,
    /// When it is its turn by itself, as noted with the others.
    pub(super) due: Option<Time>,
}

/// Takes a Job in as it is found, and tells what is to be run where it runs as processes; `Ok(None)` for one that has
/// ended. One that was half way starts from its beginning.
pub(super) fn read(
    object: JobObject,
    options: &Options,
    has_queue: impl Fn(&str) -> bool,
    book: &mut AddressBook,
    now: Time,
) -> Result<Option<(Job, Option<Run>)>, String> {
    let phase = object
        .status
        .as_ref()
        .and_then(|status| status.state.as_ref()?.phase);
    if phase.is_some_and(is_final) {
        return Ok(None);
    }
    let metadata = object.metadata;
    let spec = object.spec.0;
    let typed = serde_json::from_value(Value::Object(spec.clone())).map_err(|error| error.to_string())?;
    let view = JobView::of(typed);
    if view.gang().replicas() > MOST_PODS {
        return Err(format!(
            "it has more than {MOST_PODS} pods, and each is held here"
        ));
    }
    let mut job = Job {
        lead: Lead::Told(Box::new(Told::new(names(&view), now))),
        namespace: metadata.namespace.unwrap_or_default(),
        name: metadata.name.unwrap_or_default(),
        uid: metadata.uid.unwrap_or_default(),
        queue: view.queue.clone(),
        templates: templates(&view),
        labels: metadata.labels.unwrap_or_default(),
        annotations: metadata.annotations.unwrap_or_default(),
        pods: BTreeMap::new(),
        addresses: None,
        replicas: replicas(&view),
        busy: false,
        leaving: metadata.deletion_timestamp.is_some(),
        due: None,
    };
    if let Some(processes) = &options.processes {
        let all = Addresses::at_the_beginning_of(book.range());
        let addresses = book.take(job.replicas.iter().sum()).unwrap_or(all);
        job.addresses = processes.network.map(|_| addresses);
        let run = job.run(spec, view, addresses);
        return Ok(Some((job, Some(run))));
    }
    let course = job.course(options);
    let manner = Manner {
        detail: options.detail,
        pods: options.pods,
    };
    let life = Life::new(view.gang(), course, manner, has_queue(&job.queue), now);
    job.lead = Lead::MadeUp(Box::new(life));
    if !options.pods {
        job.templates = Vec::new();
    }
    Ok(Some((job, None)))
}

fn replicas(view: &JobView) -> Vec<u32> {
    let tasks = view.tasks.iter();
    tasks
        .map(|task| u32::try_from(task.replicas).unwrap_or(0))
        .collect()
}

fn names(view: &JobView) -> Vec<String> {
    view.tasks.iter().map(|task| task.name.clone()).collect()
}

fn templates(view: &JobView) -> Vec<Value> {
    let tasks = view.tasks.iter();
    tasks.map(|task| Value::Object(task.template.clone())).collect()
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
    fn run(&self, spec: Map<String, Value>, view: JobView, addresses: Addresses) -> Run {
        Run {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            spec,
            view,
            addresses,
        }
    }

    /// Where a pod is reached.
    pub(super) fn address(&self, key: PodKey) -> Ipv4Addr {
        let before = self.replicas.iter().take(key.task as usize).sum::<u32>();
        self.addresses
            .map_or(Ipv4Addr::LOCALHOST, |addresses| addresses.of(before + key.index))
    }

    /// The Job, as somebody is asked about it.
    pub(super) fn asked(&self) -> Asked<'_> {
        Asked {
            namespace: &self.namespace,
            name: &self.name,
            labels: &self.labels,
            annotations: &self.annotations,
        }
    }

    fn course(&self, options: &Options) -> Course {
        let usual = (options.course)(&self.asked());
        Course::annotated(&self.annotations, &self.templates, &usual)
    }

    /// The made-up life, if it leads one.
    pub(super) fn life(&mut self) -> Option<&mut Life> {
        match &mut self.lead {
            Lead::MadeUp(life) => Some(life),
            Lead::Told(_) => None,
        }
    }

    /// Which pod a key is.
    pub(super) fn place(&self, key: PodKey) -> Place {
        let gang = self.lead.gang();
        Place {
            namespace: self.namespace.clone(),
            job: self.name.clone(),
            uid: self.uid.clone(),
            queue: self.queue.clone(),
            task: self.lead.task(key).to_owned(),
            index: key.index,
            version: gang.version_of(key).unwrap_or(gang.status.version),
            retry_count: gang.status.retry_count,
        }
    }
}
