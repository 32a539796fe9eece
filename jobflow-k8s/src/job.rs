//! A Volcano Job's spec as it will be read: defaults applied, rules checked, ready for the core.
//!
//! Comes in: the spec as data. Goes out: a [`JobView`], or every reason why Volcano would refuse it, each with its
//! path. Deliberately absent: any change to the data itself, and the queue, which only a cluster knows.

mod duration;
mod gang;
mod policies;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::check::Shape;
use crate::fault::{Code, Fault, FieldPath};
use crate::schema::Schemas;
use crate::types::job::{JobSpec, JobTask, NetworkTopology, PartitionPolicy, Policy, TaskDependsOn};

/// What `maxRetry` means when it is 0 or missing.
pub const DEFAULT_MAX_RETRY: i32 = 3;

/// A Job's spec with the defaults that Volcano's admission sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobView {
    /// The queue; `default` without one.
    pub queue: String,
    /// How many pods must run at least; the sum of the tasks' without one.
    pub min_available: i32,
    /// How many pods must succeed for the Job to be Completed.
    pub min_success: Option<i32>,
    /// How often the Job is restarted before it fails.
    pub max_retry: i32,
    /// The tasks, in the order of the spec.
    pub tasks: Vec<TaskView>,
    /// What is done on events of the Job.
    pub policies: Vec<Policy>,
    /// Plugins by name, those that others bring along included.
    pub plugins: BTreeMap<String, Vec<String>>,
    /// The priority class.
    pub priority_class_name: Option<String>,
    /// How close in the network the pods must be.
    pub network_topology: Option<NetworkTopology>,
    /// The controller of flows deletes the Job that long after its recorded end.
    pub ttl_seconds_after_finished: Option<i32>,
}

/// A task with the defaults that Volcano's admission sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskView {
    /// The name; `default<i>` without one.
    pub name: String,
    /// How many pods.
    pub replicas: i32,
    /// How many of them must run at least.
    pub min_available: i32,
    /// How often a pod is restarted; -1 without end.
    pub max_retry: i32,
    /// The pod template, as data.
    pub template: Map<String, Value>,
    /// What is done on events of the task.
    pub policies: Vec<Policy>,
    /// Tasks of the same Job that must run or have succeeded first.
    pub depends_on: Option<TaskDependsOn>,
    /// How the pods are cut into parts.
    pub partition_policy: Option<PartitionPolicy>,
}

impl JobView {
    /// Reads a whole spec that stands at `path`, and checks it as Volcano's admission would.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it; warnings come along. A spec with warnings only is read.
    pub fn read(
        schemas: &Schemas,
        spec: &Map<String, Value>,
        path: &FieldPath,
    ) -> Result<(Self, Vec<Fault>), Vec<Fault>> {
        let mut faults = schemas.check_job_spec(spec, Shape::Whole, path.clone());
        if faults.iter().any(Fault::is_error) {
            return Err(faults);
        }
        match Self::read_checked(spec, path) {
            Ok((view, more)) => {
                faults.extend(more);
                Ok((view, faults))
            }
            Err(more) => {
                faults.extend(more);
                Err(faults)
            }
        }
    }

    /// The same for a spec that was checked against its schema.
    pub(crate) fn read_checked(
        spec: &Map<String, Value>,
        path: &FieldPath,
    ) -> Result<(Self, Vec<Fault>), Vec<Fault>> {
        let typed: JobSpec = serde_json::from_value(Value::Object(spec.clone()))
            .map_err(|error| vec![Fault::error(Code::WrongType, path.clone(), error.to_string())])?;
        let view = Self::of(typed.clone());
        let faults = rules::faults(&typed, &view, path);
        if faults.iter().any(Fault::is_error) {
            Err(faults)
        } else {
            Ok((view, faults))
        }
    }

    /// Applies the read-time defaults.
    #[must_use]
    pub fn of(spec: JobSpec) -> Self {
        let JobSpec {
            scheduler_name: _,
            min_available,
            min_success,
            volumes: _,
            tasks,
            policies,
            plugins,
            running_estimate: _,
            queue,
            max_retry,
            ttl_seconds_after_finished,
            priority_class_name,
            network_topology,
        } = spec;
        let tasks: Vec<_> = tasks
            .unwrap_or_default()
            .into_iter()
            .enumerate()
            .map(|(at, task)| TaskView::of(at, task))
            .collect();
        let sum = tasks
            .iter()
            .fold(0_i32, |sum, task| sum.saturating_add(task.min_available));
        Self {
            queue: queue
                .filter(|queue| !queue.is_empty())
                .unwrap_or_else(|| "default".to_owned()),
            min_available: min_available.filter(|least| *least != 0).unwrap_or(sum),
            min_success,
            max_retry: or_default_retry(max_retry),
            tasks,
            policies: policies.unwrap_or_default(),
            plugins: with_companions(plugins.unwrap_or_default()),
            priority_class_name: priority_class_name.filter(|name| !name.is_empty()),
            network_topology,
            ttl_seconds_after_finished,
        }
    }
}

impl TaskView {
    fn of(index: usize, task: JobTask) -> Self {
        let JobTask {
            name,
            replicas,
            min_available,
            template,
            policies,
            topology_policy: _,
            max_retry,
            depends_on,
            partition_policy,
        } = task;
        let replicas = replicas.unwrap_or(0);
        Self {
            name: name
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| format!("default{index}")),
            replicas,
            min_available: min_available
                .unwrap_or_else(|| of_partitions(partition_policy.as_ref()).unwrap_or(replicas)),
            max_retry: or_default_retry(max_retry),
            template: template.unwrap_or_default(),
            policies: policies.unwrap_or_default(),
            depends_on,
            partition_policy,
        }
    }
}

fn or_default_retry(max_retry: Option<i32>) -> i32 {
    max_retry.filter(|most| *most != 0).unwrap_or(DEFAULT_MAX_RETRY)
}

fn of_partitions(policy: Option<&PartitionPolicy>) -> Option<i32> {
    let policy = policy?;
    let least = policy.min_partitions.filter(|least| *least > 0)?;
    Some(least.saturating_mul(policy.partition_size.unwrap_or(0)))
}

/// Plugins that bring others along: frameworks need `svc`, MPI `ssh` too.
fn with_companions(plugins: BTreeMap<String, Option<Vec<String>>>) -> BTreeMap<String, Vec<String>> {
    let mut plugins: BTreeMap<_, _> = plugins
        .into_iter()
        .map(|(name, arguments)| (name, arguments.unwrap_or_default()))
        .collect();
    let has = |names: &[&str]| names.iter().any(|name| plugins.contains_key(*name));
    let (svc, ssh) = (has(&["tensorflow", "pytorch", "mpi", "ray"]), has(&["mpi"]));
    for (name, _) in [("svc", svc), ("ssh", ssh)]
        .into_iter()
        .filter(|(_, wanted)| *wanted)
    {
        plugins.entry(name.to_owned()).or_default();
    }
    plugins
}
