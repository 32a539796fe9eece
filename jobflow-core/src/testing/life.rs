//! The lives of made-up jobs, as the phases that Volcano would show.

use alloc::sync::Arc;

use crate::gang::JobPhase;
use crate::key::Uid;
use crate::snapshot::{JobView, PodCounts, TaskCount};
use crate::time::{Span, Time};

/// What a job is going to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// How long it waits for its pods.
    pub queued: Span,
    /// How long it runs then.
    pub runs: Span,
    /// How it ends.
    pub end: End,
}

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It completes.
    Succeeds,
    /// It fails with this exit code.
    Fails(i32),
    /// It fails without any pod having run.
    NeverStarts,
    /// A policy of its own aborts it.
    AbortsItself,
    /// Somebody deletes it while it runs.
    Deleted,
    /// Its pod is evicted, and it fails.
    Evicted,
    /// It runs for ever.
    Never,
}

impl Life {
    /// A job that ends so, at once.
    #[must_use]
    pub const fn of(end: End) -> Self {
        Self {
            queued: Span::ZERO,
            runs: Span::ZERO,
            end,
        }
    }
}

/// A job that exists in the world.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Job {
    pub(super) view: JobView,
    pub(super) life: Life,
    /// When it does its next step.
    pub(super) due: Option<Time>,
}

impl Job {
    pub(super) fn new(uid: Uid, life: Life, now: Time) -> Self {
        let mut view = JobView::new(uid, JobPhase::Pending, now);
        view.changed = Some(now);
        view.aborts_itself = life.end == End::AbortsItself;
        view.tasks = counts(PodCounts {
            pending: 1,
            ..PodCounts::default()
        });
        Self {
            view,
            life,
            due: Some(now + life.queued),
        }
    }

    /// Does the next step of its life; false when the step is that it is gone.
    pub(super) fn advance(&mut self, now: Time) -> bool {
        self.view.changed = Some(now);
        match self.view.phase {
            JobPhase::Pending if self.life.end == End::NeverStarts => self.end(JobPhase::Failed),
            JobPhase::Pending => self.run(now),
            JobPhase::Running if self.life.end == End::Deleted => return false,
            JobPhase::Running => self.end_run(),
            JobPhase::Aborting => self.end(JobPhase::Aborted),
            JobPhase::Terminating => self.end(JobPhase::Terminated),
            JobPhase::Empty
            | JobPhase::Restarting
            | JobPhase::Completing
            | JobPhase::Completed
            | JobPhase::Terminated
            | JobPhase::Aborted
            | JobPhase::Failed => self.due = None,
        }
        true
    }

    fn run(&mut self, now: Time) {
        self.view.phase = JobPhase::Running;
        self.view.ran = true;
        self.view.tasks = counts(PodCounts {
            running: 1,
            ready: 1,
            ..PodCounts::default()
        });
        self.due = (self.life.end != End::Never).then(|| now + self.life.runs);
    }

    fn end_run(&mut self) {
        match self.life.end {
            End::Succeeds => {
                self.view.tasks = counts(PodCounts {
                    succeeded: 1,
                    ..PodCounts::default()
                });
                self.end(JobPhase::Completed);
            }
            End::Fails(code) => self.fail(Some(code), false),
            End::Evicted => self.fail(None, true),
            End::AbortsItself => {
                self.view.phase = JobPhase::Aborting;
                self.due = self.view.changed;
            }
            End::NeverStarts | End::Deleted | End::Never => self.due = None,
        }
    }

    fn fail(&mut self, exit_code: Option<i32>, infrastructure: bool) {
        self.view.exit_code = exit_code;
        self.view.infrastructure = infrastructure;
        self.view.tasks = counts(PodCounts {
            failed: 1,
            ..PodCounts::default()
        });
        self.end(JobPhase::Failed);
    }

    fn end(&mut self, phase: JobPhase) {
        self.view.phase = phase;
        self.due = None;
    }

    /// Takes a request to end; an ended or aborted job ignores it.
    pub(super) fn terminate(&mut self, now: Time) {
        if !self.view.phase.is_at_rest() {
            self.view.phase = JobPhase::Terminating;
            self.view.changed = Some(now);
            self.due = Some(now);
        }
    }
}

fn counts(counts: PodCounts) -> Arc<[TaskCount]> {
    Arc::from([TaskCount {
        task: Arc::from("main"),
        replicas: 1,
        counts,
    }])
}
