//! What is known of the flow's Jobs, as sightings: from the store, from live reads, from answers to creates. The newest
//! version counts, and only a live read says that a Job isn't there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobflow_core::record::FlowRecord;
use jobflow_core::snapshot::{JobView, Refusal, RefusalClass, Sighting, Stray};
use jobflow_core::{JobKey, NodePhase, Time, Uid};

use super::base::is_newer;
use super::{FlowDriver, Surroundings};
use crate::observe::{Answer, Owner, Ownership, PodsSeen, SlimJob, SlimPod, account, job_view, ownership};
use crate::parse::Flow;

/// The Jobs of a flow beside their sightings.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// Those that are there, by UID.
    objects: BTreeMap<String, Arc<SlimJob>>,
    /// The last that was seen of each key.
    by_key: BTreeMap<JobKey, Arc<SlimJob>>,
    /// What pods tell, by the UID of their Job.
    pods: BTreeMap<String, Arc<PodsSeen>>,
    /// UIDs of Jobs whose pods were read live after they had ended.
    pods_read: BTreeSet<String>,
    /// UIDs that a live read showed to be gone, until the store agrees.
    gone: BTreeSet<String>,
    /// What was said to a create, until a live read tells whether the Job is there all the same.
    refusing: BTreeMap<JobKey, Answer>,
    /// How often in a row creates were refused.
    refusals: BTreeMap<JobKey, u32>,
}

impl Jobs {
    /// Those that are there.
    pub(super) fn all(&self) -> impl Iterator<Item = &SlimJob> {
        self.objects.values().map(|job| &**job)
    }

    pub(super) const fn by_key(&self) -> &BTreeMap<JobKey, Arc<SlimJob>> {
        &self.by_key
    }

    fn view(&self, job: &SlimJob, around: &Surroundings<'_>) -> JobView {
        let view = job_view(job, self.pods.get(job.uid()).map(|pods| &**pods));
        JobView {
            pods_unread: around.settings.pods && !self.pods_read.contains(job.uid()),
            ..view
        }
    }

    fn pods_seen(&mut self, job: &str, seen: PodsSeen) {
        let seen = seen.after(self.pods.get(job).map(|before| &**before));
        self.pods.insert(job.to_owned(), Arc::new(seen));
    }

    /// A create was answered with something other than the Job.
    pub(super) fn refused(&mut self, key: JobKey, answer: Answer) {
        self.refusing.insert(key, answer);
    }
}

impl FlowDriver {
    pub(super) fn job_seen(&mut self, job: Arc<SlimJob>, around: &Surroundings<'_>, now: Time) {
        let (uid, version) = (job.uid(), version(&job));
        let known = self.jobs.objects.get(uid);
        if self.jobs.gone.contains(uid) || known.is_some_and(|known| !is_newer(version, self::version(known)))
        {
            return;
        }
        if known.is_some_and(|known| shows_more(known, &job)) {
            self.dirty_since.get_or_insert(now);
        }
        let job = match known {
            Some(known) => job.after(known),
            None => job,
        };
        self.jobs.objects.insert(job.uid().to_owned(), Arc::clone(&job));
        self.sight(&job, around);
    }

    /// More is known of a Job through its pods.
    pub(super) fn pods_seen(&mut self, job: String, pods: Arc<PodsSeen>, around: &Surroundings<'_>) {
        self.jobs.pods_seen(&job, Arc::unwrap_or_clone(pods));
        let known = self.jobs.objects.get(&job).map(Arc::clone);
        if let Some(job) = known {
            self.sight(&job, around);
        }
    }

    /// The pods of a Job that has ended were read live.
    pub(super) fn pods_read(
        &mut self,
        key: JobKey,
        job: &SlimJob,
        pods: &[SlimPod],
        around: &Surroundings<'_>,
    ) {
        self.jobs.pods_read.insert(job.uid().to_owned());
        self.jobs.pods_seen(job.uid(), account(job, pods, 0));
        let fresh = self.jobs.view(job, around);
        let (Some(Sighting::Seen(view)) | Some(Sighting::Gone { last: Some(view), .. })) =
            self.snapshot.jobs.get_mut(&key)
        else {
            return;
        };
        if view.uid == fresh.uid {
            *view = fresh;
        }
    }

