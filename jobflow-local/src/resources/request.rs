//! What pods and gangs ask for.

use std::collections::BTreeMap;

use jobflow_k8s::fault::FieldPath;
use serde_json::Value;

use super::Quantity;
use crate::pod::{
    PodFault,
    template::{Container, PodTemplate},
};

/// Amounts by resource.
pub type Amounts = BTreeMap<String, Quantity>;

/// Computes what a pod asks for: its containers together, or its hungriest init container if that is more.
///
/// # Errors
///
/// A fault for each quantity that can't be read.
pub fn pod_request(template: &PodTemplate) -> Result<Amounts, Vec<PodFault>> {
    let mut faults = Vec::new();
    let amounts = template
        .all_containers()
        .map(|(path, container)| container_request(&path.field("resources"), container, &mut faults));
    let mut init: Vec<Amounts> = amounts.collect();
    let together = init.split_off(template.spec.init_containers.len());
    let mut total = Amounts::new();
    together.iter().for_each(|amounts| add(&mut total, amounts, 1));
    for (resource, amount) in init.into_iter().flatten() {
        let entry = total.entry(resource).or_default();
        *entry = (*entry).max(amount);
    }
    if faults.is_empty() { Ok(total) } else { Err(faults) }
}

/// A missing request is the limit.
fn container_request(path: &FieldPath, container: &Container, faults: &mut Vec<PodFault>) -> Amounts {
    let mut amounts = Amounts::new();
    let levels = [
        ("limits", &container.resources.limits),
        ("requests", &container.resources.requests),
    ];
    for (field, values) in levels {
        for (resource, value) in values {
            let path = || path.field(field).field(resource);
            match read(value) {
                Ok(amount) => drop(amounts.insert(resource.clone(), amount)),
                Err(message) => faults.push(PodFault::new(path(), message)),
            }
        }
    }
    amounts
}

fn read(value: &Value) -> Result<Quantity, String> {
    Quantity::read(value).map_err(|error| error.to_string())
}

/// Computes what a gang needs before any of it may start: of each task its `minAvailable` pods, and then further
/// replicas in the order of the spec until the job's `minAvailable` is reached.
///
/// A task is what its pod asks for, its replicas, and its `minAvailable`.
pub fn gang_request(tasks: &[(Amounts, u32, u32)], min_available: u32) -> Amounts {
    let mut total = Amounts::new();
    let mut left = min_available;
    for (amounts, replicas, least) in tasks {
        let count = (*least).min(*replicas).min(left);
        add(&mut total, amounts, count);
        left -= count;
    }
    for (amounts, replicas, least) in tasks {
        let count = replicas.saturating_sub(*least).min(left);
        add(&mut total, amounts, count);
        left -= count;
    }
    total
}

fn add(total: &mut Amounts, amounts: &Amounts, count: u32) {
    for (resource, amount) in amounts {
        let entry = total.entry(resource.clone()).or_default();
        *entry = entry.plus(amount.times(count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn amounts(pairs: &[(&str, &str)]) -> Amounts {
        let read = |&(name, text): &(&str, &str)| (name.to_owned(), Quantity::parse(text).unwrap());
        pairs.iter().map(read).collect()
    }

    #[test]
    fn containers_add_up_and_init_containers_do_not() {
        let template = PodTemplate::read(&json!({"spec": {
            "initContainers": [
                {"name": "i", "command": ["a"], "resources": {"requests": {"cpu": 1, "memory": "1Gi"}}},
                {"name": "j", "command": ["a"], "resources": {"requests": {"cpu": "100m"}}}],
            "containers": [
                {"name": "a", "command": ["a"], "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": 2, "memory": "64Mi"}}},
                {"name": "b", "command": ["a"], "resources": {"limits": {"cpu": "500m", "nvidia.com/gpu": 1}}}]}}))
        .unwrap();
        let expected = amounts(&[("cpu", "1500m"), ("memory", "1Gi"), ("nvidia.com/gpu", "1")]);
        assert_eq!(pod_request(&template), Ok(expected));
    }

    #[test]
    fn a_quantity_that_cannot_be_read_is_named() {
        let template = json!({"spec": {"containers": [{"name": "a", "command": ["a"], "resources": {"limits": {"cpu": "-1"}}}]}});
        let faults = pod_request(&PodTemplate::read(&template).unwrap()).unwrap_err();
        assert_eq!(
            faults[0].path.to_string(),
            "spec.containers[0].resources.limits.cpu"
        );
    }

    #[test]
    fn a_gang_needs_its_least_pods_only() {
        let tasks = [
            (amounts(&[("cpu", "1")]), 3, 1),
            (amounts(&[("cpu", "10")]), 2, 1),
        ];
        let cpu = |least| {
            gang_request(&tasks, least)
                .get("cpu")
                .copied()
                .unwrap_or_default()
                .to_string()
        };
        assert_eq!(
            [cpu(0), cpu(1), cpu(2), cpu(3), cpu(5)],
            ["0", "1", "11", "12", "23"]
        );
    }
}
