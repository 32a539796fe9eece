//! What a run is made from: the objects of its files, and everything that can be wrong with them here, told ahead.

mod probes;

use std::{collections::BTreeMap, path::PathBuf};

use jobflow_core::{JobKey, NodeId};
use jobflow_k8s::{
    extensions::Extensions,
    fault::{Code, Fault, FieldPath},
    parse::{Flow, Known, KnownTemplate, parse},
    patch::Origin,
    render::{Attempt, Rendered, render},
    schema::Schemas,
    types::{Entry, JobFlow, JobTemplate},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{RunError, Settings, Surroundings};
use crate::{
    kit::{Kit, Prepared as PreparedJob},
    pod::{PodFault, config::ConfigObjects, identity::JobIdentity},
};

/// The longest part of a flow's name that stands in the name of a run.
const SHORT: usize = 40;

/// The objects that a run is made from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Input {
    /// The flow.
    pub flow: JobFlow,
    /// Templates by name.
    pub templates: BTreeMap<String, JobTemplate>,
    /// ConfigMaps and Secrets.
    pub objects: Vec<Value>,
}

/// A flow that can be run here.
#[derive(Debug)]
pub struct Prepared {
    /// The flow as the core takes it.
    pub flow: Flow,
    schemas: Schemas,
    kit: Kit,
}

/// A Job that can be created here.
pub(super) struct ReadyJob {
    pub(super) rendered: Rendered,
    pub(super) prepared: PreparedJob,
}

impl Input {
    /// The flow's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.flow.metadata.name.as_deref().unwrap_or("flow")
    }

    /// The flow's namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.flow.metadata.namespace.as_deref().unwrap_or("default")
    }

    /// Parses the flow with the templates at hand, and the kinds of predicates that the program has.
    ///
    /// # Errors
    ///
    /// Every fault of the flow.
    pub fn parse(&self, extensions: &Extensions) -> Result<Flow, Vec<Fault>> {
        let templates: BTreeMap<String, KnownTemplate> = self
            .templates
            .iter()
            .filter_map(|(name, template)| Some((name.clone(), KnownTemplate::of(&template.spec.0)?)))
            .collect();
        parse(
            &self.flow,
            Known {
                templates: Some(&templates),
                predicates: extensions.predicates(),
            },
        )
    }

    /// Checks that the flow and each of its Jobs can be run here, without making anything.
    ///
    /// # Errors
    ///
    /// Every fault at once.
    pub fn check(&self, settings: &Settings, surroundings: &Surroundings) -> Result<(), RunError> {
        let nowhere = std::env::temp_dir().join("jobflow-check");
        let prepared = self.prepare(nowhere, settings, surroundings)?;
        let mut faults = self.unknown_commands(settings);
        let mut jobs = Vec::new();
        for node in 0..prepared.flow.entries.len() {
            let node = NodeId(u32::try_from(node).unwrap_or(u32::MAX));
            let key = JobKey {
                node,
                index: 0,
                attempt: 1,
            };
            match prepared.job(self, key, "check") {
                Ok(job) => jobs.push(Some(job)),
                Err(more) => {
                    jobs.push(None);
                    faults.extend(more);
                }
            }
        }
        faults.extend(probes::faults(self, &prepared, &jobs));
        if faults.iter().any(Fault::is_error) {
            Err(RunError::Faults(faults))
        } else {
            Ok(())
        }
    }

    /// Commands that are meant for an entry which the flow doesn't have.
    fn unknown_commands(&self, settings: &Settings) -> Vec<Fault> {
        let spec = &self.flow.spec;
        let names: Vec<&str> = spec
            .flows
            .iter()
            .chain(&spec.finally)
            .flatten()
            .map(|entry| entry.name.as_str())
            .collect();
        let meant = settings
            .kit
            .commands
            .iter()
            .filter_map(|command| command.entry.as_deref());
        meant
            .filter(|entry| !names.contains(entry))
            .map(|entry| {
                let message = format!("--command {entry}/…: the flow has no entry `{entry}`");
                Fault::error(Code::UnknownReference, FieldPath::root(), message)
                    .with_suggestion(entry, names.iter().copied())
            })
            .collect()
    }

    pub(super) fn prepare(
        &self,
        folder: PathBuf,
        settings: &Settings,
        surroundings: &Surroundings,
    ) -> Result<Prepared, RunError> {
        let flow = self.parse(&surroundings.extensions).map_err(RunError::Faults)?;
        let mut objects = ConfigObjects::default();
        let mut faults = Vec::new();
        for object in &self.objects {
            if let Err(more) = objects.add(object) {
                faults.extend(more.into_iter().map(|fault| of_object(&fault)));
            }
        }
        if !faults.is_empty() {
            return Err(RunError::Faults(faults));
        }
        let kit = Kit::new(
            &folder,
            &settings.kit,
            objects,
            &settings.machine,
            settings.ignore_resources,
        );
        Ok(Prepared {
            flow,
            schemas: Schemas::new(),
            kit,
        })
    }
}