    /// The store says that a Job is gone. That is no proof: another one of that name may be there.
    pub(super) fn job_gone(&mut self, job: &Arc<SlimJob>) {
        let uid = job.uid();
        self.jobs.objects.remove(uid);
        self.jobs.gone.remove(uid);
        self.snapshot.strays.retain(|stray| *stray.uid.0 != *uid);
        let is_it = |sighting: &Sighting| matches!(sighting, Sighting::Seen(view) if *view.uid.0 == *uid);
        let seen = self.snapshot.jobs.iter().filter(|(_, sighting)| is_it(sighting));
        let found: Vec<JobKey> = seen.map(|(key, _)| *key).collect();
        if found.iter().all(|key| is_over(&self.snapshot.record, *key)) {
            self.jobs.pods.remove(uid);
            self.jobs.pods_read.remove(uid);
        }
        for key in found {
            self.jobs.by_key.insert(key, Arc::clone(job));
            self.missing(key);
        }
    }

    /// The Job of this key isn't where it was: that has to be looked at, if anybody waits for it.
    pub(super) fn missing(&mut self, key: JobKey) {
        if is_over(&self.snapshot.record, key) {
            self.snapshot.jobs.remove(&key);
            self.snapshot.stop_requests.remove(&key);
        } else {
            self.snapshot.jobs.insert(key, Sighting::Missing);
        }
    }

    /// A new list: what it doesn't show has to be looked for.
    pub(super) fn relisted(&mut self, jobs: Vec<Arc<SlimJob>>, around: &Surroundings<'_>, now: Time) {
        let shown: BTreeSet<&str> = jobs.iter().map(|job| job.uid()).collect();
        let missing = self
            .jobs
            .objects
            .iter()
            .filter(|(uid, _)| !shown.contains(uid.as_str()));
        let missing: Vec<Arc<SlimJob>> = missing.map(|(_, job)| Arc::clone(job)).collect();
        self.jobs.gone.retain(|uid| shown.contains(uid.as_str()));
        missing.iter().for_each(|job| self.job_gone(job));
        jobs.into_iter().for_each(|job| self.job_seen(job, around, now));
    }

    /// All sightings anew, after the entries of the flow have changed.
    pub(super) fn sight_all(&mut self, around: &Surroundings<'_>) {
        self.snapshot.jobs.clear();
        self.snapshot.strays.clear();
        self.jobs.by_key.clear();
        self.jobs.refusing.clear();
        self.jobs.refusals.clear();
        let jobs: Vec<Arc<SlimJob>> = self.jobs.objects.values().map(Arc::clone).collect();
        jobs.iter().for_each(|job| self.sight(job, around));
        self.miss();
    }

    /// Jobs that the record knows and nobody shows have to be looked for.
    pub(super) fn miss(&mut self) {
        for (node, record) in self.snapshot.record.nodes.iter() {
            let key = JobKey {
                node,
                index: 0,
                attempt: record.attempt,
            };
            if record.phase().is_live() && record.uid.is_some() {
                self.snapshot.jobs.entry(key).or_insert(Sighting::Missing);
            }
        }
    }

    fn sight(&mut self, job: &Arc<SlimJob>, around: &Surroundings<'_>) {
        let Some(flow) = self.parsed.as_ref().and_then(|parsed| parsed.flow()) else {
            return;
        };
        let Ownership::Ours(key) = self.owner_of(job, flow, around) else {
            return;
        };
        let view = self.jobs.view(job, around);
        let judged_gone = matches!(self.snapshot.jobs.get(&key), Some(Sighting::Gone { .. }));
        if judged_gone && is_another(&self.snapshot.record, key, &view.uid)
            || is_late(&self.snapshot.record, key, &view)
        {
            return self.stray(job);
        }
        self.jobs.by_key.insert(key, Arc::clone(job));
        self.jobs.refusals.remove(&key);
        self.jobs.refusing.remove(&key);
        self.snapshot.fresh.remove(&key);
        self.prepared.forget(key);
        self.snapshot.jobs.insert(key, Sighting::Seen(view));
    }

    pub(super) fn owner_of(&self, job: &SlimJob, flow: &Flow, around: &Surroundings<'_>) -> Ownership {
        let owner = Owner {
            name: &self.name,
            uid: &self.uid,
            flow,
        };
        ownership(job, owner, around.is_alive)
    }

    /// A live read found this Job under the name of that key, and it is ours.
    pub(super) fn read_own(&mut self, key: JobKey, job: Arc<SlimJob>, around: &Surroundings<'_>, now: Time) {
        let uid = Uid::from(job.uid());
        if !is_another(&self.snapshot.record, key, &uid) {
            self.jobs.gone.remove(&*uid.0);
            // What was read live is no older than what the store shows.
            self.jobs.objects.remove(&*uid.0);
            return self.job_seen(job, around, now);
        }
        self.judge_gone(key, around, now);
        self.jobs.objects.insert(uid.0.to_string(), Arc::clone(&job));
        self.stray(&job);
    }

