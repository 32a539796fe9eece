//! What is asked of the server for an explanation: no more than what can say something, a few requests in all.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_core::record::FlowRecord;
use jobflow_core::snapshot::JobView;
use jobflow_core::{JobKey, NodePhase, Reason};
use jobflow_k8s::frozen::{flow_of, source_of};
use jobflow_k8s::names::{CREATED_BY_FLOW, label_value};
use jobflow_k8s::observe::{Owner, Ownership, PodsSeen, SlimJob, SlimPod, account, job_view, ownership};
use jobflow_k8s::parse::Flow as Parsed;
use jobflow_k8s::types::{JobFlowSpec, TemplateBinding};
use kube::api::{DynamicObject, ListParams};
use serde_json::{Map, Value};

use super::{key, open};
use crate::cluster::flow::Flow;
use crate::cluster::live::Around;
use crate::cluster::queues::queue;
use crate::cluster::{Cluster, kinds, pages};
use crate::failure::Failure;
use crate::standing::stored::entries;

/// Label of a pod: the name of its Job.
const JOB_NAME: &str = "volcano.sh/job-name";
/// Jobs whose pods are asked for: their names stand in the address.
const MOST_JOBS: usize = 20;
/// Jobs whose events are asked for, one request each.
const MOST_EVENTFUL: usize = 5;

/// What was found, and what could not be looked at.
#[derive(Debug, Default)]
pub(super) struct Looked {
    specs: BTreeMap<String, Map<String, Value>>,
    /// None if templates may not be looked at.
    templates: Option<BTreeSet<String>>,
    jobs: BTreeMap<JobKey, SlimJob>,
    pods: BTreeMap<JobKey, Vec<DynamicObject>>,
    groups: BTreeMap<JobKey, DynamicObject>,
    events: BTreeMap<JobKey, Vec<DynamicObject>>,
    queues: Option<BTreeMap<String, DynamicObject>>,
    /// The queue of each Job, or of the one that is to be made.
    goes_to: BTreeMap<JobKey, String>,
    quotas: Vec<DynamicObject>,
    unseen: Vec<String>,
}

