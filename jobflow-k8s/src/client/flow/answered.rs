//! What an answer says of the world. A refusal or a lost answer is never taken for a fact: the next look is.

use std::sync::Arc;
use std::time::Duration;

use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::snapshot::{EffectKind, Sighting};
use jobflow_core::{JobKey, Span, Time};

use super::{FlowDriver, Held, Pending, REQUEST_LIMIT, Surroundings};
use crate::client::Finding;
use crate::client::request::{Response, Ticket};
use crate::observe::{Ownership, SlimJob, refusal, unanswered};

/// For how long Jobs are deleted rather than told to end, after a Command couldn't be created.
const WITHOUT_COMMANDS: Span = Span::from_secs(300);

impl FlowDriver {
    pub(super) fn answered(
        &mut self,
        ticket: Ticket,
        response: Response,
        around: &Surroundings<'_>,
        now: Time,
    ) {
        let Some(pending) = self.pending.remove(&ticket) else {
            return;
        };
        match pending {
            Pending::ReadFlow => self.flow_read(response, around, now),
            Pending::WriteStatus => self.status_written(response, around, now),
            Pending::MarkBirth => self.birth_marked(response, now),
            Pending::Create(key) => self.create_answered(key, response, around, now),
            Pending::Look(key) => self.job_read(key, response, around, now),
            Pending::List(keys) => self.jobs_listed(&keys, response, around, now),
            Pending::LookAtPods(key, job) => self.pods_listed(key, &job, response, around, now),
            Pending::Owner(key, job) => self.owner_read(key, &job, response, now),
            Pending::Terminate(key) => self.terminate_answered(key, &response, around, now),
            Pending::Delete(key) => self.delete_answered(key, response, around, now),
            Pending::DeleteStray(uid) => self.stray_answered(uid, &response, now),
            Pending::DeleteFlow => self.flow_deleted(&response, now),
            Pending::ListFrozen => self.frozen_listed(response, around, now),
            Pending::Freeze(source) => self.template_frozen(source, response, now),
            Pending::Ask(question, since) => self.fact_answered((question, since), response, around, now),
            Pending::Disowned => {}
        }
    }

    fn flow_read(&mut self, response: Response, around: &Surroundings<'_>, now: Time) {
        match response.into_flow() {
            Ok(object) if object.metadata.uid.as_deref() == Some(&self.uid) => {
                self.holds.clear(&Held::Read);
                self.verified = true;
                self.lost_write_found(&object, around, now);
                self.take_object(Arc::new(*object));
            }
            Ok(_) => self.gone = true,
            Err(other) if other.is_absent(&self.name) => self.gone = true,
            Err(other) => self.holds.failed(Held::Read, other.asked_to_wait(), now),
        }
    }

    fn birth_marked(&mut self, response: Response, now: Time) {
        match response.into_flow() {
            Ok(object) => {
                self.flow_seen(Arc::new(*object));
                if self.base.as_ref().is_some_and(super::Base::is_marked) {
                    return self.holds.clear(&Held::Mark);
                }
                self.holds.failed(Held::Mark, None, now);
            }
            Err(other) => {
                self.holds.failed(Held::Mark, other.asked_to_wait(), now);
                self.unread |= matches!(other.refusal(), Some(404 | 409 | 422));
            }
        }
    }

    fn create_answered(&mut self, key: JobKey, response: Response, around: &Surroundings<'_>, now: Time) {
        let other = match response.into_job() {
            Ok(job) => {
                if let Some(since) = self.released_at {
                    let took = Duration::from_millis(now.since(since).0);
                    around.observer.created(self.flow(), took);
                }
                self.holds.clear(&Held::Job(key, EffectKind::Create));
                return self.job_seen(Arc::new(*job), around, now);
            }
            Err(other) => other,
        };
        if matches!(other, Response::Unsent(_)) {
            // Nobody has heard of it: it may be sent without a look later.
            self.snapshot.fresh.insert(key);
            return self.holds.failed(Held::Job(key, EffectKind::Create), None, now);
        }
        let answer = match other.said() {
            Some(said) => refusal(said.code, &said.body, said.retry_after.as_deref()),
            None => unanswered(&format!("{other:?}")),
        };
        if other.refusal().is_none_or(|code| code >= 500 || code == 408) {
            self.holds
                .hold(Held::Job(key, EffectKind::Delete), now + REQUEST_LIMIT);
        }
        self.jobs.refused(key, answer);
        // A sighting in the meantime says more than a refusal.
        self.snapshot.jobs.entry(key).or_insert(Sighting::Uncertain);
    }

