//! When nothing is left to do for a flow, so that what is known of it can be dropped.

use std::sync::Arc;

use jobflow_core::{FlowPhase, Span, Time};

use super::{FlowDriver, Stepped};
use crate::observe::SlimJob;
use crate::types::JobPhase;

/// How long after an end more of it is told: Volcano writes how long a Job ran a moment after its end, and what pods tell
/// may be late.
const AFTERWARDS: Span = Span::from_secs(60);

impl FlowDriver {
    /// A flow of which nothing is known any more: it begins with a live read.
    #[must_use]
    pub fn unknown(namespace: &str, name: &str, uid: &str, now: Time) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            base: None,
            gone: false,
            unread: true,
            ..Self::new(Arc::default(), now)
        }
    }

    /// Whether the flow has ended a while ago, its end is written, its Jobs have ended too, and nothing is asked or awaited.
    /// Something may still be due at a later time, which `stepped` tells.
    #[must_use]
    pub fn is_at_rest(&self, stepped: &Stepped, now: Time) -> bool {
        let Stepped { requests, .. } = stepped;
        let asks = !requests.is_empty() || !self.pending.is_empty() || self.unread || self.gone;
        let writes = self.writing.is_some()
            || self.lost_write.is_some()
            || self.arrived.is_some()
            || self.dirty_since.is_some()
            || !self.unwritten.is_empty()
            || self.written_phase != self.snapshot.record.phase;
        let acts = !self.released.is_empty() || !self.owners.is_empty() || !self.snapshot.strays.is_empty();
        let ended = self.parsed.as_ref().is_some_and(|parsed| parsed.is_read)
            && matches!(self.written_phase, FlowPhase::Succeed | FlowPhase::Failed)
            && self.jobs.all().all(has_ended);
        let told = self.told_all_at(now).is_none_or(|at| at <= now);
        ended && told && !asks && !writes && !acts && self.probes.is_empty()
    }

    /// When all is told of the end of the flow and of its Jobs; none before it has ended.
    pub(super) fn told_all_at(&self, now: Time) -> Option<Time> {
        let ended = self.snapshot.record.completion_time?;
        let jobs = self.jobs.all().filter_map(|job| job.changed);
        // A Job's time is whatever somebody wrote there.
        let last = jobs.map(|at| at.min(now)).fold(ended, Time::max);
        Some(last + AFTERWARDS)
    }
}

/// Whether nothing more is to be heard of a Job.
pub(in crate::client) fn has_ended(job: &SlimJob) -> bool {
    let ended = matches!(
        job.phase,
        JobPhase::Completed | JobPhase::Failed | JobPhase::Terminated | JobPhase::Aborted
    );
    ended && !job.is_deleting()
}
