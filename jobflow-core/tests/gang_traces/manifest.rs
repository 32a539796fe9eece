//! From a Job as it was created to a spec of the machine, with the defaults that Volcano's admission sets.

use jobflow_core::gang::{Action, DependsOn, Event, GangSpec, GangTask, Iteration, Policy};
use serde_json::Value;

/// Reads `spec` of a Job.
pub(crate) fn spec(spec: &Value) -> GangSpec {
    let names: Vec<&str> = list(&spec["tasks"])
        .iter()
        .map(|task| task["name"].as_str().unwrap())
        .collect();
    let tasks: Vec<GangTask> = list(&spec["tasks"])
        .iter()
        .map(|value| task(value, &names))
        .collect();
    let mut spec = GangSpec {
        min_available: number(&spec["minAvailable"]).unwrap_or(0),
        min_success: number(&spec["minSuccess"]),
        max_retry: number(&spec["maxRetry"]).unwrap_or(3),
        policies: list(&spec["policies"]).iter().map(policy).collect(),
        tasks,
    };
    if spec.min_available == 0 {
        spec.min_available = spec.task_min_available();
    }
    spec
}

/// A number that may be missing.
pub(crate) fn number(value: &Value) -> Option<u32> {
    value.as_u64().map(|number| u32::try_from(number).unwrap())
}

/// A list that may be missing.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn task(value: &Value, names: &[&str]) -> GangTask {
    let replicas = number(&value["replicas"]).unwrap();
    GangTask {
        name: value["name"].as_str().unwrap().to_owned(),
        replicas,
        min_available: number(&value["minAvailable"]).unwrap_or(replicas),
        max_retry: Some(number(&value["maxRetry"]).unwrap_or(3)),
        policies: list(&value["policies"]).iter().map(policy).collect(),
        depends_on: value["dependsOn"]
            .is_object()
            .then(|| depends_on(&value["dependsOn"], names)),
        partition_size: None,
    }
}

fn depends_on(value: &Value, names: &[&str]) -> DependsOn {
    let place = |name: &Value| {
        names
            .iter()
            .position(|known| Some(*known) == name.as_str())
            .unwrap()
    };
    DependsOn {
        tasks: list(&value["name"])
            .iter()
            .map(|name| u32::try_from(place(name)).unwrap())
            .collect(),
        iteration: value["iteration"]
            .as_str()
            .map_or(Iteration::All, |text| Iteration::parse(text).unwrap()),
    }
}

fn policy(value: &Value) -> Policy {
    let event = value["event"].as_str().map(|text| Event::parse(text).unwrap());
    Policy {
        events: event.into_iter().collect(),
        exit_code: value["exitCode"]
            .as_i64()
            .map(|code| i32::try_from(code).unwrap()),
        action: Action::parse(value["action"].as_str().unwrap()).unwrap(),
        timeout: None,
    }
}
