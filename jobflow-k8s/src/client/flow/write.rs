//! The write of a record: one at a time, on condition that nothing has changed since the record was read, and in force
//! only if the answer carries it.

use std::sync::atomic::Ordering;

use jobflow_core::{Change, Effect, FlowPhase, FlowRecord, NodePhase, Plan, Time};
use serde::Serialize;

use super::base::Base;
use super::{FlowDriver, Held, Pending, Request, Stepped, Surroundings};
use crate::client::observer::{Finding, NodeChange};
use crate::client::request::{Response, Said, Written};
use crate::observe::{is_too_large, refusal};
use crate::parse::Flow;
use crate::status::{self, carries};
use crate::types::{self, FLOW_GROUP, JobFlow, JobFlowStatus, VERSION};

/// A write that hasn't been answered, or whose answer was lost.
#[derive(Debug)]
pub(super) struct Writing {
    /// The status that was sent.
    sent: JobFlowStatus,
    /// The record in it; none for the refusal of a spec.
    record: Option<FlowRecord>,
    changes: Vec<Change>,
    effects: Vec<Effect>,
    truncated: bool,
    /// Whether Volcano's part was left out, since nobody knows yet whether the server keeps ours.
    probing: bool,
}

/// What is sent: the server looks at nothing else of the object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    api_version: String,
    kind: &'static str,
    metadata: Metadata<'a>,
    status: &'a JobFlowStatus,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    name: &'a str,
    namespace: &'a str,
    uid: &'a str,
    resource_version: &'a str,
}

impl FlowDriver {
    /// Sends a record: the planned one with what else waits to be written, or the latter alone.
    pub(super) fn write(
        &mut self,
        stepped: &mut Stepped,
        plan: Option<Plan>,
        around: &Surroundings<'_>,
        now: Time,
    ) {
        if !self.may_act(stepped, now) {
            return;
        }
        let idle = plan.is_none();
        let (record, mut planned, effects) = match plan {
            Some(plan) => {
                self.report = plan.report;
                (plan.next, plan.changes, plan.effects)
            }
            None => (self.snapshot.record.clone(), Vec::new(), Vec::new()),
        };
        let Some((base, parsed)) = self.base.as_ref().zip(self.parsed.as_ref()) else {
            return;
        };
        let Some(flow) = parsed.flow() else { return };
        let written = status::write(status::Writing {
            flow: &base.object,
            base_size: base.size,
            parsed: flow,
            record: &record,
            jobs: self.jobs.by_key(),
            report: &self.report,
            now,
        });
        let Ok(status::Written { status, truncated }) = written else {
            self.holds.failed(Held::Write, None, now);
            return self.find(around, Finding::StatusTooLarge);
        };
        let status = with_fault(status, base, &parsed.faults, now);
        self.dirty_since = None;
        if idle && base.status() == Some(&status) {
            return;
        }
        let mut changes = std::mem::take(&mut self.unwritten);
        changes.append(&mut planned);
        let writing = Writing {
            sent: status,
            record: Some(record),
            changes,
            effects,
            truncated,
            probing: false,
        };
        self.put(stepped, writing, around, now);
    }

    /// Tells in the status that the spec can't be used, unless it says so already.
    pub(super) fn refuse(&mut self, stepped: &mut Stepped, around: &Surroundings<'_>, now: Time) {
        let Some((base, parsed)) = self.base.as_ref().zip(self.parsed.as_ref()) else {
            return;
        };
        let words = parsed.faults.iter().map(ToString::to_string).collect();
        let sent = status::refused(&base.object, &parsed.faults, now);
        let told = base
            .status()
            .is_some_and(|status| carries(&sent, status) && sent.flow_conditions == status.flow_conditions);
        self.find(around, Finding::InvalidSpec(words));
        if told {
            self.tell_refused(around, now, false);
        }
        let silent = told || around.settings.dry_run || self.holds.holds(&Held::Write, now);
        if silent || !self.may_act(stepped, now) {
            return;
        }
        let writing = Writing {
            sent,
            record: None,
            changes: Vec::new(),
            effects: Vec::new(),
            truncated: false,
            probing: false,
        };
        self.put(stepped, writing, around, now);
    }

    /// The status of a flow that has one tells which generation was looked at, and what is wrong with it.
    pub(super) fn tell_generation(&mut self, around: &Surroundings<'_>, now: Time) {
        let Some((base, parsed)) = self.base.as_ref().zip(self.parsed.as_ref()) else {
            return;
        };
        let is_told = base.status().is_none_or(|status| {
            status.observed_generation == Some(base.generation()) && status::tells(status, &parsed.faults)
        });
        if !is_told {
            self.dirty_since.get_or_insert(now);
        }
        if !parsed.faults.is_empty() {
            let words = parsed.faults.iter().map(ToString::to_string).collect();
            self.find(around, Finding::InvalidSpec(words));
        }
    }

