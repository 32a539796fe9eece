//! Pods as objects: what is to be done so that they are as the life of their Job says, and what others do to them.

use std::net::Ipv4Addr;
use std::time::Duration;

use jobflow_core::gang::{PodKey, PodPhase, PodView};
use kube::ResourceExt;
use serde_json::Value;
use tokio::time::sleep;

use super::call::{Answer, Call};
use super::job::Job;
use super::{Done, Engine, PodMeta};
use crate::clock::Clock;
use crate::object::{self, Place};
use crate::processes;
use crate::status;

/// A pod object that was made.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) uid: String,
    /// What was written last.
    pub(super) view: PodView,
}

/// Something to do to a pod object.
pub(super) struct Order {
    key: PodKey,
    place: Place,
    template: Value,
    address: Ipv4Addr,
    view: PodView,
    known: Option<Known>,
}

/// What is to be done; nothing if all is as it should be. An object whose pod is gone goes too.
pub(super) fn orders(job: &Job) -> Vec<Order> {
    let present = job.lead.pods();
    let left = job.pods.iter().filter(|(key, known)| {
        let there = present.iter().any(|(other, _)| other == *key);
        !there && !known.view.terminating
    });
    let left = left.map(|(key, known)| {
        let terminating = true;
        let view = known.view.clone();
        (*key, PodView { terminating, ..view })
    });
    let wanted = present.iter().map(|(key, view)| (*key, (*view).clone()));
    let differing = wanted.filter(|(key, view)| job.pods.get(key).is_none_or(|known| known.view != *view));
    let orders = differing.chain(left).map(|(key, view)| Order {
        key,
        place: job.place(key),
        template: job.templates.get(key.task as usize).cloned().unwrap_or_default(),
        address: job.address(key),
        view,
        known: job.pods.get(&key).cloned(),
    });
    orders.collect()
}

/// What came of an order.
pub(super) enum Outcome {
    Known(Known),
    /// The pod isn't there any more.
    Gone,
    /// To be tried again, with what is known of the pod until then, and why.
    Later(Option<Known>, String),
}

impl Order {
    pub(super) async fn carry_out(self, call: &Call, clock: Clock) -> (PodKey, Outcome) {
        let known = match self.known.clone() {
            Some(known) => Ok(known),
            None => self.create(call).await,
        };
        let outcome = match known {
            Ok(known) => self.update(known, call, clock).await,
            Err(reason) => Outcome::Later(None, reason),
        };
        (self.key, outcome)
    }

    /// The name is taken until the pod before is gone.
    async fn create(&self, call: &Call) -> Result<Known, String> {
        let pod = self.place.pod(&self.template);
        let uid = call.create_pod(&self.place, &pod).await?;
        let view = PodView::new(PodPhase::Unknown);
        Ok(Known { uid, view })
    }

    async fn update(&self, known: Known, call: &Call, clock: Clock) -> Outcome {
        let done = if self.view.terminating {
            call.delete_pod(&self.place, &known.uid).await
        } else {
            let at = status::time(clock.now(), clock);
            let status = object::status(&self.view, &self.template, self.address, &at);
            call.write_pod(&self.place, &known.uid, &status).await
        };
        match done {
            Answer::Done => Outcome::Known(Known {
                view: self.view.clone(),
                ..known
            }),
            Answer::Gone => Outcome::Gone,
            Answer::Later(reason) => Outcome::Later(Some(known), reason),
        }
    }
}

impl Engine {
    /// A pod that was told to go is gone a little later: there is no node that would see to it.
    pub(super) fn see_pod(&mut self, pod: &PodMeta) {
        if pod.metadata.deletion_timestamp.is_none() {
            return;
        }
        let (mut pause, mut evicted) = (Duration::from_millis(20), false);
        if let Some((uid, key)) = self.find_pod(pod)
            && let Some(job) = self.jobs.get_mut(&uid)
        {
            job.life().into_iter().for_each(|life| life.told_to_go(key));
            if let Some(known) = job.pods.get_mut(&key) {
                evicted = !std::mem::replace(&mut known.view.terminating, true);
            }
            let goes = self.clock.span(job.lead.goes_within(key));
            pause = Duration::from_millis(goes.0);
            self.ready.insert(uid.clone());
            if evicted {
                let namespace = pod.namespace().unwrap_or_default();
                self.order_processes(&namespace, processes::Order::Evict(uid));
            }
        }
        self.bury(pod, pause);
    }

    fn bury(&mut self, pod: &PodMeta, pause: Duration) {
        let (namespace, name) = (pod.namespace().unwrap_or_default(), pod.name_any());
        let (uid, call) = (pod.uid().unwrap_or_default(), self.call.clone());
        self.requests.spawn(async move {
            sleep(pause).await;
            call.bury_pod(&namespace, &name, &uid).await;
            Done::Nothing
        });
    }

    pub(super) fn pod_gone(&mut self, pod: &PodMeta) {
        let Some((uid, key)) = self.find_pod(pod) else {
            return;
        };
        if let Some(job) = self.jobs.get_mut(&uid) {
            job.pods.remove(&key);
            job.life().into_iter().for_each(|life| life.gone(key));
            self.ready.insert(uid);
        }
    }

    /// Whose pod it is, by its UID: names come again.
    fn find_pod(&self, pod: &PodMeta) -> Option<(String, PodKey)> {
        let job = pod.labels().get("volcano.sh/job-name")?;
        let uid = self.names.get(&(pod.namespace()?, job.clone()))?;
        let pods = &self.jobs.get(uid)?.pods;
        let pod = pod.metadata.uid.as_deref()?;
        let (key, _) = pods.iter().find(|(_, known)| known.uid == pod)?;
        Some((uid.clone(), *key))
    }
}
