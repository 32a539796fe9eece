//! What belongs to a flow: its Jobs, and their pods. By owner, never by a label alone, which anybody may write.

use std::collections::BTreeMap;

use jobflow_k8s::names::{ANNOTATION_NODE, CREATED_BY_FLOW, job_name, label_value};
use jobflow_k8s::types::Entry;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::Api;
use kube::api::{DynamicObject, ListParams};
use kube::core::ObjectMeta;

use super::flow::Flow;
use super::refusal::refusal;
use super::{Cluster, kinds, pages};
use crate::failure::Failure;
use crate::standing::stored::entries;

/// Jobs whose pods are asked for at once: their names stand in the address.
const JOBS_AT_ONCE: usize = 20;
/// Label of a pod: the name of its Job.
const JOB_NAME: &str = "volcano.sh/job-name";
/// Label and annotation of a pod: the task that it belongs to.
const TASK: &str = "volcano.sh/task-spec";

/// A Job of a flow.
#[derive(Clone, Debug)]
pub(crate) struct OwnedJob {
    /// Its name.
    pub(crate) name: String,
    /// Its UID.
    pub(crate) uid: String,
    /// The entry that it was made for; none if that can't be told.
    pub(crate) node: Option<String>,
    /// Which item of a group.
    pub(crate) index: u32,
    /// Which attempt, from 1.
    pub(crate) attempt: u32,
    /// Its phase, as Volcano writes it.
    pub(crate) phase: String,
}

/// A pod of a Job of a flow.
#[derive(Clone, Debug)]
pub(crate) struct OwnedPod {
    /// The pod.
    pub(crate) pod: Pod,
    /// The Job's place among the flow's Jobs.
    pub(crate) job: usize,
    /// Its task.
    pub(crate) task: String,
    /// Its number within the task.
    pub(crate) index: u32,
}

/// The Jobs of a flow: in the order of its entries, then by item and attempt.
pub(crate) async fn jobs(cluster: &Cluster, flow: &Flow) -> Result<Vec<OwnedJob>, Failure> {
    let api = kinds::api(&cluster.client, Some(flow.namespace()), &kinds::jobs());
    let created_by = label_value(&format!("{}.{}", flow.namespace(), flow.name()));
    let selection = ListParams::default().labels(&format!("{CREATED_BY_FLOW}={created_by}"));
    let intent = format!("list the jobs of flow `{}`", flow.name());
    let objects = pages::all(cluster, &intent, &api, selection).await?;
    let names: Vec<&Entry> = flow.read.iter().flat_map(|read| entries(&read.spec)).collect();
    let mut jobs: Vec<OwnedJob> = objects
        .iter()
        .filter(|job| is_owned_by(&job.metadata, flow.uid()))
        .map(|job| owned(job, flow.name(), &names))
        .collect();
    let place = |job: &OwnedJob| {
        let node = job.node.as_deref();
        names
            .iter()
            .position(|entry| Some(entry.name.as_str()) == node)
            .unwrap_or(usize::MAX)
    };
    jobs.sort_by_cached_key(|job| {
        (
            place(job),
            job.node.clone(),
            job.index,
            job.attempt,
            job.name.clone(),
        )
    });
    Ok(jobs)
}

/// The pods of Jobs: in the order of the Jobs, then by task and number.
pub(crate) async fn pods(
    cluster: &Cluster,
    namespace: &str,
    jobs: &[OwnedJob],
) -> Result<Vec<OwnedPod>, Failure> {
    let api: Api<Pod> = Api::namespaced(cluster.client.clone(), namespace);
    let by_uid: BTreeMap<&str, usize> = jobs
        .iter()
        .enumerate()
        .map(|(at, job)| (job.uid.as_str(), at))
        .collect();
    let mut pods = Vec::new();
    for some in jobs.chunks(JOBS_AT_ONCE) {
        let names: Vec<String> = some.iter().map(|job| label_value(&job.name)).collect();
        let mut page = ListParams::default()
            .labels(&format!("{JOB_NAME} in ({})", names.join(",")))
            .limit(500);
        loop {
            let intent = "list the pods of the flow";
            let list = cluster.ask(intent, api.list(&page)).await?;
            pods.extend(
                list.items
                    .into_iter()
                    .filter_map(|pod| owned_pod(pod, jobs, &by_uid)),
            );
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => break,
            }
        }
    }
    pods.sort_by(|a, b| (a.job, &a.task, a.index, a.name()).cmp(&(b.job, &b.task, b.index, b.name())));
    Ok(pods)
}