    /// Where a flow stands that has no plan, since its spec can't be used; a change of it is told by whoever wrote it.
    fn tell_refused(&mut self, around: &Surroundings<'_>, now: Time, is_news: bool) {
        let status = self.base.as_ref().and_then(|base| base.status());
        let phase = status.and_then(|status| status.state.as_ref()?.phase);
        if phase != Some(types::FlowPhase::Failed) || self.written_phase == FlowPhase::Failed {
            return;
        }
        if is_news {
            around
                .observer
                .flow_changed(self.flow(), self.written_phase, FlowPhase::Failed, now);
        }
        around.observer.flow_stands(self.flow(), FlowPhase::Failed);
        self.written_phase = FlowPhase::Failed;
    }

    fn put(&mut self, stepped: &mut Stepped, mut writing: Writing, around: &Surroundings<'_>, now: Time) {
        let Some(base) = &self.base else { return };
        if !around.schema_keeps.load(Ordering::Relaxed) {
            writing.probing = true;
            leave_out_volcanos(&mut writing.sent, base.status());
        }
        let body = Body {
            api_version: format!("{FLOW_GROUP}/{VERSION}"),
            kind: "JobFlow",
            metadata: Metadata {
                name: &self.name,
                namespace: &self.namespace,
                uid: &self.uid,
                resource_version: base.version(),
            },
            status: &writing.sent,
        };
        let Ok(body) = serde_json::to_vec(&body) else {
            return;
        };
        self.writing = Some(writing);
        self.last_write = Some(now);
        let body = body.into();
        self.send(stepped, Pending::WriteStatus, Request::WriteStatus { body });
    }

    pub(super) fn status_written(&mut self, response: Response, around: &Surroundings<'_>, now: Time) {
        let Some(writing) = self.writing.take() else {
            return;
        };
        match response.into_written() {
            Ok(written) => self.echoed(writing, *written, around, now),
            Err(other) => self.not_written(writing, &other, around, now),
        }
        if let Some(arrived) = self.arrived.take() {
            self.flow_seen(arrived);
        }
    }

    fn echoed(&mut self, writing: Writing, written: Written, around: &Surroundings<'_>, now: Time) {
        if !carries(&writing.sent, &written.status) {
            around.schema_keeps.store(false, Ordering::Relaxed);
            self.holds.failed(Held::Write, None, now);
            self.find(around, Finding::SchemaLacksFields);
            self.drop_unwritten();
            if let Some(base) = &mut self.base {
                base.written(written);
            }
            return;
        }
        around.schema_keeps.store(true, Ordering::Relaxed);
        self.holds.clear(&Held::Write);
        self.in_force(writing, written, around, now, true);
    }

    /// The record is stored: intents in it are this process's own, if their write was answered.
    fn in_force(
        &mut self,
        writing: Writing,
        written: Written,
        around: &Surroundings<'_>,
        now: Time,
        answered: bool,
    ) {
        let Some(base) = &mut self.base else { return };
        base.written(written);
        let Writing {
            sent: _,
            record,
            changes,
            effects,
            truncated,
            probing,
        } = writing;
        let Some(record) = record else {
            return self.tell_refused(around, now, true);
        };
        if self
            .parsed
            .as_ref()
            .is_some_and(|parsed| parsed.faults.is_empty())
        {
            self.clear_finding(around);
        }
        if truncated {
            self.find(around, Finding::StatusTruncated);
        }
        self.snapshot.record = record;
        self.snapshot.ledger = self.ledger();
        if probing {
            self.dirty_since = Some(now);
        }
        self.tell(&changes, around, now);
        if answered {
            let intents = changes.iter().filter(|change| change.to == NodePhase::Submitting);
            self.snapshot.fresh.extend(intents.map(|change| change.key));
            self.released = effects;
            self.released_at = Some(now);
        }
    }

    fn tell(&mut self, changes: &[Change], around: &Surroundings<'_>, now: Time) {
        let Some(flow) = self.parsed.as_ref().and_then(|parsed| parsed.flow()) else {
            return;
        };
        for change in changes {
            around
                .observer
                .node_changed(self.flow(), node_change(flow, &self.snapshot.record, change));
        }
        let phase = self.snapshot.record.phase;
        if phase != self.written_phase {
            around
                .observer
                .flow_changed(self.flow(), self.written_phase, phase, now);
            around.observer.flow_stands(self.flow(), phase);
            self.written_phase = phase;
        }
    }

