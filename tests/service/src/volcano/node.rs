//! One pod on its node: it starts, runs and ends as its life says, and goes when it is told to.

use std::time::Duration;

use jobflow_core::gang::{PodPhase, PodView};
use jobflow_core::testing::{End, Life};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{Key, Part, Service, object};

/// What a pod of a job that aborts itself exits with: its policies know.
const ABORTS: i32 = 97;

/// How long a pod takes to end when it is told to.
const LEAVING: Duration = Duration::from_millis(300);

/// A pod that is there.
pub(super) struct Pod {
    pub(super) key: Key,
    pub(super) uid: String,
    phase: PodPhase,
    started: Option<String>,
    leaving: bool,
    due: Option<Instant>,
}

impl Pod {
    pub(super) fn new(key: Key, made: &Value, life: Life, now: Instant) -> Self {
        Self {
            key,
            uid: object::uid(made).to_owned(),
            phase: PodPhase::Pending,
            started: None,
            leaving: false,
            due: Some(now + Duration::from_millis(life.queued.0)),
        }
    }

    /// When it does its next step.
    pub(super) const fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(super) fn is_told_to_go(&mut self) {
        if !self.leaving {
            self.leaving = true;
            self.due = Some(Instant::now() + LEAVING);
        }
    }

    /// Does its next step; how it looks then, if it is still there.
    pub(super) fn advance(
        &mut self,
        service: &Service,
        job: &Key,
        life: Life,
        now: Instant,
    ) -> Option<PodView> {
        self.due = None;
        if self.leaving {
            service.act(|state| state.end_pod(&self.key));
            return None;
        }
        match (self.phase, life.end) {
            (PodPhase::Pending, End::NeverStarts) => Some(self.end(service, Some(1), None)),
            (PodPhase::Pending, end) => {
                self.due = (end != End::Never).then(|| now + Duration::from_millis(life.runs.0));
                Some(self.begin(service))
            }
            (PodPhase::Running, End::Deleted) => {
                drop(service.delete(job, "Background"));
                None
            }
            (PodPhase::Running, End::Succeeds) => Some(self.end(service, Some(0), None)),
            (PodPhase::Running, End::Fails(code)) => Some(self.end(service, Some(code), None)),
            (PodPhase::Running, End::AbortsItself) => Some(self.end(service, Some(ABORTS), None)),
            (PodPhase::Running, End::Evicted) => Some(self.end(service, None, Some("Evicted"))),
            (PodPhase::Running, End::NeverStarts | End::Never)
            | (PodPhase::Succeeded | PodPhase::Failed | PodPhase::Unknown, _) => None,
        }
    }

    fn begin(&mut self, service: &Service) -> PodView {
        let started = service.clock().stamp();
        self.tell(
            service,
            PodPhase::Running,
            json!({ "running": { "startedAt": started } }),
            None,
        );
        self.started = Some(started);
        PodView::new(PodPhase::Running)
    }

    fn end(&mut self, service: &Service, code: Option<i32>, reason: Option<&str>) -> PodView {
        let phase = if code == Some(0) {
            PodPhase::Succeeded
        } else {
            PodPhase::Failed
        };
        let finished = service.clock().stamp();
        let state = match (code, &self.started) {
            (Some(code), Some(started)) => {
                json!({ "terminated": { "exitCode": code, "startedAt": started, "finishedAt": finished } })
            }
            (Some(_), None) => json!({ "waiting": { "reason": "CreateContainerError" } }),
            (None, _) => json!({ "terminated": { "exitCode": 137, "finishedAt": finished } }),
        };
        self.tell(service, phase, state, reason);
        PodView {
            exit_codes: code.into_iter().collect(),
            reason: reason.map(str::to_owned),
            ..PodView::new(phase)
        }
    }

    fn tell(&mut self, service: &Service, phase: PodPhase, state: Value, reason: Option<&str>) {
        self.phase = phase;
        let ready = if phase == PodPhase::Running {
            "True"
        } else {
            "False"
        };
        let mut conditions = vec![json!({ "type": "Ready", "status": ready })];
        conditions.extend(reason.map(|_| json!({ "type": "DisruptionTarget", "status": "True" })));
        let status = json!({ "status": {
            "phase": phase.as_str(), "reason": reason, "conditions": conditions,
            "containerStatuses": [{ "name": "main", "state": state }],
        } });
        drop(service.merge(&self.key, Part::Status, status));
    }
}
