//! What the jobs of a flow name, by template or inline spec. Patches are laid over by the controller, and not looked into
//! here but for the queue. Pure.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_k8s::types::Entry;
use serde_json::{Map, Value};

use crate::cluster::flow::Flow;
use crate::cluster::queues::queues;
use crate::command::cluster::doctor::Patients;
use crate::standing::stored::entries;

/// Something that has to be there before a job can run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wanted {
    Template { namespace: String, name: String },
    Queue { name: String },
    Claim { namespace: String, name: String },
    Account { namespace: String, name: String },
}

impl Wanted {
    /// The kind, as people say it.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Template { .. } => "job template",
            Self::Queue { .. } => "queue",
            Self::Claim { .. } => "claim",
            Self::Account { .. } => "service account",
        }
    }

    /// Kind and name.
    pub(super) fn title(&self) -> String {
        let (Self::Template { name, .. }
        | Self::Queue { name }
        | Self::Claim { name, .. }
        | Self::Account { name, .. }) = self;
        format!("{} `{name}`", self.kind())
    }

    /// What to do if it isn't there.
    pub(super) const fn help(&self) -> &'static str {
        match self {
            Self::Template { .. } => "apply it: the flow goes on by itself",
            Self::Queue { .. } => {
                "make it, or name another one; Volcano ends jobs of a queue that isn't there"
            }
            Self::Claim { .. } | Self::Account { .. } => "make it: pods that name it can't start before",
        }
    }
}

/// Everything that a flow names.
pub(super) fn wanted(flow: &Flow, patients: &Patients) -> BTreeSet<Wanted> {
    let Ok(read) = &flow.read else {
        return BTreeSet::new();
    };
    let namespace = flow.namespace();
    let own = patients.templates.get(namespace);
    let named: BTreeMap<String, String> = own
        .into_iter()
        .flatten()
        .filter_map(|(name, spec)| Some((name.clone(), spec.get("queue")?.as_str()?.to_owned())))
        .collect();
    let mut all: BTreeSet<Wanted> = queues(&read.spec, &named)
        .into_iter()
        .map(|name| Wanted::Queue { name })
        .collect();
    for entry in entries(&read.spec).filter(|entry| entry.flow.is_none() && entry.switch.is_none()) {
        all.extend(of_entry(entry, namespace, patients));
    }
    all
}

fn of_entry(entry: &Entry, namespace: &str, patients: &Patients) -> Vec<Wanted> {
    if let Some(inline) = &entry.job_spec {
        return of_job(inline, namespace);
    }
    let name = entry.template.as_ref().unwrap_or(&entry.name);
    let mut all = vec![Wanted::Template {
        namespace: namespace.to_owned(),
        name: name.clone(),
    }];
    all.extend(
        patients
            .template(namespace, name)
            .into_iter()
            .flat_map(|spec| of_job(spec, namespace)),
    );
    all
}

fn of_job(spec: &Map<String, Value>, namespace: &str) -> Vec<Wanted> {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let volumes = list(spec.get("volumes"));
    // A volume with a spec of a claim makes its own.
    let of_volumes = volumes
        .iter()
        .filter(|volume| volume.get("volumeClaim").is_none());
    let mut claims: Vec<Value> = of_volumes
        .filter_map(|volume| volume.get("volumeClaimName").cloned())
        .collect();
    let mut accounts = Vec::new();
    for task in list(spec.get("tasks")) {
        let pod = task.pointer("/template/spec");
        let of_pod = list(pod.and_then(|pod| pod.get("volumes")));
        claims.extend(
            of_pod
                .iter()
                .filter_map(|volume| volume.pointer("/persistentVolumeClaim/claimName").cloned()),
        );
        accounts.extend(pod.and_then(|pod| pod.get("serviceAccountName").cloned()));
    }
    let is_name = |value: &Value| {
        value
            .as_str()
            .filter(|name| !name.is_empty() && !name.contains("${{"))
            .map(str::to_owned)
    };
    let namespace = || namespace.to_owned();
    let claims = claims.iter().filter_map(is_name).map(|name| Wanted::Claim {
        namespace: namespace(),
        name,
    });
    let accounts = accounts.iter().filter_map(is_name).map(|name| Wanted::Account {
        namespace: namespace(),
        name,
    });
    claims.chain(accounts).collect()
}
