//! What would let an entry go on, from the last node on the way to the cause.

use jobflow_core::record::NodeRecord;
use jobflow_core::report::{Explanation, Stands, Why};
use jobflow_core::{NodeId, NodePhase, Reason};

use super::Scene;
use crate::standing::between;

impl Scene<'_> {
    /// One sentence without an end; the cause is the last of the chain.
    pub(super) fn release(&self, chain: &[Explanation]) -> String {
        let (Some(first), Some(cause)) = (chain.first(), chain.last()) else {
            return String::new();
        };
        let records = &self.view.record.nodes;
        let (Some(own), Some(record)) = (records.get(first.node), records.get(cause.node)) else {
            return String::new();
        };
        if own.phase().is_end() {
            return ended(own);
        }
        let delays = cause.waits.iter().filter_map(|wait| match wait.stands {
            Stands::Delayed { until, .. } => Some(until),
            Stands::NotYet | Stands::Holds { .. } | Stands::Never { .. } | Stands::LeftOut => None,
        });
        if let (Some(Why::Targets { .. }), Some(until)) = (cause.why, delays.min()) {
            return format!(
                "in {}, when the delay of {} is over",
                between(self.view.now, until),
                self.name(cause.node)
            );
        }
        if chain.len() == 1 && record.phase() == NodePhase::Running {
            return "by itself: its job runs".to_owned();
        }
        self.of_cause(cause, record)
    }

    fn of_cause(&self, cause: &Explanation, record: &NodeRecord) -> String {
        let name = self.name(cause.node);
        match record.phase() {
            NodePhase::Running => format!("when the job of {name} gets so far"),
            NodePhase::Submitting => match cause.why {
                Some(Why::HeldBack(reason)) => self.of_reason(reason, cause),
                Some(_) | None => format!("when the job of {name} is there"),
            },
            NodePhase::Queued => self.room(cause.node),
            NodePhase::Stopping => format!("when the {} of {name} have ended", self.place.pods()),
            NodePhase::Waiting | NodePhase::Blocked | NodePhase::BackingOff | NodePhase::Paused => {
                self.of_why(cause, record)
            }
            NodePhase::Succeeded | NodePhase::Failed | NodePhase::Skipped | NodePhase::Cancelled => {
                format!("at the next plan: {name} has ended")
            }
        }
    }

    fn room(&self, node: NodeId) -> String {
        let mut releases = self.notes_of(node).iter().filter_map(|note| note.release.clone());
        let started = || {
            format!(
                "when the {} of {} have started",
                self.place.pods(),
                self.name(node)
            )
        };
        releases.next().unwrap_or_else(started)
    }

    fn of_why(&self, cause: &Explanation, record: &NodeRecord) -> String {
        let name = self.name(cause.node);
        match cause.why {
            Some(Why::Until(at)) => {
                let (next, left) = (record.attempt.saturating_add(1), between(self.view.now, at));
                format!("in {left}, with attempt {next} of {name}")
            }
            Some(Why::HeldBack(reason)) => self.of_reason(reason, cause),
            Some(Why::PodsLeft) => {
                format!(
                    "when the {} of the last attempt of {name} have ended",
                    self.place.pods()
                )
            }
            Some(Why::NextWave | Why::Preparing | Why::InFlight) => "by itself, at once".to_owned(),
            Some(Why::Gate(gate)) => format!("when {} has decided", self.name(gate)),
            Some(Why::FinallyNotOpen) => "when all other entries have ended".to_owned(),
            Some(Why::Unanswered { first, .. }) => format!("when {} answers", self.name(first)),
            Some(Why::Targets { first, .. }) => format!("when {} gets so far", self.name(first)),
            Some(Why::Job) | None => format!("when the job of {name} gets so far"),
            // A reason that a later version adds has no words here yet.
            Some(_) => "by itself".to_owned(),
        }
    }

    fn of_reason(&self, reason: Reason, cause: &Explanation) -> String {
        let noted = self
            .notes_of(cause.node)
            .iter()
            .find_map(|note| note.release.clone());
        if let Some(noted) = noted {
            return noted;
        }
        match (reason, &cause.limit) {
            (Reason::ParallelismLimit, Some(limit)) => {
                let names: Vec<String> = limit.alive.iter().take(3).map(|node| self.name(*node)).collect();
                let more = match limit.alive.len().saturating_sub(names.len()) {
                    0 => String::new(),
                    more => format!(" or {more} more"),
                };
                format!(
                    "when {}{more} ends: {} of {} jobs are alive ({})",
                    names.join(" or "),
                    limit.alive.len(),
                    limit.most,
                    self.place.limit()
                )
            }
            (Reason::Suspended, _) => self.place.resumed(&self.seen.flow),
            (Reason::TemplateNotFound, _) => {
                format!("when there is a JobTemplate `{}`", self.template(cause.node))
            }
            (Reason::LedgerLost, _) => "when somebody tells whether it ran".to_owned(),
            (Reason::NameTaken, _) => "when the object that has its job's name is gone".to_owned(),
            (Reason::QuotaExceeded, _) => "when the namespace's quota has room for its job".to_owned(),
            (Reason::QueueUnavailable, _) => "when its queue is there and takes jobs".to_owned(),
            (Reason::NotPermitted, _) => "when the controller may create its job".to_owned(),
            (Reason::ServerUnavailable, _) => "by itself, when the server answers".to_owned(),
            (Reason::NamespaceTerminating, _) => "no more; its namespace is being deleted".to_owned(),
            (other, _) => format!("when this is over: {other}"),
        }
    }

    fn template(&self, node: NodeId) -> String {
        let entry = self.flow.entries.get(node.position());
        let named = entry.map(|entry| entry.template.clone().unwrap_or_else(|| entry.name.clone()));
        named.unwrap_or_default()
    }
}

/// What ended goes on no more.
fn ended(record: &NodeRecord) -> String {
    if record.phase() == NodePhase::Succeeded {
        return "no more; it has succeeded".to_owned();
    }
    match record.is_skipped_benignly() {
        true => "no more; it was skipped as intended".to_owned(),
        false => "no more; run the flow again once the cause is mended".to_owned(),
    }
}
