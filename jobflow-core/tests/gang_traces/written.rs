//! What is compared of a status, as Volcano and as the machine wrote it.

use std::collections::BTreeMap;

use jobflow_core::gang::{GangStatus, JobPhase, PodCounts, PodPhase};
use serde_json::Value;

use crate::manifest::{list, number};

/// What is compared of a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) phase: JobPhase,
    min_available: Option<u32>,
    pub(crate) version: u32,
    retry_count: u32,
    counts: PodCounts,
    task_status_count: BTreeMap<String, BTreeMap<PodPhase, u32>>,
    conditions: Vec<JobPhase>,
}

impl Written {
    /// Whether `next` differs in nothing but being one version up.
    pub(crate) fn is_rewritten_as(&self, next: &Self) -> bool {
        Self {
            version: self.version + 1,
            ..self.clone()
        } == *next
    }

    /// What the machine wrote.
    pub(crate) fn of(status: &GangStatus) -> Self {
        let GangStatus {
            phase,
            min_available,
            version,
            retry_count,
            counts,
            task_status_count,
            ..
        } = status;
        Self {
            phase: *phase,
            min_available: *min_available,
            version: *version,
            retry_count: *retry_count,
            counts: *counts,
            task_status_count: task_status_count.clone(),
            conditions: status
                .conditions
                .iter()
                .map(|condition| condition.status)
                .collect(),
        }
    }

    pub(crate) fn read(status: &Value) -> Self {
        let count = |key: &str| number(&status[key]).unwrap_or(0);
        Self {
            phase: JobPhase::parse(status["state"]["phase"].as_str().unwrap_or("")).unwrap(),
            min_available: number(&status["minAvailable"]),
            version: count("version"),
            retry_count: count("retryCount"),
            counts: PodCounts {
                pending: count("pending"),
                running: count("running"),
                succeeded: count("succeeded"),
                failed: count("failed"),
                terminating: count("terminating"),
                unknown: count("unknown"),
            },
            task_status_count: tasks(&status["taskStatusCount"]),
            conditions: list(&status["conditions"]).iter().map(phase).collect(),
        }
    }
}

/// `{task: {phase: {Running: 1}}}` without the level between.
fn tasks(value: &Value) -> BTreeMap<String, BTreeMap<PodPhase, u32>> {
    let tasks = value.as_object().into_iter().flatten();
    tasks
        .map(|(name, task)| (name.clone(), phases(&task["phase"])))
        .collect()
}

fn phases(value: &Value) -> BTreeMap<PodPhase, u32> {
    let phases = value.as_object().into_iter().flatten();
    phases
        .map(|(name, count)| (PodPhase::parse(name).unwrap(), number(count).unwrap()))
        .collect()
}

fn phase(condition: &Value) -> JobPhase {
    JobPhase::parse(condition["status"].as_str().unwrap()).unwrap()
}
