//! Specs and policies of one line, and a way to run pods.

use jobflow_core::gang::{Action, Event, GangSpec, GangTask, PodPhase, PodView, Policy};
use jobflow_core::time::Span;

use crate::world::World;

/// A task that needs all its pods.
pub(crate) fn task(replicas: u32) -> GangTask {
    let name = format!("task of {replicas}");
    GangTask {
        name,
        replicas,
        min_available: replicas,
        max_retry: Some(3),
        ..GangTask::default()
    }
}

/// A job that needs what its tasks need.
pub(crate) fn job(tasks: Vec<GangTask>) -> GangSpec {
    let min_available = tasks.iter().map(|task| task.min_available).sum();
    GangSpec {
        min_available,
        max_retry: 3,
        tasks,
        ..GangSpec::default()
    }
}

/// A policy for one event, at once.
pub(crate) fn on(event: Event, action: Action) -> Policy {
    Policy {
        events: vec![event],
        exit_code: None,
        action,
        timeout: None,
    }
}

/// A policy for one exit code, at once.
pub(crate) fn on_exit(exit_code: i32, action: Action) -> Policy {
    Policy {
        events: vec![],
        exit_code: Some(exit_code),
        action,
        timeout: None,
    }
}

/// The same, later.
pub(crate) fn after(timeout: Span, policy: Policy) -> Policy {
    Policy {
        timeout: Some(timeout),
        ..policy
    }
}

/// All pods that are pending run.
pub(crate) fn run_all(world: &mut World) {
    let pending = world
        .pods
        .seen
        .values_mut()
        .filter(|pod| pod.phase == PodPhase::Pending);
    pending.for_each(|pod| *pod = PodView::new(PodPhase::Running));
    world.settle(None);
}