    fn not_written(&mut self, writing: Writing, other: &Response, around: &Surroundings<'_>, now: Time) {
        self.drop_unwritten();
        if matches!(other, Response::Unsent(_)) {
            return self.holds.failed(Held::Write, None, now);
        }
        let passing = |said: &&Said| said.code >= 500 || said.code == 408;
        let Some(said) = other.said().filter(|said| !passing(said) || says_too_large(said)) else {
            // It may have been stored, or be stored later: the flow itself tells.
            self.holds.failed(Held::Write, other.asked_to_wait(), now);
            self.lost_write = Some(writing);
            self.unread = true;
            return;
        };
        match said.code {
            // Somebody else wrote: what was planned is planned again from what is there now.
            409 => self.unread = true,
            404 if said.is_absent(&self.name) => self.gone = true,
            429 => self.holds.failed(Held::Write, other.asked_to_wait(), now),
            code => self.write_refused(code, said, around, now),
        }
    }

    fn write_refused(&mut self, code: u16, said: &Said, around: &Surroundings<'_>, now: Time) {
        let answer = refusal(code, &said.body, None);
        self.holds.failed(Held::Write, None, now);
        if says_too_large(said) {
            self.find(around, Finding::StatusTooLarge);
        } else {
            self.find(around, Finding::StatusRefused(answer.message.to_string()));
        }
    }

    /// What was planned and not written is forgotten: it is planned again.
    fn drop_unwritten(&mut self) {
        self.unwritten.clear();
        self.dirty_since = None;
        if let Some(parsed) = &mut self.parsed {
            parsed.is_read = false;
        }
    }

    /// A live read after a write whose answer was lost: if it shows that very record, the write is in force. Its
    /// intents count as somebody else's, since its effects may be on their way from a copy of the request.
    pub(super) fn lost_write_found(&mut self, object: &JobFlow, around: &Surroundings<'_>, now: Time) {
        let Some(writing) = self.lost_write.take() else {
            return;
        };
        let stored = object
            .status
            .as_ref()
            .filter(|status| carries(&writing.sent, status));
        let Some(status) = stored.filter(|_| writing.record.is_some()) else {
            return;
        };
        let written = Written {
            version: object.metadata.resource_version.clone().unwrap_or_default(),
            status: status.clone(),
        };
        self.holds.clear(&Held::Write);
        self.in_force(writing, written, around, now, false);
    }
}

/// Whether the object is too large to be stored; etcd's own refusal arrives as a fault of the server.
fn says_too_large(said: &Said) -> bool {
    is_too_large(said.code, &refusal(said.code, &said.body, None).message)
}

/// A status that is about jobs says, too, that an edit of the spec can't be used.
fn with_fault(
    status: JobFlowStatus,
    base: &Base,
    faults: &[crate::fault::Fault],
    now: Time,
) -> JobFlowStatus {
    if faults.is_empty() {
        return status;
    }
    let mut object = JobFlow::new("", types::JobFlowSpec::default());
    object.metadata.generation = base.object.metadata.generation;
    object.status = Some(status);
    status::refused(&object, faults, now)
}

/// Where nobody knows yet whether the server keeps our part, Volcano's part is not touched.
fn leave_out_volcanos(status: &mut JobFlowStatus, previous: Option<&JobFlowStatus>) {
    let previous = previous.cloned().unwrap_or_default();
    status.state = previous.state;
    status.pending_jobs = previous.pending_jobs;
    status.running_jobs = previous.running_jobs;
    status.failed_jobs = previous.failed_jobs;
    status.completed_jobs = previous.completed_jobs;
    status.terminated_jobs = previous.terminated_jobs;
    status.unknown_jobs = previous.unknown_jobs;
    status.job_status_list = previous.job_status_list;
    status.conditions = previous.conditions;
}

fn node_change<'a>(flow: &'a Flow, record: &'a FlowRecord, change: &Change) -> NodeChange<'a> {
    let node = record
        .nodes
        .get(change.key.node)
        .filter(|node| node.phase() == change.to);
    NodeChange {
        node: &flow.graph.entry(change.key.node).name,
        attempt: change.key.attempt,
        from: change.from,
        to: change.to,
        event: change.event,
        reason: node.and_then(|node| node.reason),
        message: node.and_then(|node| node.message.as_deref()),
        at: change.at,
    }
}
