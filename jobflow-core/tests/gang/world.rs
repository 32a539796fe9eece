//! A made-up world for one gang: pods do as they are told at once, and end as a test says.

use jobflow_core::gang::{
    Admission, Command, GangPlan, GangSpec, GangState, PodKey, PodPhase, PodView, Pods, step,
};
use jobflow_core::{Time, time::Span};

/// A gang and what is to be seen of it.
pub(crate) struct World {
    pub(crate) spec: GangSpec,
    pub(crate) state: GangState,
    pub(crate) pods: Pods,
    pub(crate) now: Time,
}

impl World {
    /// A gang that was admitted, with its first pods pending.
    pub(crate) fn admitted(spec: GangSpec) -> Self {
        let mut world = Self {
            spec,
            state: GangState::new(Time(0)),
            pods: Pods {
                admission: Admission::Granted,
                ..Pods::default()
            },
            now: Time(0),
        };
        world.settle(None);
        world
    }

    /// The present pod of a replica.
    pub(crate) fn key(&self, task: u32, index: u32) -> Option<PodKey> {
        let of_replica = |key: &&PodKey| (key.task, key.index) == (task, index);
        self.pods.seen.keys().filter(of_replica).max().copied()
    }

    /// Shows a replica's pod in another way.
    pub(crate) fn show(&mut self, task: u32, index: u32, view: PodView) {
        if let Some(key) = self.key(task, index) {
            self.pods.seen.insert(key, view);
        }
    }

    /// Steps until nothing more is to be decided, and does what is asked. Returns the last plan.
    pub(crate) fn settle(&mut self, mut command: Option<Command>) -> GangPlan {
        for round in 0.. {
            assert!(round < 1000, "the gang doesn't come to rest: {:?}", self.state);
            let plan = step(&self.spec, &self.state, &self.pods, command.take(), self.now);
            self.carry_out(&plan);
            if plan.wake_at != Some(self.now) && plan.start.is_empty() && plan.stop.is_empty() {
                return plan;
            }
        }
        unreachable!("the rounds above don't end by themselves")
    }

    /// Lets time pass, and settles.
    pub(crate) fn pass(&mut self, span: Span) {
        self.now = self.now + span;
        self.settle(None);
    }

    fn carry_out(&mut self, plan: &GangPlan) {
        for key in &plan.start {
            self.pods
                .seen
                .entry(*key)
                .or_insert_with(|| PodView::new(PodPhase::Pending));
        }
        for key in &plan.stop {
            self.pods.seen.remove(key);
        }
        self.state = plan.next.clone();
    }
}
