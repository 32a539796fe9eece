//! `kubectl jobflow wait`: ends when the flow is as it is wanted, when it can't be any more, when it is gone, or when
//! the time is up, each with its exit code.

use std::time::Duration;

use jobflow_core::FlowPhase;
use jobflow_k8s::status::core_flow_phase;
use tokio::time::{Instant, timeout_at};

use crate::arguments::cluster::{Awaited, FlowPhaseName, WaitArguments};
use crate::cluster::Cluster;
use crate::cluster::follow::{Follow, Seen, until};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// What is waited for, and how long.
pub(super) struct Wait<'a> {
    /// The flow.
    pub(super) flow: &'a str,
    /// Its UID, if it was seen before.
    pub(super) uid: Option<&'a str>,
    /// What is waited for.
    pub(super) awaited: Awaited,
    /// How long; zero is without end.
    pub(super) timeout: Duration,
}

/// Waits.
pub(crate) async fn run(
    arguments: &WaitArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let wanted = Wait {
        flow: &arguments.flow,
        uid: None,
        awaited: arguments.awaited,
        timeout: arguments.timeout,
    };
    wait(&wanted, cluster, console).await
}

/// Waits, and says how it ended.
pub(super) async fn wait(
    wanted: &Wait<'_>,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let deadline = until(wanted.timeout);
    let mut follow = Follow::new(cluster, wanted.flow, wanted.uid);
    let mut last = None;
    loop {
        let next = match within(deadline, follow.next(console)).await {
            Some(next) => next?,
            None => return Err(too_late(wanted, last)),
        };
        let (verdict, phase) = verdict(wanted.awaited, &next);
        last = phase.or(last);
        if let Some(exit) = verdict {
            tell(wanted.flow, exit, phase, console)?;
            return Ok(exit);
        }
    }
}

/// What comes before a deadline; none if nothing does.
pub(super) async fn within<T>(deadline: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}

/// Whether what is seen ends the waiting, and the phase that was seen.
fn verdict(awaited: Awaited, seen: &Seen) -> (Option<Exit>, Option<FlowPhase>) {
    let Seen::There(flow) = seen else {
        let exit = match awaited {
            Awaited::Deletion => Exit::Succeeded,
            Awaited::End | Awaited::Phase(_) => Exit::Gone,
        };
        return (Some(exit), None);
    };
    let phase = core_flow_phase(flow.phase());
    (of_phase(awaited, phase), Some(phase))
}

fn of_phase(awaited: Awaited, phase: FlowPhase) -> Option<Exit> {
    let is_so = match awaited {
        Awaited::Deletion => return None,
        Awaited::End => phase == FlowPhase::Succeed,
        Awaited::Phase(FlowPhaseName::Pending) => phase == FlowPhase::Pending,
        Awaited::Phase(FlowPhaseName::Running) => phase == FlowPhase::Running,
        Awaited::Phase(FlowPhaseName::Succeed) => phase == FlowPhase::Succeed,
        Awaited::Phase(FlowPhaseName::Failed) => phase == FlowPhase::Failed,
        Awaited::Phase(FlowPhaseName::Terminating) => phase == FlowPhase::Terminating,
    };
    match (is_so, phase.is_end()) {
        (true, _) => Some(Exit::Succeeded),
        (false, true) => Some(Exit::FlowFailed),
        (false, false) => None,
    }
}

fn tell(flow: &str, exit: Exit, phase: Option<FlowPhase>, console: &mut Console) -> Result<(), Failure> {
    match phase {
        Some(phase) => console.data(&format!("jobflow.flow.volcano.sh/{flow} {phase}\n")),
        None if exit == Exit::Succeeded => console.data(&format!("jobflow.flow.volcano.sh/{flow} is gone\n")),
        None => Err(Failure::with_exit(
            exit,
            format!("flow `{flow}` was deleted, or isn't there"),
        )),
    }
}

fn too_late(wanted: &Wait<'_>, last: Option<FlowPhase>) -> Failure {
    let seconds = wanted.timeout.as_secs_f32();
    let where_it_is = match last {
        Some(phase) => format!("it is {phase}"),
        None => "nothing was heard of it".to_owned(),
    };
    let message = format!(
        "flow `{}` is not there yet after {seconds} s: {where_it_is}",
        wanted.flow
    );
    Failure::with_exit(Exit::TimedOut, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_decides_every_waiting_but_that_for_deletion() {
        let phases = [
            FlowPhase::Pending,
            FlowPhase::Running,
            FlowPhase::Terminating,
            FlowPhase::Succeed,
            FlowPhase::Failed,
        ];
        let codes = |awaited| phases.map(|phase| of_phase(awaited, phase).map(Exit::code));
        assert_eq!(codes(Awaited::End), [None, None, None, Some(0), Some(1)]);
        assert_eq!(codes(Awaited::Deletion), [None; 5]);
        assert_eq!(
            codes(Awaited::Phase(FlowPhaseName::Running)),
            [None, Some(0), None, Some(1), Some(1)]
        );
        assert_eq!(
            codes(Awaited::Phase(FlowPhaseName::Failed)),
            [None, None, None, Some(1), Some(0)]
        );
    }
}