    /// A live read found nothing of that name.
    pub(super) fn read_nothing(&mut self, key: JobKey, around: &Surroundings<'_>, now: Time) {
        let refusing = self.jobs.refusing.remove(&key);
        let existed = self.jobs.by_key.contains_key(&key) || self.recorded_uid(key).is_some();
        match refusing {
            Some(answer) if !existed => {
                if answer.class == RefusalClass::Queue
                    && let Some(queue) = self.prepared.queue(key)
                {
                    Arc::make_mut(&mut self.queues).insert(queue);
                }
                let refusal = Refusal {
                    class: answer.class,
                    message: answer.message,
                    at: now,
                    count: self.count_refusal(key),
                    not_before: answer.retry_after.map(|wait| now + wait),
                };
                self.snapshot.jobs.insert(key, Sighting::Refused(refusal));
            }
            Some(_) | None => self.judge_gone(key, around, now),
        }
    }

    /// A live read found somebody else's object under the name of that key.
    pub(super) fn read_foreign(&mut self, key: JobKey, leaving: bool, now: Time) {
        self.jobs.refusing.remove(&key);
        self.snapshot
            .jobs
            .insert(key, Sighting::Foreign { leaving, at: now });
    }

    /// How often in a row a create of this key was refused, this time included.
    pub(super) fn count_refusal(&mut self, key: JobKey) -> u32 {
        let count = self.jobs.refusals.entry(key).or_default();
        *count = count.saturating_add(1);
        *count
    }

    fn judge_gone(&mut self, key: JobKey, around: &Surroundings<'_>, now: Time) {
        let last = self.jobs.by_key.get(&key).map(|job| self.jobs.view(job, around));
        if let Some(uid) = last.as_ref().map(|view| view.uid.0.to_string())
            && self.jobs.objects.remove(&uid).is_some()
        {
            self.jobs.gone.insert(uid);
        }
        self.snapshot.jobs.insert(key, Sighting::Gone { last, at: now });
    }

    fn stray(&mut self, job: &SlimJob) {
        let stray = Stray {
            name: job.name().into(),
            uid: Uid::from(job.uid()),
        };
        if !job.is_deleting() && !self.snapshot.strays.contains(&stray) {
            self.snapshot.strays.push(stray);
        }
    }

    pub(super) fn recorded_uid(&self, key: JobKey) -> Option<&Uid> {
        let record = self.snapshot.record.nodes.get(key.node)?;
        record.uid.as_ref().filter(|_| record.attempt == key.attempt)
    }
}

fn version(job: &SlimJob) -> &str {
    job.metadata.resource_version.as_deref().unwrap_or_default()
}

/// Whether something that is shown to people has changed.
fn shows_more(known: &SlimJob, job: &SlimJob) -> bool {
    known.phase != job.phase
        || known.tasks != job.tasks
        || known.retry_count != job.retry_count
        || known.running_duration != job.running_duration
        || known.history != job.history
}

/// Whether nobody asks for the Job of this key any more.
fn is_over(record: &FlowRecord, key: JobKey) -> bool {
    record.nodes.get(key.node).is_none_or(|node| {
        node.phase().is_end() || node.attempt != key.attempt || node.phase() == NodePhase::BackingOff
    })
}

/// Whether the record of this very key tells another UID.
fn is_another(record: &FlowRecord, key: JobKey, uid: &Uid) -> bool {
    let recorded = record
        .nodes
        .get(key.node)
        .filter(|node| node.attempt == key.attempt);
    recorded
        .and_then(|node| node.uid.as_ref())
        .is_some_and(|recorded| recorded != uid)
}

/// Whether the Job was made after its attempt had ended without it: the late effect of a create whose answer was lost.
fn is_late(record: &FlowRecord, key: JobKey, view: &JobView) -> bool {
    let Some(node) = record
        .nodes
        .get(key.node)
        .filter(|node| key.attempt < node.attempt)
    else {
        return false;
    };
    let ended = node
        .attempts
        .iter()
        .find(|attempt| attempt.attempt == key.attempt);
    !view.phase.is_final() && !view.deleting && ended.is_some_and(|ended| view.created > ended.finish_time)
}
