//! What Volcano says against a Job. Faults follow each other in one text, each with a semicolon behind it.

use std::collections::BTreeSet;

use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::engine::queues;

/// The Jobs of a namespace.
pub(super) fn jobs(client: &Client, namespace: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job");
    Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind))
}

/// A Job that is refused by whoever looks at it.
pub(super) fn probe() -> DynamicObject {
    let kind = GroupVersionKind::gvk("batch.volcano.sh", "v1alpha1", "Job");
    let spec = json!({ "spec": { "minAvailable": 1, "tasks": [] } });
    DynamicObject::new("is-admission-asked", &ApiResource::from_gvk(&kind)).data(spec)
}

/// What is wrong with a Job; nothing if it may be created.
pub(super) async fn refusal(client: &Client, job: &Value) -> Option<String> {
    let spec = &job["spec"];
    let mut faults = of_tasks(spec);
    let queue = spec["queue"]
        .as_str()
        .filter(|queue| !queue.is_empty())
        .unwrap_or("default");
    let found = queues(client).get_opt(queue).await.ok()?;
    faults.extend(of_queue(queue, found.as_ref().map(|queue| &queue.data)));
    (!faults.is_empty()).then(|| faults.join(" "))
}

fn of_tasks(spec: &Value) -> Vec<String> {
    let tasks = || spec["tasks"].as_array().into_iter().flatten();
    let replicas: u64 = tasks().filter_map(|task| task["replicas"].as_u64()).sum();
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    let twice = tasks()
        .filter_map(|task| task["name"].as_str())
        .find(|name| !names.insert(*name));
    faults.extend(twice.map(|name| format!("duplicated task name {name};")));
    if spec["minAvailable"]
        .as_u64()
        .is_some_and(|least| least > replicas)
    {
        faults.push("job 'minAvailable' should not be greater than total replicas in tasks;".to_owned());
    }
    faults
}

/// A queue without a state counts as open.
fn of_queue(name: &str, queue: Option<&Value>) -> Option<String> {
    let Some(queue) = queue else {
        let fault = format!("unable to find job queue: queue.scheduling.volcano.sh \"{name}\" not found;");
        return Some(fault);
    };
    let state = queue["status"]["state"]
        .as_str()
        .filter(|state| !state.is_empty() && *state != "Open")?;
    Some(format!(
        "can only submit job to queue with state `Open`, queue `{name}` status is `{state}`;"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message of a recorded refusal, without what the API server puts before it.
    fn recorded(name: &str) -> &'static str {
        match name {
            "minAvailable" => "job 'minAvailable' should not be greater than total replicas in tasks;",
            "duplicate" => "duplicated task name main;",
            "missing" => "unable to find job queue: queue.scheduling.volcano.sh \"nowhere\" not found;",
            _ => "can only submit job to queue with state `Open`, queue `shut` status is `Closed`;",
        }
    }

    #[test]
    fn faults_have_the_words_that_were_recorded_of_volcano() {
        let task = json!({ "name": "main", "replicas": 1 });
        assert_eq!(
            of_tasks(&json!({ "minAvailable": 2, "tasks": [task] })),
            [recorded("minAvailable")]
        );
        assert_eq!(
            of_tasks(&json!({ "minAvailable": 1, "tasks": [task, task] })),
            [recorded("duplicate")]
        );
        assert_eq!(of_queue("nowhere", None).as_deref(), Some(recorded("missing")));
        let closed = json!({ "status": { "state": "Closed" } });
        assert_eq!(
            of_queue("shut", Some(&closed)).as_deref(),
            Some(recorded("closed"))
        );
    }

    #[test]
    fn a_job_that_is_well_is_not_refused() {
        let spec = json!({ "minAvailable": 1, "tasks": [{ "name": "main", "replicas": 1 }] });
        assert_eq!(of_tasks(&spec), [""; 0]);
        assert_eq!(
            of_queue("default", Some(&json!({ "status": { "state": "Open" } }))),
            None
        );
        assert_eq!(of_queue("default", Some(&json!({}))), None);
    }
}
