//! What the pods of an attempt tell about it: the exit code, reasons, whether it was lost to the infrastructure, and
//! how many pods are ready.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobflow_core::Time;
use jobflow_core::gang::PodPhase;

use super::pod::{Container, SlimPod, Termination};
use super::slim_job::SlimJob;

/// The most reasons that are kept of a Job's pods.
const MOST_REASONS: usize = 16;

/// The longest reason that is kept; Kubernetes' own are single words.
const LONGEST_REASON: usize = 64;

/// What a Job's pods tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodsSeen {
    /// Ready pods by task.
    pub ready: BTreeMap<Box<str>, u32>,
    /// Whether a container of any is known to have run.
    pub started: bool,
    /// Whether a pod is there that hasn't ended.
    pub left: bool,
    /// Whether a pod has failed.
    pub failed: bool,
    /// The exit code of the first container that ended non-zero, by the time of its end, then the pod's index, then
    /// the order of containers.
    pub exit_code: Option<i32>,
    /// Reasons of failed pods and their containers, each once, in order of the alphabet.
    pub reasons: Vec<Arc<str>>,
    /// Whether everything that failed was lost to the infrastructure.
    pub infrastructure: bool,
    /// The first failure in words.
    pub first_failure: Option<Box<str>>,
}

impl PodsSeen {
    /// The same, with what was known before of failures: pods go, and what they told stays true.
    #[must_use]
    pub fn after(self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self };
        let started = self.started || before.started;
        let failure = if self.tells_of_failure() { &self } else { before };
        Self {
            started,
            failed: failure.failed,
            exit_code: failure.exit_code,
            reasons: failure.reasons.clone(),
            infrastructure: failure.infrastructure,
            first_failure: failure.first_failure.clone(),
            ready: self.ready,
            left: self.left,
        }
    }

    const fn tells_of_failure(&self) -> bool {
        self.failed || self.infrastructure || self.exit_code.is_some()
    }
}

/// One pod with its place in the Job.
pub(super) struct Placed<'a> {
    pub(super) task: &'a str,
    pub(super) index: u32,
    pod: &'a SlimPod,
}

/// The end of a container, so that the first of several is the smallest.
struct Failure<'a> {
    order: (Time, &'a str, u32, usize),
    end: &'a Termination,
    container: &'a Container,
    pod: &'a SlimPod,
}

/// Sums up the pods of a Job; `vanished` of them were seen alive before and are gone by nobody's known doing.
///
/// A pod counts only if its controller is that Job's UID and its name is `<job>-<task>-<index>`; anything else in
/// `pods` is passed over.
#[must_use]
pub fn account<'a>(job: &SlimJob, pods: impl IntoIterator<Item = &'a SlimPod>, vanished: u32) -> PodsSeen {
    let placed: Vec<Placed<'_>> = pods.into_iter().filter_map(|pod| place(job, pod)).collect();
    let mut ready = BTreeMap::<Box<str>, u32>::new();
    for placed in placed.iter().filter(|placed| placed.pod.ready) {
        *ready.entry(Box::from(placed.task)).or_default() += 1;
    }
    let failed: Vec<&Placed<'_>> = placed.iter().filter(|placed| is_failed(placed.pod)).collect();
    let first = placed
        .iter()
        .flat_map(failures)
        .min_by_key(|failure| failure.order);
    PodsSeen {
        ready,
        started: placed.iter().any(|placed| ran(placed.pod)),
        left: placed.iter().any(|placed| !placed.pod.phase.is_ended()),
        failed: !failed.is_empty(),
        exit_code: first.as_ref().map(|failure| failure.end.exit_code),
        reasons: reasons(&placed),
        infrastructure: (!failed.is_empty() || vanished > 0)
            && failed.iter().all(|placed| is_lost(placed.pod)),
        first_failure: first.map(|failure| in_words(&failure)),
    }
}

/// The task and index of a pod of this Job.
pub(super) fn place<'a>(job: &'a SlimJob, pod: &'a SlimPod) -> Option<Placed<'a>> {
    let owners = pod.metadata.owner_references.as_deref().unwrap_or_default();
    let ours = owners
        .iter()
        .any(|owner| owner.controller == Some(true) && owner.uid == job.uid());
    let elsewhere = pod.metadata.namespace != job.metadata.namespace;
    if !ours || elsewhere || job.uid().is_empty() {
        return None;
    }
    let rest = pod.name().strip_prefix(job.name())?.strip_prefix('-')?;
    job.tasks.iter().find_map(|task| {
        let digits = rest.strip_prefix(&*task.name)?.strip_prefix('-')?;
        let index: u32 = digits.parse().ok()?;
        (index.to_string() == digits).then_some(Placed {
            task: &task.name,
            index,
            pod,
        })
    })
}

fn ran(pod: &SlimPod) -> bool {
    matches!(pod.phase, PodPhase::Running | PodPhase::Succeeded)
        || pod.containers.iter().any(|container| container.ran)
}

fn failures<'a>(placed: &'a Placed<'a>) -> impl Iterator<Item = Failure<'a>> {
    placed
        .pod
        .containers
        .iter()
        .enumerate()
        .flat_map(move |(position, container)| {
            container
                .ends
                .iter()
                .filter(|end| end.exit_code != 0)
                .map(move |end| Failure {
                    order: (
                        end.finished.unwrap_or(Time(i64::MAX)),
                        placed.task,
                        placed.index,
                        position,
                    ),
                    end,
                    container,
                    pod: placed.pod,
                })
        })
}

/// Whether a pod has failed, or is being taken away for a reason of the cluster's.
fn is_failed(pod: &SlimPod) -> bool {
    let taken = pod.disrupted && pod.metadata.deletion_timestamp.is_some();
    pod.phase == PodPhase::Failed || (taken && pod.phase != PodPhase::Succeeded)
}

/// Whether a failed pod was lost to the infrastructure.
fn is_lost(pod: &SlimPod) -> bool {
    const REASONS: [&str; 4] = ["Evicted", "Preempting", "NodeLost", "NodeShutdown"];
    pod.disrupted
        || pod
            .reason
            .as_deref()
            .is_some_and(|reason| REASONS.contains(&reason))
}

/// Reasons of what failed; those of containers that ended well say nothing.
fn reasons(placed: &[Placed<'_>]) -> Vec<Arc<str>> {
    let of_pods = placed
        .iter()
        .filter(|placed| placed.pod.phase == PodPhase::Failed)
        .filter_map(|placed| placed.pod.reason.as_deref());
    let of_containers = placed
        .iter()
        .flat_map(|placed| placed.pod.containers.iter().flat_map(|container| &container.ends))
        .filter(|end| end.exit_code != 0)
        .filter_map(|end| end.reason.as_deref());
    let all: BTreeSet<&str> = of_pods
        .chain(of_containers)
        .filter(|reason| reason.len() <= LONGEST_REASON)
        .collect();
    all.into_iter().take(MOST_REASONS).map(Arc::from).collect()
}

fn in_words(failure: &Failure<'_>) -> Box<str> {
    let reason = failure
        .end
        .reason
        .as_deref()
        .filter(|reason| reason.len() <= LONGEST_REASON && *reason != "Error");
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!(
        "pod {}, container {}: exit code {}{reason}",
        failure.pod.name(),
        failure.container.name,
        failure.end.exit_code
    )
    .into_boxed_str()
}
