//! One Job: the core's model of it, and its pods as the store has them.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use jobflow_core::Time;
use jobflow_core::gang::{
    Admission, Command, GangPlan, GangSpec, GangState, PodKey, PodPhase, PodView, Pods, step,
};
use jobflow_core::testing::Life;
use jobflow_k8s::fault::FieldPath;
use jobflow_k8s::job::JobView;
use jobflow_k8s::schema::Schemas;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::node::Pod;
use super::{owner, status};
use crate::{Change, Key, Service, What, object};

/// Jobs with more pods are left alone: each pod is an object here.
const MOST_PODS: u32 = 1_000;

/// From one status of a Job to the next, at least: what lies between two of them in recordings.
const PAUSE: Duration = Duration::from_millis(40);

/// A Job that Volcano knows.
pub(super) struct Gang {
    pub(super) key: Key,
    pub(super) leaving: bool,
    pub(super) gone: bool,
    commands: VecDeque<Command>,
    uid: String,
    queue: String,
    life: Life,
    spec: GangSpec,
    state: GangState,
    seen: Pods,
    pods: BTreeMap<PodKey, Pod>,
    wake: Option<Instant>,
    /// Until when Volcano is busy with what it wrote last.
    busy: Instant,
}

impl Gang {
    /// A Job that was just seen; none if its spec can't be read, or is too large to be played.
    pub(super) fn new(key: &Key, job: &Value, life: Life, now: i64, schemas: &Schemas) -> Option<Self> {
        let spec = job["spec"].as_object()?;
        let (view, _) = JobView::read(schemas, spec, &FieldPath::root()).ok()?;
        if view.gang().replicas() > MOST_PODS {
            return None;
        }
        Some(Self {
            key: key.clone(),
            leaving: object::is_leaving(job),
            gone: false,
            commands: VecDeque::new(),
            uid: object::uid(job).to_owned(),
            queue: view.queue.clone(),
            life,
            spec: view.gang(),
            state: GangState::new(Time(now)),
            seen: Pods::default(),
            pods: BTreeMap::new(),
            wake: Some(Instant::now()),
            busy: Instant::now(),
        })
    }

    pub(super) fn has_pods(&self) -> bool {
        !self.pods.is_empty()
    }

    /// When it has something to do even if nothing changes.
    pub(super) fn next(&self) -> Option<Instant> {
        let pods = self.pods.values().filter_map(Pod::due);
        let wake = self.wake.filter(|_| !self.leaving);
        let wake = wake.map(|wake| wake.max(self.busy));
        pods.chain(wake).min()
    }

    /// A pod of it was changed, by whomever.
    pub(super) fn pod_changed(&mut self, change: &Change) {
        let uid = object::uid(&change.object);
        let pod = self.pods.iter_mut().find(|(_, pod)| pod.uid == uid);
        let Some((key, pod)) = pod.map(|(key, pod)| (*key, pod)) else {
            return;
        };
        if change.what == What::Deleted {
            self.pods.remove(&key);
            self.seen.seen.remove(&key);
        } else if object::is_leaving(&change.object) {
            pod.is_told_to_go();
            if let Some(view) = self.seen.seen.get_mut(&key) {
                view.terminating = true;
            }
        }
        self.wake = Some(Instant::now());
    }

    /// Lets its pods do what is due.
    pub(super) fn play(&mut self, service: &Service, now: Instant) {
        let due: Vec<PodKey> = self
            .pods
            .iter()
            .filter(|(_, pod)| pod.due().is_some_and(|due| due <= now))
            .map(|(key, _)| *key)
            .collect();
        for key in due {
            let Some(pod) = self.pods.get_mut(&key) else {
                continue;
            };
            let view = pod.advance(service, &self.key, self.life, now);
            if let (Some(view), Some(seen)) = (view, self.seen.seen.get_mut(&key)) {
                *seen = PodView {
                    terminating: seen.terminating,
                    ..view
                };
            }
            self.wake = Some(now);
        }
    }

    /// Steps until nothing more is to be decided now, or something was written.
    pub(super) fn decide(&mut self, service: &Service, now: Instant) {
        while self.wake.is_some_and(|wake| wake <= now) && self.busy <= now && !self.leaving {
            let time = Time(service.clock().milliseconds());
            self.seen.admission = self.admission(service);
            let command = self.commands.pop_front();
            let plan = step(&self.spec, &self.state, &self.seen, command, time);
            let next = plan
                .wake_at
                .map(|at| now + Duration::from_millis(at.since(time).0));
            self.wake = if self.commands.is_empty() { next } else { Some(now) };
            self.carry_out(service, plan, now);
        }
    }

    /// Somebody sent a Command.
    pub(super) fn command(&mut self, command: Command) {
        self.commands.push_back(command);
        self.wake = Some(Instant::now());
    }

    /// There is room for every Job whose queue is there, once it has been looked at.
    fn admission(&self, service: &Service) -> Admission {
        let queue = Key::of("queues", &self.queue);
        if self.queue != "default" && service.get(&queue).is_none() {
            return Admission::QueueMissing;
        }
        if self.state.status.last_transition.is_none() {
            return Admission::Waiting;
        }
        Admission::Granted
    }

    fn carry_out(&mut self, service: &Service, plan: GangPlan, now: Instant) {
        if plan.written {
            self.busy = now + PAUSE;
            drop(service.put_status(&self.key, status::of(&plan.next.status)));
        }
        self.state = plan.next;
        for key in plan.start {
            self.start(service, key, now);
        }
        for key in plan.stop {
            let Some(pod) = self.pods.get(&key) else { continue };
            drop(service.delete(&pod.key, "Background"));
        }
        // A Job that was just looked at is admitted with the next look.
        if self.seen.admission == Admission::Waiting && self.state.status.last_transition.is_some() {
            self.wake = Some(now);
        }
    }

    /// Makes a pod, unless one of its name is still there: then the model asks again.
    fn start(&mut self, service: &Service, key: PodKey, now: Instant) {
        let Some(task) = self.spec.tasks.get(key.task as usize) else {
            return;
        };
        let name = format!("{}-{}-{}", self.key.name, task.name, key.index);
        let made = service.create(json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": name, "namespace": self.key.namespace, "ownerReferences": owner(&self.key, &self.uid),
                "labels": { "volcano.sh/job-name": self.key.name, "volcano.sh/task-spec": task.name },
            },
            "spec": { "nodeName": "node", "containers": [{ "name": "main" }] },
        }));
        let Ok(made) = made else { return };
        let pod = Pod::new(
            Key::within("pods", &self.key.namespace, &name),
            &made,
            self.life,
            now,
        );
        self.pods.insert(key, pod);
        self.seen.seen.insert(key, PodView::new(PodPhase::Pending));
        self.wake = Some(now);
    }
}