impl Looked {
    /// The specs of templates, by name; of a flow that freezes them, as they were frozen.
    pub(super) fn specs(&self) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
        self.specs.iter()
    }

    /// The templates that are there.
    pub(super) fn template_names(&self) -> Option<BTreeSet<String>> {
        self.templates.clone()
    }

    /// What may not be looked at.
    pub(super) fn unseen(&self) -> &[String] {
        &self.unseen
    }

    /// Jobs as a plan sees them.
    pub(super) fn views(&self) -> BTreeMap<JobKey, JobView> {
        let view = |(key, job): (&JobKey, &SlimJob)| {
            let pods = self.pods.get(key).map(|pods| seen(job, pods));
            (*key, job_view(job, pods.as_ref()))
        };
        self.jobs.iter().map(view).collect()
    }

    /// What was found about one Job.
    pub(super) fn of(&self, key: JobKey) -> Around<'_> {
        let queue = self.goes_to.get(&key).map(String::as_str);
        let object = self.queues.as_ref().zip(queue);
        Around {
            queue,
            queue_object: object.map(|(queues, queue)| queues.get(queue)),
            group: self.groups.get(&key),
            pods: self.pods.get(&key).into_iter().flatten().collect(),
            events: self.events.get(&key).into_iter().flatten().collect(),
            quotas: &self.quotas,
        }
    }

    pub(super) async fn templates(&mut self, cluster: &Cluster, flow: &Flow) -> Result<(), Failure> {
        let Ok(object) = &flow.read else { return Ok(()) };
        let used = used(&object.spec);
        let api = kinds::api(&cluster.client, Some(flow.namespace()), &kinds::templates());
        let intent = "list templates";
        let found = match pages::seen(cluster, intent, &api, ListParams::default()).await? {
            Ok(found) => found,
            Err(why) => {
                self.unseen.push(why);
                return Ok(());
            }
        };
        let frozen = object.spec.template_binding == Some(TemplateBinding::Snapshot);
        let mut specs = BTreeMap::new();
        for template in &found {
            let Some(spec) = template.data.get("spec").and_then(Value::as_object) else {
                continue;
            };
            let own = template
                .metadata
                .name
                .as_deref()
                .filter(|name| used.contains(*name));
            let copied = source_of(&template.metadata)
                .filter(|_| frozen && flow_of(&template.metadata) == Some(flow.uid()));
            if let Some(name) = copied {
                specs.insert(name.to_owned(), spec.clone());
            } else if let Some(name) = own {
                specs.entry(name.to_owned()).or_insert_with(|| spec.clone());
            }
        }
        self.templates = Some(specs.keys().cloned().collect());
        self.specs = specs;
        Ok(())
    }

    pub(super) async fn jobs(
        &mut self,
        cluster: &Cluster,
        flow: &Flow,
        parsed: &Parsed,
    ) -> Result<(), Failure> {
        let api = kinds::api(&cluster.client, Some(flow.namespace()), &kinds::jobs());
        let created_by = label_value(&format!("{}.{}", flow.namespace(), flow.name()));
        let selection = ListParams::default().labels(&format!("{CREATED_BY_FLOW}={created_by}"));
        let intent = format!("list the jobs of flow `{}`", flow.name());
        let owner = Owner {
            name: flow.name(),
            uid: flow.uid(),
            flow: parsed,
        };
        match pages::seen(cluster, &intent, &api, selection).await? {
            Ok(found) => {
                for job in found.iter().filter_map(decoded::<SlimJob>) {
                    if let Ownership::Ours(key) = ownership(&job, owner, |_| true) {
                        self.jobs.insert(key, job);
                    }
                }
            }
            Err(why) => self.unseen.push(why),
        }
        Ok(())
    }

    /// What there is beside the Jobs that hold something up.
    pub(super) async fn around(
        &mut self,
        cluster: &Cluster,
        flow: &Flow,
        parsed: &Parsed,
        record: &FlowRecord,
    ) -> Result<(), Failure> {
        self.goes_to = self.find_queues(flow, parsed, record);
        let live = open(record, &[NodePhase::Queued, NodePhase::Running]);
        let queued = open(record, &[NodePhase::Queued]);
        let short_of = |reason| record.nodes.iter().any(|(_, node)| node.reason == Some(reason));
        if live.iter().any(|key| self.jobs.contains_key(key)) {
            self.pods(cluster, flow, &live).await?;
        }
        if queued.iter().any(|key| self.jobs.contains_key(key)) {
            self.groups(cluster, flow, &queued).await?;
            self.events(cluster, flow, &queued).await?;
        }
        if !queued.is_empty() || short_of(Reason::QueueUnavailable) {
            self.queues(cluster).await?;
        }
        if short_of(Reason::QuotaExceeded) {
            self.quotas(cluster, flow).await?;
        }
        Ok(())
    }

    fn find_queues(&self, flow: &Flow, parsed: &Parsed, record: &FlowRecord) -> BTreeMap<JobKey, String> {
        let Ok(object) = &flow.read else {
            return BTreeMap::new();
        };
        let named = |(name, spec): (&String, &Map<String, Value>)| {
            Some((name.clone(), spec.get("queue")?.as_str()?.to_owned()))
        };
        let templates = self.specs.iter().filter_map(named).collect();
        let nodes = record.nodes.iter().zip(&parsed.entries);
        nodes
            .map(|((node, record), entry)| {
                (key(node, record.attempt), queue(entry, &object.spec, &templates))
            })
            .collect()
    }

    async fn pods(&mut self, cluster: &Cluster, flow: &Flow, keys: &BTreeSet<JobKey>) -> Result<(), Failure> {
        let asked = keys.iter().filter_map(|key| self.jobs.get(key)).take(MOST_JOBS);
        let names: Vec<String> = asked.map(|job| label_value(job.name())).collect();
        let selection = ListParams::default().labels(&format!("{JOB_NAME} in ({})", names.join(",")));
        let found = self
            .list(cluster, flow, &kinds::pods(), "list pods", selection)
            .await?;
        for pod in found {
            if let Some(key) = self.owner(&pod) {
                self.pods.entry(key).or_default().push(pod);
            }
        }
        Ok(())
    }

    async fn groups(
        &mut self,
        cluster: &Cluster,
        flow: &Flow,
        keys: &BTreeSet<JobKey>,
    ) -> Result<(), Failure> {
        let (kind, selection) = (kinds::pod_groups(), ListParams::default());
        let found = self
            .list(cluster, flow, &kind, "list PodGroups", selection)
            .await?;
        for group in found {
            if let Some(key) = self.owner(&group).filter(|key| keys.contains(key)) {
                self.groups.insert(key, group);
            }
        }
        Ok(())
    }

    async fn events(
        &mut self,
        cluster: &Cluster,
        flow: &Flow,
        keys: &BTreeSet<JobKey>,
    ) -> Result<(), Failure> {
        let asked: Vec<(JobKey, String)> = keys
            .iter()
            .filter_map(|key| Some((*key, self.jobs.get(key)?.uid().to_owned())))
            .take(MOST_EVENTFUL)
            .collect();
        for (key, uid) in asked {
            let selection = ListParams::default().fields(&format!("involvedObject.uid={uid}"));
            let mut found = self
                .list(cluster, flow, &kinds::events(), "list events", selection)
                .await?;
            found.sort_by_key(|event| event.data.get("lastTimestamp").map(ToString::to_string));
            self.events.insert(key, found);
        }
        Ok(())
    }

    async fn queues(&mut self, cluster: &Cluster) -> Result<(), Failure> {
        let api = kinds::api(&cluster.client, None, &kinds::queues());
        match pages::seen(cluster, "list queues", &api, ListParams::default()).await? {
            Ok(found) => {
                let named = |queue: DynamicObject| (queue.metadata.name.clone().unwrap_or_default(), queue);
                self.queues = Some(found.into_iter().map(named).collect());
            }
            Err(why) => self.unseen.push(why),
        }
        Ok(())
    }

    async fn quotas(&mut self, cluster: &Cluster, flow: &Flow) -> Result<(), Failure> {
        let (kind, selection) = (kinds::quotas(), ListParams::default());
        self.quotas = self.list(cluster, flow, &kind, "list quotas", selection).await?;
        Ok(())
    }

    async fn list(
        &mut self,
        cluster: &Cluster,
        flow: &Flow,
        kind: &kube::api::ApiResource,
        intent: &str,
        selection: ListParams,
    ) -> Result<Vec<DynamicObject>, Failure> {
        let api = kinds::api(&cluster.client, Some(flow.namespace()), kind);
        match pages::seen(cluster, intent, &api, selection).await? {
            Ok(found) => Ok(found),
            Err(why) => {
                if !self.unseen.contains(&why) {
                    self.unseen.push(why);
                }
                Ok(Vec::new())
            }
        }
    }

    /// The Job that an object belongs to: by its controller's UID.
    fn owner(&self, object: &DynamicObject) -> Option<JobKey> {
        let mut owners = object.metadata.owner_references.iter().flatten();
        let owner = owners.find(|owner| owner.controller == Some(true))?;
        let mut jobs = self.jobs.iter();
        jobs.find(|(_, job)| job.uid() == owner.uid).map(|(key, _)| *key)
    }
}

/// Templates that entries name.
fn used(spec: &JobFlowSpec) -> BTreeSet<&str> {
    let entries = entries(spec).filter(|entry| entry.job_spec.is_none());
    entries
        .map(|entry| entry.template.as_deref().unwrap_or(&entry.name))
        .collect()
}

fn seen(job: &SlimJob, pods: &[DynamicObject]) -> PodsSeen {
    let pods: Vec<SlimPod> = pods.iter().filter_map(decoded).collect();
    account(job, &pods, 0)
}

fn decoded<T: serde::de::DeserializeOwned>(object: &DynamicObject) -> Option<T> {
    serde_json::from_value(serde_json::to_value(object).ok()?).ok()
}