impl Prepared {
    /// The Job of a key, as it would be created.
    pub(super) fn job(&self, input: &Input, key: JobKey, uid: &str) -> Result<ReadyJob, Vec<Fault>> {
        let entry = &self.flow.entries[key.node.position()];
        let template = entry.template.as_deref().unwrap_or(&entry.name);
        let template = input.templates.get(template).filter(|_| entry.job_spec.is_none());
        let attempt = Attempt {
            instance: None,
            number: key.attempt,
        };
        let of_entry = |fault: Fault| at_entry(fault, &entry.name);
        let rendered = render(&self.schemas, &input.flow, entry, attempt, template)
            .map_err(|faults| faults.into_iter().map(of_entry).collect::<Vec<_>>())?;
        let metadata = &rendered.job.metadata;
        let name = metadata.name.clone().unwrap_or_default();
        let identity = JobIdentity {
            name,
            namespace: metadata.namespace.clone().unwrap_or_else(|| "default".to_owned()),
            uid: uid.to_owned(),
            queue: rendered.view.queue.clone(),
        };
        let prepared = self
            .kit
            .prepare(&entry.name, identity, &rendered.job.spec.0, &rendered.view)
            .map_err(|faults| {
                faults
                    .iter()
                    .map(|fault| of_job(fault, entry, &rendered.job.spec.0, &self.path(input, key.node)))
                    .collect::<Vec<_>>()
            })?;
        Ok(ReadyJob { rendered, prepared })
    }
}

impl Prepared {
    /// Where an entry is written in the flow.
    fn path(&self, input: &Input, node: NodeId) -> FieldPath {
        let first = input.flow.spec.flows.as_ref().map_or(0, Vec::len);
        let (list, at) = match node.position().checked_sub(first) {
            Some(at) => ("finally", at),
            None => ("flows", node.position()),
        };
        FieldPath::root().field("spec").field(list).index(at)
    }
}

impl ReadyJob {
    /// The Job's name.
    pub(super) fn name(&self) -> String {
        self.rendered.job.metadata.name.clone().unwrap_or_default()
    }
}

fn at_entry(fault: Fault, entry: &str) -> Fault {
    let message = format!("entry `{entry}`: {}", fault.message);
    Fault { message, ..fault }
}

/// The fault of an object that containers read.
fn of_object(fault: &PodFault) -> Fault {
    Fault::error(Code::Unsupported, fault.path.clone(), fault.message.clone())
}

/// The fault of an entry's Job: at its place in the flow where the entry wrote it, else by the path in the Job.
fn of_job(fault: &PodFault, entry: &Entry, spec: &Map<String, Value>, at: &FieldPath) -> Fault {
    let message = format!("entry `{}`: {}", entry.name, fault.message);
    let mut inner = FieldPath::root();
    for segment in fault.path.segments().iter().skip(1) {
        inner.push(segment.clone());
    }
    let patched = entry.patch.as_ref().and_then(|patch| {
        let spec = Value::Object(spec.clone());
        Origin { spec: &spec, patch }.written(&inner)
    });
    let path = match (patched, &entry.job_spec) {
        (Some(inner), _) => at.field("patch").join(&inner),
        (None, Some(_)) => at.field("jobSpec").join(&inner),
        (None, None) => fault.path.clone(),
    };
    Fault::error(Code::Unsupported, path, message)
}

/// The flow's name, short enough for the name of a run.
pub(super) fn short(name: &str) -> String {
    name.chars().take(SHORT).collect()
}
