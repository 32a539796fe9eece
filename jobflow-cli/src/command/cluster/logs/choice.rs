//! Which containers' logs are shown, in which order, and what each is called. Pure.

use k8s_openapi::api::core::v1::{ContainerState, ContainerStatus, Pod};

use crate::arguments::cluster::LogsArguments;
use crate::cluster::family::{OwnedJob, OwnedPod};
use crate::failure::Failure;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    node: Option<String>,
    task: Option<String>,
    index: Option<u32>,
    container: Option<String>,
    attempt: Option<u32>,
    previous: bool,
}

/// The log of a container.
#[derive(Clone, Debug)]
pub(super) struct Log {
    /// The pod.
    pub(super) pod: OwnedPod,
    /// The container.
    pub(super) container: String,
    /// What it is called before each line.
    pub(super) label: String,
}

impl Choice {
    /// Reads `NODE[/TASK[/INDEX]]`.
    pub(super) fn of(arguments: &LogsArguments) -> Result<Self, Failure> {
        let of = arguments.of.as_deref();
        let mut parts = of.into_iter().flat_map(|of| of.split('/'));
        let (node, task, index, more) = (parts.next(), parts.next(), parts.next(), parts.next());
        let index = index.map(str::parse).transpose();
        let is_empty = node.is_some_and(str::is_empty) || task.is_some_and(str::is_empty);
        let (Ok(index), None, false) = (index, more, is_empty) else {
            let message = format!("`{}` names no entry, task or replica", of.unwrap_or_default());
            return Err(Failure::wrong_input(message).with_help("write NODE, NODE/TASK or NODE/TASK/INDEX"));
        };
        Ok(Self {
            node: node.map(str::to_owned),
            task: task.map(str::to_owned),
            index,
            container: arguments.container.clone(),
            attempt: arguments.attempt,
            previous: arguments.previous,
        })
    }

    /// The entry that is asked for.
    pub(super) fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// The logs that there are: of pods that failed first, then in the order of the flow.
    pub(super) fn logs(&self, jobs: &[OwnedJob], pods: &[OwnedPod]) -> Result<Vec<Log>, Failure> {
        let mut wanted: Vec<(&OwnedJob, &OwnedPod)> = pods
            .iter()
            .filter_map(|pod| Some((jobs.get(pod.job)?, pod)))
            .filter(|(job, pod)| self.takes(job, pod))
            .collect();
        wanted.sort_by_key(|(_, pod)| !pod.has_failed());
        self.has_container(&wanted)?;
        Ok(wanted
            .into_iter()
            .flat_map(|(job, pod)| self.of_pod(job, pod))
            .collect())
    }

    fn takes(&self, job: &OwnedJob, pod: &OwnedPod) -> bool {
        let is =
            |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
        is(&self.node, job.node.as_deref())
            && is(&self.task, Some(&pod.task))
            && self.index.is_none_or(|index| index == pod.index)
            && self.attempt.is_none_or(|attempt| attempt == job.attempt)
    }

    fn has_container(&self, pods: &[(&OwnedJob, &OwnedPod)]) -> Result<(), Failure> {
        let Some(wanted) = self.container.as_deref().filter(|_| !pods.is_empty()) else {
            return Ok(());
        };
        let mut names: Vec<&str> = pods.iter().flat_map(|(_, pod)| containers(&pod.pod)).collect();
        if names.contains(&wanted) {
            return Ok(());
        }
        names.sort_unstable();
        names.dedup();
        let failure = Failure::wrong_input(format!("no pod has a container `{wanted}`"));
        Err(failure.with_help(format!("there are: {}", names.join(", "))))
    }

    fn of_pod(&self, job: &OwnedJob, pod: &OwnedPod) -> Vec<Log> {
        let wanted = containers(&pod.pod)
            .filter(|name| self.container.as_deref().is_none_or(|wanted| wanted == *name));
        wanted
            .filter(|name| has_log(&pod.pod, name, self.previous))
            .map(|name| Log {
                container: name.to_owned(),
                label: label(job, pod, name),
                pod: pod.clone(),
            })
            .collect()
    }
}