    fn job_read(&mut self, key: JobKey, response: Response, around: &Surroundings<'_>, now: Time) {
        let name = self.job_name(key).unwrap_or_default();
        let look = Held::Job(key, EffectKind::Look);
        match response.into_job() {
            Ok(job) => self.job_found(key, job, around, now),
            Err(other) if other.is_absent(&name) => self.read_nothing(key, around, now),
            Err(other) => return self.holds.failed(look, other.asked_to_wait(), now),
        }
        self.holds.clear(&look);
    }

    fn job_found(&mut self, key: JobKey, job: Box<SlimJob>, around: &Surroundings<'_>, now: Time) {
        let Some(flow) = self
            .parsed
            .as_ref()
            .and_then(|parsed| parsed.flow())
            .map(Arc::clone)
        else {
            return;
        };
        match self.owner_of(&job, &flow, around) {
            Ownership::Ours(found) if found == key => self.read_own(key, Arc::new(*job), around, now),
            Ownership::Ours(_) | Ownership::OursUnmarked => self.read_foreign(key, job.is_deleting(), now),
            Ownership::Foreign { leaving: true } if !job.is_deleting() => self.ask_owner(key, job),
            Ownership::Foreign { leaving } => self.read_foreign(key, leaving, now),
        }
    }

    /// The store doesn't show the flow that owns the Job; only a live read says that it is gone.
    fn ask_owner(&mut self, key: JobKey, job: Box<SlimJob>) {
        self.owners.push((key, job));
    }

    fn owner_read(&mut self, key: JobKey, job: &SlimJob, response: Response, now: Time) {
        let Some(owner) = job.metadata.owner_references.iter().flatten().next() else {
            return self.read_foreign(key, false, now);
        };
        match response.into_flow() {
            Ok(flow) => {
                let alive = flow.metadata.uid.as_deref() == Some(&owner.uid);
                self.read_foreign(key, !alive, now);
            }
            Err(other) if other.is_absent(&owner.name) => self.read_foreign(key, true, now),
            Err(other) => {
                self.holds
                    .failed(Held::Job(key, EffectKind::Look), other.asked_to_wait(), now);
            }
        }
    }

    /// What a list by label doesn't show may be there all the same, without the label; a create finds that out.
    fn jobs_listed(&mut self, keys: &[JobKey], response: Response, around: &Surroundings<'_>, now: Time) {
        let Response::Jobs(jobs) = response else {
            let asked = response.asked_to_wait();
            for key in keys {
                self.holds.failed(Held::Job(*key, EffectKind::Look), asked, now);
            }
            self.holds.failed(Held::Read, asked, now);
            return;
        };
        self.listed = true;
        let mut found: std::collections::BTreeMap<String, SlimJob> =
            jobs.into_iter().map(|job| (job.name().to_owned(), job)).collect();
        for key in keys {
            let job = self.job_name(*key).and_then(|name| found.remove(&name));
            match job {
                Some(job) => self.job_found(*key, Box::new(job), around, now),
                None => self.read_nothing(*key, around, now),
            }
        }
        found
            .into_values()
            .for_each(|job| self.job_listed(job, around, now));
    }

    /// What isn't there any more, or may not be seen, tells nothing; that is an answer, too.
    fn pods_listed(
        &mut self,
        key: JobKey,
        job: &SlimJob,
        response: Response,
        around: &Surroundings<'_>,
        now: Time,
    ) {
        let look = Held::Job(key, EffectKind::LookAtPods);
        let pods = match response.into_pods() {
            Ok(pods) => pods,
            Err(other) if matches!(other.refusal(), Some(400 | 403 | 404)) => Vec::new(),
            Err(other) => return self.holds.failed(look, other.asked_to_wait(), now),
        };
        self.holds.clear(&look);
        self.pods_read(key, job, &pods, around);
    }

