//! The shape of a Volcano Job as its pods see it: tasks, plugins, volumes, addresses.

use std::collections::BTreeMap;

use jobflow_k8s::{
    fault::FieldPath,
    job::{JobView, TaskView},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{PodFault, addresses::Addresses, identity::JobIdentity};

/// The most replicas of one Job that are taken: a number beyond makes lists of hosts that fill the memory.
pub const MOST_REPLICAS: u32 = 100_000;

/// A Job, without its templates.
#[derive(Clone, Debug, PartialEq)]
pub struct JobShape {
    /// Who it is.
    pub identity: JobIdentity,
    /// Its tasks, in order.
    pub tasks: Vec<TaskShape>,
    /// Its plugins with their arguments; those that others need are added.
    pub plugins: BTreeMap<String, Vec<String>>,
    /// Volumes that every container of it mounts.
    pub volumes: Vec<JobVolume>,
    /// The addresses of its replicas.
    pub addresses: Addresses,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskShape {
    /// Its name.
    pub name: String,
    /// How many pods it has.
    pub replicas: u32,
}

/// A volume of a Job: a claim by name, a claim that is made, or (neither) an empty folder a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobVolume {
    /// Where containers see it.
    pub mount_path: String,
    /// The claim's name.
    pub volume_claim_name: String,
    /// The claim to make.
    pub volume_claim: Option<Value>,
}

impl JobShape {
    /// Takes what pods see of a Job, given its spec as data and as it is read.
    ///
    /// # Errors
    ///
    /// When it can't be run here.
    pub fn read(
        spec: &Map<String, Value>,
        view: &JobView,
        identity: JobIdentity,
        addresses: Addresses,
    ) -> Result<Self, Vec<PodFault>> {
        let volumes = match spec.get("volumes").filter(|volumes| !volumes.is_null()) {
            Some(volumes) => Vec::deserialize(volumes)
                .map_err(|error| vec![PodFault::new(in_spec("volumes"), error.to_string())])?,
            None => Vec::new(),
        };
        let shape = Self {
            identity,
            tasks: view.tasks.iter().map(task).collect(),
            plugins: view.plugins.clone(),
            volumes,
            addresses,
        };
        let faults = shape.faults();
        if faults.is_empty() { Ok(shape) } else { Err(faults) }
    }

    fn faults(&self) -> Vec<PodFault> {
        let mut faults = Vec::new();
        if self.replicas() > MOST_REPLICAS {
            faults.push(PodFault::new(
                in_spec("tasks"),
                format!("more than {MOST_REPLICAS} replicas"),
            ));
        }
        if self.plugins.contains_key("ray") {
            let message = "is not run without a cluster; start ray in the containers' own commands";
            faults.push(PodFault::new(in_spec("plugins").field("ray"), message));
        }
        faults
    }

    /// Returns how many pods the Job has.
    pub fn replicas(&self) -> u32 {
        self.tasks
            .iter()
            .fold(0, |sum, task| sum.saturating_add(task.replicas))
    }

    /// Returns the place of a replica among all of the Job.
    pub fn number(&self, task: usize, index: u32) -> u32 {
        let before = self.tasks.iter().take(task);
        before.fold(index, |sum, task| sum.saturating_add(task.replicas))
    }

    /// Returns the hosts of a task, one a replica.
    pub fn hosts(&self, task: usize) -> Vec<String> {
        let replicas = self.tasks.get(task).map_or(0, |task| task.replicas);
        (0..replicas)
            .map(|index| self.addresses.of(self.number(task, index)).to_string())
            .collect()
    }

    /// Finds a task by name.
    pub fn task(&self, name: &str) -> Option<usize> {
        self.tasks.iter().position(|task| task.name == name)
    }
}

fn in_spec(field: &str) -> FieldPath {
    FieldPath::root().field("spec").field(field)
}

fn task(view: &TaskView) -> TaskShape {
    TaskShape {
        name: view.name.clone(),
        replicas: u32::try_from(view.replicas).unwrap_or(0),
    }
}
