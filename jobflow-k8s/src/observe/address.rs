//! Where the pods of a Job are reached by probes: the address of each that runs, as long as it is the pod's own.

use std::net::IpAddr;

use jobflow_core::gang::PodPhase;
use jobflow_core::probe::ProbeAnswer;

use super::pod::SlimPod;
use super::pods::place;
use super::slim_job::SlimJob;

/// Where a pod is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Address {
    /// It has no address yet.
    #[default]
    None,
    /// An address of its own.
    Own(IpAddr),
    /// The address of its node, which belongs to others too.
    OfNode,
}

/// The addresses of the running pods of a task (of all tasks, when it is empty) in the order of tasks and indices; for
/// one that may not be asked, why.
///
/// A pod counts only if its controller is that Job's UID and its name is `<job>-<task>-<index>`. One that is going away
/// isn't asked any more.
#[must_use]
pub fn addresses<'a>(
    job: &SlimJob,
    pods: impl IntoIterator<Item = &'a SlimPod>,
    task: &str,
) -> Vec<Result<IpAddr, ProbeAnswer>> {
    let mut found = Vec::new();
    for pod in pods {
        let Some(placed) = place(job, pod) else { continue };
        let leaving = pod.metadata.deletion_timestamp.is_some();
        if pod.phase == PodPhase::Running && !leaving && (task.is_empty() || placed.task == task) {
            let position = job.tasks.iter().position(|task| *task.name == *placed.task);
            found.push(((position, placed.index), reached(pod.address)));
        }
    }
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().map(|(_, address)| address).collect()
}

const fn reached(address: Address) -> Result<IpAddr, ProbeAnswer> {
    match address {
        Address::Own(address) => Ok(address),
        Address::OfNode => Err(ProbeAnswer::NotPermitted),
        Address::None => Err(ProbeAnswer::NoPod),
    }
}