    /// A Job that nobody asked for: it counts if it is ours.
    fn job_listed(&mut self, job: SlimJob, around: &Surroundings<'_>, now: Time) {
        let owners = job.metadata.owner_references.iter().flatten();
        if owners
            .clone()
            .any(|owner| owner.controller == Some(true) && owner.uid == self.uid)
        {
            self.job_seen(Arc::new(job), around, now);
        }
    }

    fn terminate_answered(&mut self, key: JobKey, response: &Response, around: &Surroundings<'_>, now: Time) {
        if matches!(response, Response::Done) {
            return self.holds.clear(&Held::Job(key, EffectKind::Terminate));
        }
        let passing = |code: u16| code >= 500 || code == 429 || code == 408;
        let Some(said) = response.said().filter(|said| !passing(said.code)) else {
            return self.effect_failed(key, EffectKind::Terminate, response, now);
        };
        let answer = refusal(said.code, &said.body, None);
        self.snapshot.stop_requests.remove(&key);
        self.holds.hold(Held::Commands, now + WITHOUT_COMMANDS);
        self.find(around, Finding::CommandsUnavailable(answer.message.to_string()));
    }

    fn delete_answered(
        &mut self,
        key: Option<JobKey>,
        response: Response,
        around: &Surroundings<'_>,
        now: Time,
    ) {
        let Some(key) = key else { return };
        match response.into_job() {
            Ok(job) => {
                self.holds.clear(&Held::Job(key, EffectKind::Delete));
                self.job_seen(Arc::new(*job), around, now);
            }
            // Gone, or another one by now: only a look tells.
            Err(other) if is_settled(&other) => self.deleted(key),
            Err(other) => self.effect_failed(key, EffectKind::Delete, &other, now),
        }
    }

    fn deleted(&mut self, key: JobKey) {
        self.holds.clear(&Held::Job(key, EffectKind::Delete));
        self.missing(key);
    }

    fn effect_failed(&mut self, key: JobKey, kind: EffectKind, response: &Response, now: Time) {
        self.snapshot.stop_requests.remove(&key);
        self.holds
            .failed(Held::Job(key, kind), response.asked_to_wait(), now);
    }

    fn stray_answered(&mut self, uid: String, response: &Response, now: Time) {
        if matches!(response, Response::Job(_)) || is_settled(response) {
            self.snapshot.strays.retain(|stray| *stray.uid.0 != *uid);
            self.holds.clear(&Held::Stray(uid));
        } else {
            self.holds.failed(Held::Stray(uid), response.asked_to_wait(), now);
        }
    }

    /// Anything but a yes is looked into: the flow may have been edited, or be another one by now.
    fn flow_deleted(&mut self, response: &Response, now: Time) {
        if matches!(response, Response::Done) {
            self.gone = true;
            return;
        }
        self.holds.failed(Held::DeleteFlow, response.asked_to_wait(), now);
        self.unread = true;
    }

    /// An answer is as old as its question: what it is about may have come while it was looked for.
    fn fact_answered(
        &mut self,
        (question, since): (FactKey, Time),
        response: Response,
        around: &Surroundings<'_>,
        now: Time,
    ) {
        let held = Held::Fact(question.clone());
        let Response::Fact(Ok(text)) = response else {
            return self.holds.failed(held, None, now);
        };
        let FactKey::Custom { kind, .. } = &question else {
            return;
        };
        let period = around
            .extensions
            .source(kind)
            .map_or(0, |source| source.period().as_millis());
        self.holds.clear(&held);
        self.holds
            .hold(held, now + Span(u64::try_from(period).unwrap_or(u64::MAX)));
        self.facts.learn(question, Answer::Custom(text.into()), since);
    }
}

/// Whether what was to be deleted is not there any more.
fn is_settled(response: &Response) -> bool {
    matches!(response, Response::Done) || matches!(response.refusal(), Some(404 | 409))
}
