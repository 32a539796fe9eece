//! Who a pod is: name, labels and annotations as Volcano's controller gives them.

use std::{collections::BTreeMap, net::Ipv4Addr};

use super::template::Metadata;

/// The Job that a pod belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobIdentity {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its UID.
    pub uid: String,
    /// Its queue.
    pub queue: String,
}

/// Which pod of its Job it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodPlace<'a> {
    /// The task.
    pub task: &'a str,
    /// The replica of the task.
    pub index: u32,
    /// How often the Job was restarted.
    pub version: u32,
    /// How many restarts counted as retries.
    pub retry_count: u32,
}

/// What a container may ask about its pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodIdentity {
    /// `<job>-<task>-<index>`.
    pub name: String,
    /// The Job's namespace.
    pub namespace: String,
    /// Unique to this pod.
    pub uid: String,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// The loopback address that is its own.
    pub address: Ipv4Addr,
    /// The machine's name.
    pub node: String,
    /// The service account's name.
    pub service_account: String,
}

impl PodIdentity {
    /// Describes a pod of a Job.
    pub fn new(
        job: &JobIdentity,
        place: PodPlace<'_>,
        metadata: &Metadata,
        address: Ipv4Addr,
        node: &str,
        service_account: Option<&str>,
    ) -> Self {
        let PodPlace {
            task,
            index,
            version,
            retry_count,
        } = place;
        let name = format!("{}-{task}-{index}", job.name);
        let uid = format!("{}-{task}-{index}-{version}", job.uid);
        let both = [
            ("volcano.sh/job-name", job.name.clone()),
            ("volcano.sh/queue-name", job.queue.clone()),
            ("volcano.sh/task-index", index.to_string()),
            ("volcano.sh/task-spec", task.to_owned()),
        ];
        let label = ("volcano.sh/job-namespace", job.namespace.clone());
        let notes = [
            ("volcano.sh/job-retry-count", retry_count.to_string()),
            ("volcano.sh/job-version", version.to_string()),
            ("volcano.sh/template-uid", format!("{}-{task}", job.name)),
            (
                "scheduling.k8s.io/group-name",
                format!("{}-{}", job.name, job.uid),
            ),
        ];
        Self {
            name,
            namespace: job.namespace.clone(),
            uid,
            labels: with(&metadata.labels, both.clone().into_iter().chain([label])),
            annotations: with(&metadata.annotations, both.into_iter().chain(notes)),
            address,
            node: node.to_owned(),
            service_account: service_account.unwrap_or("default").to_owned(),
        }
    }
}

fn with(
    own: &BTreeMap<String, String>,
    added: impl Iterator<Item = (&'static str, String)>,
) -> BTreeMap<String, String> {
    let mut all = own.clone();
    all.extend(added.map(|(key, value)| (key.to_owned(), value)));
    all
}
