//! What a plan gets to see: each Job that is there, and that others are not.

use jobflow_core::{
    JobKey, NodePhase, Time,
    snapshot::{Ledger, Sighting, Snapshot},
};

use super::Drive;

impl Drive<'_> {
    /// The record, and every Job of it: this process knows them all, so that one it doesn't know doesn't exist.
    pub(super) fn snapshot(&self, now: Time) -> Snapshot {
        let seen = self
            .host
            .jobs()
            .filter_map(|(key, _)| Some((*key, Sighting::Seen(self.host.view(*key)?))));
        let live = self
            .record
            .nodes
            .iter()
            .filter(|(_, record)| record.phase().is_live());
        let keys = live.map(|(node, record)| JobKey {
            node,
            index: 0,
            attempt: record.attempt,
        });
        let gone = keys
            .filter(|key| self.host.job(*key).is_none())
            .map(|key| (key, Sighting::Gone { last: None, at: now }));
        Snapshot {
            record: self.record.clone(),
            wishes: self.prepared.flow.wishes.clone(),
            ledger: Ledger::Kept,
            jobs: gone.chain(seen).collect(),
            stop_requests: self.stop_requests.clone(),
            ..Snapshot::default()
        }
    }

    /// Whether a Job is of no more use: its node has gone on without it.
    pub(super) fn is_spent(&self, key: JobKey) -> bool {
        let record = &self.record.nodes[key.node];
        let past = record.phase().is_end()
            || record.attempt != key.attempt
            || record.phase() == NodePhase::BackingOff;
        past && self.host.job(key).is_some_and(|job| job.phase().is_at_rest())
    }
}