/// One pod, if it is still there and still of that Job.
pub(crate) async fn pod(cluster: &Cluster, namespace: &str, of: &OwnedPod) -> Result<Option<Pod>, Failure> {
    let api: Api<Pod> = Api::namespaced(cluster.client.clone(), namespace);
    let found = cluster.attempt("read a pod", api.get_opt(of.name())).await?;
    let found = found.map_err(|error| refusal("read a pod", &error))?;
    Ok(found.filter(|pod| pod.metadata.uid == of.pod.metadata.uid))
}

impl OwnedPod {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.pod.metadata.name.as_deref().unwrap_or_default()
    }

    /// Its phase.
    pub(crate) fn phase(&self) -> &str {
        phase(&self.pod)
    }

    /// Why it stands there: what its containers wait for, or how they ended.
    pub(crate) fn reason(&self) -> Option<String> {
        let status = self.pod.status.as_ref()?;
        let of_containers = containers(&self.pod).find_map(container_reason);
        let unscheduled = || {
            let conditions = status.conditions.iter().flatten();
            let mut bad = conditions
                .filter(|condition| condition.type_ == "PodScheduled" && condition.status == "False");
            bad.find_map(|condition| condition.reason.clone())
        };
        status.reason.clone().or(of_containers).or_else(unscheduled)
    }

    /// The node of the cluster that it runs on.
    pub(crate) fn machine(&self) -> Option<&str> {
        self.pod.spec.as_ref()?.node_name.as_deref()
    }

    /// Whether it or one of its containers failed.
    pub(crate) fn has_failed(&self) -> bool {
        let ended_badly = |status: &ContainerStatus| {
            let state = status.state.as_ref().and_then(|state| state.terminated.as_ref());
            state.is_some_and(|ended| ended.exit_code != 0)
        };
        self.phase() == "Failed" || containers(&self.pod).any(ended_badly)
    }
}

/// The phase of a pod.
pub(crate) fn phase(pod: &Pod) -> &str {
    let status = pod.status.as_ref();
    status
        .and_then(|status| status.phase.as_deref())
        .unwrap_or("Pending")
}

fn containers(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    let status = pod.status.iter();
    status.flat_map(|status| {
        let first = status.init_container_statuses.iter().flatten();
        first.chain(status.container_statuses.iter().flatten())
    })
}

fn container_reason(status: &ContainerStatus) -> Option<String> {
    let state = status.state.as_ref()?;
    if let Some(waiting) = &state.waiting {
        return waiting.reason.clone();
    }
    let ended = state.terminated.as_ref().filter(|ended| ended.exit_code != 0)?;
    let code = format!("exit code {}", ended.exit_code);
    match ended.reason.as_deref() {
        None | Some("" | "Error") => Some(code),
        Some(reason) => Some(format!("{reason}, {code}")),
    }
}

fn is_owned_by(metadata: &ObjectMeta, uid: &str) -> bool {
    let mut owners = metadata.owner_references.iter().flatten();
    owners.any(|owner| owner.controller == Some(true) && owner.uid == uid)
}

