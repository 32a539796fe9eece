//! A made-up pod: Pending, Running, and an end, each when its time has come.

use jobflow_core::Time;
use jobflow_core::gang::{PodKey, PodPhase, PodView};

use crate::course::{PodCourse, PodEnd};

/// A pod that there is.
#[derive(Debug)]
pub(super) struct Pod {
    pub(super) view: PodView,
    /// When something happens to it by itself.
    pub(super) due: Option<Time>,
}

impl Pod {
    pub(super) fn new(course: &PodCourse, now: Time) -> Self {
        Self {
            view: PodView::new(PodPhase::Pending),
            due: course.pending_for.map(|span| now + span),
        }
    }

    /// Whether it runs or ran.
    pub(super) const fn has_run(&self) -> bool {
        !matches!(self.view.phase, PodPhase::Pending)
    }

    /// Is told to go, and is gone then; without a time when somebody says so.
    pub(super) fn go(&mut self, at: Option<Time>) {
        self.view.terminating = true;
        self.due = at;
    }

    /// Does what is due; false when it is gone. Where pods are objects, one is gone when its object is.
    pub(super) fn advance(&mut self, key: PodKey, course: &PodCourse, objects: bool, now: Time) -> bool {
        self.due = None;
        if self.view.terminating {
            return false;
        }
        match self.view.phase {
            PodPhase::Pending => self.run(key, course, now),
            PodPhase::Running => self.end(course.end(key.incarnation), course, objects, now),
            PodPhase::Succeeded | PodPhase::Failed | PodPhase::Unknown => {}
        }
        true
    }

    fn run(&mut self, key: PodKey, course: &PodCourse, now: Time) {
        self.view = PodView::new(PodPhase::Running);
        let ends = course.end(key.incarnation) != PodEnd::Never;
        self.due = ends.then(|| now + course.runs_for);
    }

    fn end(&mut self, end: PodEnd, course: &PodCourse, objects: bool, now: Time) {
        match end {
            PodEnd::Exits(0) => self.view = PodView::new(PodPhase::Succeeded),
            PodEnd::Exits(code) => self.view = PodView::failed(code),
            PodEnd::Evicted => self.go((!objects).then(|| now + course.goes_within)),
            PodEnd::Never => {}
        }
    }
}
