//! The record of a flow, read from its status: ours, what Volcano's controller left, or what can be made of a loss.

use std::collections::BTreeSet;
use std::sync::Arc;

use jobflow_core::record::FlowRecord;
use jobflow_core::snapshot::{EffectKind, Ledger, Sighting};
use jobflow_core::{JobKey, NodeId, NodePhase, Time};

use super::{FlowDriver, Held, Pending, REQUEST_LIMIT, Request, Stepped, Surroundings};
use crate::client::observer::Finding;
use crate::names::{CREATED_BY_FLOW, label_value};
use crate::status::{self, is_taken_over, salvage};

impl FlowDriver {
    /// Reads the record from the status that is known. False while that can't be done.
    pub(super) fn read_record(
        &mut self,
        stepped: &mut Stepped,
        around: &Surroundings<'_>,
        now: Time,
    ) -> bool {
        let Some((base, parsed)) = self.base.as_ref().zip(self.parsed.as_ref()) else {
            return false;
        };
        let Some(flow) = parsed.flow().map(Arc::clone) else {
            return false;
        };
        let object = Arc::clone(&base.object);
        let (ledger, theirs) = (status::ledger(&object), is_taken_over(&object));
        if theirs && !around.settings.take_over {
            self.find(around, Finding::NotTakenOver);
            return false;
        }
        let salvaged = ledger == Ledger::Lost || theirs;
        if salvaged && !self.listed {
            if self.may_act(stepped, now) {
                self.list(stepped, now);
            }
            return false;
        }
        if ledger == Ledger::Lost {
            self.find(around, Finding::LedgerLost);
        }
        let record = if salvaged {
            salvage(&object, &flow, &self.with_jobs())
        } else {
            match status::read(&object, &flow) {
                Ok(record) => record,
                Err(faults) => {
                    let words: Vec<String> = faults.iter().map(ToString::to_string).collect();
                    self.find(around, Finding::UnreadableStatus(words.join("; ")));
                    return false;
                }
            }
        };
        around.observer.flow_stands(self.flow(), record.phase);
        self.take_record(record, ledger);
        true
    }

    fn take_record(&mut self, mut record: FlowRecord, ledger: Ledger) {
        self.restore_hashes(&mut record);
        self.written_phase = record.phase;
        self.snapshot.record = record;
        self.snapshot.ledger = ledger;
        self.unwritten.clear();
        self.released.clear();
        if let Some(parsed) = &mut self.parsed {
            parsed.is_read = true;
        }
        let nodes = &self.snapshot.record.nodes;
        self.snapshot.fresh.retain(|key| {
            nodes.get(key.node).is_some_and(|node| {
                node.phase() == NodePhase::Submitting && node.attempt == key.attempt && node.uid.is_none()
            })
        });
        self.keep_names();
        self.miss();
    }

    /// What the status leaves out of ended entries, and was known here before they got other numbers.
    fn restore_hashes(&mut self, record: &mut FlowRecord) {
        let hashes = std::mem::take(&mut self.hashes);
        let flow = self.parsed.as_ref().and_then(|parsed| parsed.flow());
        let Some(flow) = flow.filter(|_| !hashes.is_empty()) else {
            return;
        };
        for (entry, node) in flow.entries.iter().zip((0..).map(NodeId)) {
            let kept = &record.nodes[node];
            let unknown = kept.phase().is_end() && kept.entry_hash == 0;
            if let Some(hash) = hashes.get(&entry.name).filter(|_| unknown) {
                record.nodes.change(node).entry_hash = *hash;
            }
        }
    }

    /// All Jobs of the flow, read live: what the store shows may be old.
    fn list(&mut self, stepped: &mut Stepped, now: Time) {
        let listing = self
            .pending
            .values()
            .any(|pending| matches!(pending, Pending::List(_)));
        if !listing && !self.holds.holds(&Held::Read, now) {
            let selector = self.selector();
            self.send(stepped, Pending::List(Vec::new()), Request::ListJobs { selector });
        }
    }

    /// Selects the Jobs that bear the flow's label.
    pub(super) fn selector(&self) -> String {
        let label = label_value(&format!("{}.{}", self.namespace, self.name));
        format!("{CREATED_BY_FLOW}={label}")
    }

    fn with_jobs(&self) -> BTreeSet<NodeId> {
        let jobs = self.snapshot.jobs.iter();
        let seen = jobs.filter(|(_, sighting)| matches!(sighting, Sighting::Seen(_)));
        seen.map(|(key, _)| key.node).collect()
    }

    /// Intents from before this term may still be on their way to the server: their names stay taken for a while.
    fn keep_names(&mut self) {
        let until = self.since + REQUEST_LIMIT;
        for (node, record) in self.snapshot.record.nodes.iter() {
            let key = JobKey {
                node,
                index: 0,
                attempt: record.attempt,
            };
            let inherited = record.phase() == NodePhase::Submitting && record.uid.is_none();
            if inherited && !self.snapshot.fresh.contains(&key) {
                self.holds.hold(Held::Job(key, EffectKind::Delete), until);
            }
        }
    }

    pub(super) fn ledger(&self) -> Ledger {
        self.base
            .as_ref()
            .map_or(Ledger::Unborn, |base| status::ledger(&base.object))
    }
}