fn owned(job: &DynamicObject, flow: &str, entries: &[&Entry]) -> OwnedJob {
    let name = job.metadata.name.clone().unwrap_or_default();
    let annotations = job.metadata.annotations.as_ref();
    let key = annotations
        .and_then(|all| all.get(ANNOTATION_NODE))
        .and_then(|text| key(text));
    // Volcano's own controller writes no key, and makes one Job an entry.
    let plain = || {
        let of_name = |entry: &&&Entry| job_name(flow, &entry.name, None, 1) == name;
        entries
            .iter()
            .find(of_name)
            .map(|entry| (entry.name.clone(), 0, 1))
    };
    let key = key.or_else(plain);
    let phase = job
        .data
        .pointer("/status/state/phase")
        .and_then(|phase| phase.as_str());
    OwnedJob {
        uid: job.metadata.uid.clone().unwrap_or_default(),
        phase: phase
            .filter(|phase| !phase.is_empty())
            .unwrap_or("Pending")
            .to_owned(),
        index: key.as_ref().map_or(0, |(_, index, _)| *index),
        attempt: key.as_ref().map_or(1, |(_, _, attempt)| *attempt),
        node: key.map(|(node, _, _)| node),
        name,
    }
}

/// `<entry>/<index>/<attempt>`.
fn key(text: &str) -> Option<(String, u32, u32)> {
    let mut parts = text.rsplitn(3, '/');
    let (attempt, index, node) = (parts.next()?, parts.next()?, parts.next()?);
    Some((node.to_owned(), index.parse().ok()?, attempt.parse().ok()?))
}

fn owned_pod(pod: Pod, jobs: &[OwnedJob], by_uid: &BTreeMap<&str, usize>) -> Option<OwnedPod> {
    let mut owners = pod.metadata.owner_references.iter().flatten();
    let owner = owners.find(|owner| owner.controller == Some(true))?;
    let job = *by_uid.get(owner.uid.as_str())?;
    let name = pod.metadata.name.as_deref()?;
    // A pod is of this Job only if its name says so too.
    let (task, index) = name
        .strip_prefix(&jobs.get(job)?.name)?
        .strip_prefix('-')?
        .rsplit_once('-')?;
    let labelled = pod.metadata.labels.as_ref().and_then(|labels| labels.get(TASK));
    let task = labelled
        .filter(|label| *label == task)
        .map_or(task, String::as_str)
        .to_owned();
    let index = index.parse().ok()?;
    Some(OwnedPod {
        job,
        task,
        index,
        pod,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job() -> OwnedJob {
        OwnedJob {
            name: "f-train".to_owned(),
            uid: "u1".to_owned(),
            node: Some("train".to_owned()),
            index: 0,
            attempt: 1,
            phase: "Running".to_owned(),
        }
    }

    fn pod(name: &str, owner: &str) -> Pod {
        serde_json::from_value(json!({ "metadata": { "name": name, "ownerReferences": [
            { "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "x", "uid": owner, "controller": true },
        ] } }))
        .unwrap()
    }

    #[test]
    fn a_pod_belongs_to_a_job_by_owner_and_name() {
        let jobs = [job()];
        let by_uid: BTreeMap<&str, usize> = [("u1", 0)].into();
        let found = |name: &str, owner: &str| {
            owned_pod(pod(name, owner), &jobs, &by_uid).map(|pod| (pod.task, pod.index))
        };
        assert_eq!(
            found("f-train-worker-a-12", "u1"),
            Some(("worker-a".to_owned(), 12))
        );
        assert_eq!(found("f-train-worker-0", "u2"), None);
        assert_eq!(found("other-worker-0", "u1"), None);
        assert_eq!(found("f-train", "u1"), None);
    }

    #[test]
    fn the_key_of_a_job_is_read_from_its_end() {
        assert_eq!(key("train/3/2"), Some(("train".to_owned(), 3, 2)));
        for bad in ["", "train", "train/1", "train/x/1", "train/1/-1"] {
            assert_eq!(key(bad), None, "{bad}");
        }
    }
}
