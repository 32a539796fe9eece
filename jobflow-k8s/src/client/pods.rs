//! The pods of flows' Jobs, summed up by Job: exit codes, readiness, losses. Without them Jobs are run all the same, and
//! less is known of why they failed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::observe::{PodsSeen, SlimJob, SlimPod, account};
use crate::types::JobPhase;

/// Pods that are Volcano's bear this label, with the name of their Job.
pub(super) const LABEL: &str = "volcano.sh/job-name";

/// A Job as a pod names it: the pod's own namespace, and the UID. A pod may name the UID of any Job; its Job is in its
/// namespace.
pub(super) type Place = (String, String);

/// Pods by their Job.
#[derive(Debug, Default)]
pub(super) struct Pods {
    of_job: BTreeMap<Place, OfJob>,
}

#[derive(Debug, Default)]
struct OfJob {
    pods: BTreeMap<String, Arc<SlimPod>>,
    /// How many were alive, and went without anybody known having ended them.
    vanished: u32,
}

impl Pods {
    /// A pod is there; its Job.
    pub(super) fn there(&mut self, pod: SlimPod) -> Option<Place> {
        let job = job_of(&pod)?;
        let of_job = self.of_job.entry(job.clone()).or_default();
        of_job.pods.insert(pod.name().to_owned(), Arc::new(pod));
        Some(job)
    }

    /// A pod is gone; its Job. One that was alive while its Job went on was lost.
    pub(super) fn gone(&mut self, pod: &SlimPod, job: Option<&SlimJob>) -> Option<Place> {
        let place = job_of(pod)?;
        let of_job = self.of_job.get_mut(&place)?;
        of_job.pods.remove(pod.name());
        let goes_on = job.is_some_and(|job| !job.is_deleting() && goes_on(job.phase));
        if goes_on && !pod.phase.is_ended() {
            of_job.vanished = of_job.vanished.saturating_add(1);
        }
        Some(place)
    }

    /// What the pods of a Job tell; none if none was seen.
    pub(super) fn seen(&self, job: &SlimJob) -> Option<PodsSeen> {
        let of_job = self.of_job.get(&place(job))?;
        let pods = of_job.pods.values().map(|pod| &**pod);
        Some(account(job, pods, of_job.vanished))
    }

    /// The pods of a Job.
    pub(super) fn of(&self, job: &SlimJob) -> impl Iterator<Item = &SlimPod> {
        let of_job = self.of_job.get(&place(job)).into_iter();
        of_job.flat_map(|of_job| of_job.pods.values()).map(|pod| &**pod)
    }

    /// Keeps the pods of one scope that a new list shows, and those of others; the Jobs of those that went.
    pub(super) fn listed(&mut self, is_there: impl Fn(&SlimPod) -> bool) -> Vec<Place> {
        let mut changed = Vec::new();
        for (place, of_job) in &mut self.of_job {
            let before = of_job.pods.len();
            of_job.pods.retain(|_, pod| is_there(pod));
            if of_job.pods.len() < before {
                changed.push(place.clone());
            }
        }
        changed
    }

    /// Nobody asks for the pods of this Job any more.
    pub(super) fn forget(&mut self, job: &SlimJob) {
        self.of_job.remove(&place(job));
    }
}

/// The Job that made the pod.
pub(super) fn job_of(pod: &SlimPod) -> Option<Place> {
    let owners = pod.metadata.owner_references.iter().flatten();
    let mut owners = owners.filter(|owner| owner.controller == Some(true) && owner.kind == "Job");
    let owner = owners.next()?;
    Some((
        pod.metadata.namespace.clone().unwrap_or_default(),
        owner.uid.clone(),
    ))
}

fn place(job: &SlimJob) -> Place {
    let namespace = job.metadata.namespace.clone().unwrap_or_default();
    (namespace, job.uid().to_owned())
}

/// Whether Volcano itself has no cause to take pods of the Job away.
const fn goes_on(phase: JobPhase) -> bool {
    matches!(phase, JobPhase::Pending | JobPhase::Running)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(phase: &str) -> SlimJob {
        serde_json::from_value(json!({
            "metadata": {"name": "f-a", "uid": "j"},
            "spec": {"tasks": [{"name": "main", "replicas": 2}]},
            "status": {"state": {"phase": phase}},
        }))
        .unwrap()
    }

    fn pod(index: u32, phase: &str, exit_code: Option<i32>) -> SlimPod {
        let terminated = exit_code.map(|code| json!({"exitCode": code}));
        serde_json::from_value(json!({
            "metadata": {
                "name": format!("f-a-main-{index}"),
                "uid": format!("p{index}"),
                "ownerReferences": [{
                    "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "f-a", "uid": "j", "controller": true,
                }],
            },
            "status": {
                "phase": phase,
                "containerStatuses": [{"name": "main", "state": {"terminated": terminated}}],
            },
        }))
        .unwrap()
    }

    #[test]
    fn the_exit_code_is_that_of_a_failed_pod() {
        let mut pods = Pods::default();
        assert_eq!(pods.seen(&job("Running")), None);
        let place = (String::new(), "j".to_owned());
        assert_eq!(pods.there(pod(0, "Failed", Some(3))), Some(place));
        let seen = pods.seen(&job("Failed")).unwrap();
        assert_eq!((seen.exit_code, seen.infrastructure), (Some(3), false));
    }

    #[test]
    fn a_pod_of_another_namespace_is_no_pod_of_the_job() {
        let elsewhere = |index, phase, exit_code| {
            let mut pod = pod(index, phase, exit_code);
            pod.metadata.namespace = Some("elsewhere".to_owned());
            pod
        };
        let mut pods = Pods::default();
        pods.there(elsewhere(0, "Failed", Some(7)));
        assert_eq!(pods.seen(&job("Failed")), None);
        pods.there(pod(0, "Failed", Some(3)));
        pods.there(elsewhere(0, "Running", None));
        pods.gone(&elsewhere(0, "Running", None), Some(&job("Running")));
        let seen = pods.seen(&job("Failed")).unwrap();
        assert_eq!((seen.exit_code, seen.infrastructure), (Some(3), false));
    }

    #[test]
    fn a_pod_that_goes_while_its_job_runs_was_lost() {
        for (phase, pod_phase, lost) in [
            ("Running", "Running", true),
            ("Running", "Succeeded", false),
            ("Restarting", "Running", false),
            ("Terminating", "Running", false),
        ] {
            let mut pods = Pods::default();
            pods.there(pod(0, pod_phase, None));
            pods.gone(&pod(0, pod_phase, None), Some(&job(phase)));
            let seen = pods.seen(&job("Failed")).unwrap();
            assert_eq!(seen.infrastructure, lost, "{phase} {pod_phase}");
        }
    }
}
