//! A Job's spec in the core's words.

use std::collections::BTreeMap;

use jobflow_core::gang::{self, GangSpec, GangTask};

use super::{JobView, TaskView, duration, policies};
use crate::types::job::{Iteration, Policy, TaskDependsOn};

impl JobView {
    /// The spec as the core's machine takes it. What a view that was checked can't hold is left out.
    #[must_use]
    pub fn gang(&self) -> GangSpec {
        let places: BTreeMap<&str, u32> = (0..)
            .zip(&self.tasks)
            .map(|(at, task)| (task.name.as_str(), at))
            .collect();
        GangSpec {
            min_available: count(self.min_available),
            min_success: self.min_success.map(count),
            max_retry: count(self.max_retry),
            policies: self.policies.iter().filter_map(policy).collect(),
            tasks: self.tasks.iter().map(|task| self::task(task, &places)).collect(),
        }
    }
}

fn count(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

fn task(task: &TaskView, places: &BTreeMap<&str, u32>) -> GangTask {
    GangTask {
        name: task.name.clone(),
        replicas: count(task.replicas),
        min_available: count(task.min_available),
        max_retry: u32::try_from(task.max_retry).ok(),
        policies: task.policies.iter().filter_map(policy).collect(),
        depends_on: task
            .depends_on
            .as_ref()
            .and_then(|depends_on| self::depends_on(depends_on, places)),
        partition_size: task
            .partition_policy
            .as_ref()
            .and_then(|policy| policy.partition_size)
            .map(count),
    }
}

fn depends_on(depends_on: &TaskDependsOn, places: &BTreeMap<&str, u32>) -> Option<gang::DependsOn> {
    let names = depends_on.name.as_deref().filter(|names| !names.is_empty())?;
    Some(gang::DependsOn {
        tasks: names
            .iter()
            .filter_map(|name| places.get(name.as_str()).copied())
            .collect(),
        iteration: match depends_on.iteration.unwrap_or_default() {
            Iteration::All => gang::Iteration::All,
            Iteration::Any => gang::Iteration::Any,
        },
    })
}

fn policy(policy: &Policy) -> Option<gang::Policy> {
    Some(gang::Policy {
        events: policies::events(policy).filter_map(policies::event).collect(),
        exit_code: policy.exit_code,
        action: policies::action(policy.action.as_deref()?)?,
        timeout: policy.timeout.as_deref().and_then(duration::parse),
    })
}