fn label(job: &OwnedJob, pod: &OwnedPod, container: &str) -> String {
    let node = job.node.as_deref().unwrap_or(&job.name);
    let item = match job.index {
        0 => String::new(),
        index => format!("[{index}]"),
    };
    let attempt = match job.attempt {
        0 | 1 => String::new(),
        attempt => format!(" attempt {attempt}"),
    };
    format!("{node}{item}/{}/{} {container}{attempt}", pod.task, pod.index)
}

/// The containers of a pod in the order in which they start.
fn containers(pod: &Pod) -> impl Iterator<Item = &str> {
    let spec = pod.spec.iter();
    spec.flat_map(|spec| {
        let first = spec.init_containers.iter().flatten();
        first
            .chain(&spec.containers)
            .map(|container| container.name.as_str())
    })
}

/// Whether a container has written, or may have: it was started, or was before it was restarted.
fn has_log(pod: &Pod, name: &str, previous: bool) -> bool {
    let status = pod.status.iter();
    let mut all = status.flat_map(|status| {
        let first = status.init_container_statuses.iter().flatten();
        first.chain(status.container_statuses.iter().flatten())
    });
    let Some(status) = all.find(|status| status.name == name) else {
        return false;
    };
    match previous {
        true => has_run(status.last_state.as_ref()),
        false => has_run(status.state.as_ref()) || started_before(status),
    }
}

fn started_before(status: &ContainerStatus) -> bool {
    has_run(status.last_state.as_ref())
}

fn has_run(state: Option<&ContainerState>) -> bool {
    state.is_some_and(|state| state.running.is_some() || state.terminated.is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(job: usize, index: u32, code: i32) -> OwnedPod {
        let state = |code: i32| json!({ "terminated": { "exitCode": code } });
        OwnedPod {
            pod: serde_json::from_value(json!({
                "metadata": { "name": format!("f-{job}-w-{index}") },
                "spec": { "initContainers": [{ "name": "prepare" }], "containers": [{ "name": "main" }, { "name": "late" }] },
                "status": {
                    "initContainerStatuses": [{ "name": "prepare", "image": "", "imageID": "", "ready": true, "restartCount": 0, "state": state(0) }],
                    "containerStatuses": [
                        { "name": "main", "image": "", "imageID": "", "ready": false, "restartCount": 1, "state": state(code), "lastState": state(1) },
                        { "name": "late", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": { "waiting": {} } },
                    ],
                },
            }))
            .unwrap(),
            job,
            task: "w".to_owned(),
            index,
        }
    }

    fn labels(choice: &Choice) -> Vec<String> {
        let job = |node: &str, attempt: u32| OwnedJob {
            name: format!("f-{node}"),
            uid: String::new(),
            node: Some(node.to_owned()),
            index: 0,
            attempt,
            phase: String::new(),
        };
        let jobs = [job("a", 1), job("b", 2)];
        let logs = choice
            .logs(&jobs, &[pod(0, 0, 0), pod(1, 0, 0), pod(1, 1, 3)])
            .unwrap();
        logs.into_iter().map(|log| log.label).collect()
    }

    #[test]
    fn those_that_failed_come_first_and_those_that_never_started_not_at_all() {
        let main = Choice {
            container: Some("main".to_owned()),
            ..Choice::default()
        };
        assert_eq!(
            labels(&main),
            ["b/w/1 main attempt 2", "a/w/0 main", "b/w/0 main attempt 2"]
        );
        let one = Choice {
            node: Some("a".to_owned()),
            ..Choice::default()
        };
        assert_eq!(labels(&one), ["a/w/0 prepare", "a/w/0 main"]);
        let before = Choice {
            previous: true,
            ..one
        };
        assert_eq!(labels(&before), ["a/w/0 main"]);
        let second = Choice {
            attempt: Some(1),
            index: Some(1),
            ..Choice::default()
        };
        assert!(labels(&second).is_empty());
    }
}
