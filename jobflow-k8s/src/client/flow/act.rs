//! The effects of a record that is written, as requests. None is sent while another of its kind is on its way, and a
//! fresh intent alone is posted without a look.

use std::sync::Arc;

use jobflow_core::snapshot::{EffectKind, Refusal, RefusalClass, Sighting, Stray};
use jobflow_core::{Effect, JobKey, Span, Time, Uid};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde_json::json;

use super::frozen::Templates;
use super::prepare::{NotBuilt, Source, name_of};
use super::{FlowDriver, Held, Pending, Request, Stepped, Surroundings};
use crate::client::Finding;
use crate::status::BIRTH_MARK;
use crate::types::{BATCH_GROUP, Command, CommandAction, VERSION};

/// From how many on Jobs are read by one list.
const MANY: usize = 8;

/// How often at most a flow is read again because a Job is ahead of its record.
const REREAD: Span = Span::from_secs(30);

impl FlowDriver {
    pub(super) fn act(
        &mut self,
        stepped: &mut Stepped,
        effects: &[Effect],
        around: &Surroundings<'_>,
        now: Time,
    ) {
        if effects.is_empty() || !self.may_act(stepped, now) {
            return;
        }
        let marked = self.base.as_ref().is_some_and(super::Base::is_marked);
        let mut looks = Vec::new();
        for effect in effects {
            match effect {
                Effect::Create { key } if marked => self.create(stepped, *key, around, now),
                Effect::Create { .. } => self.mark_birth(stepped, now),
                // It goes with the first create, whoever asks for that.
                Effect::MarkBirth => {}
                Effect::Look { key } => looks.push(*key),
                Effect::LookAtPods { key } => self.look_at_pods(stepped, *key),
                Effect::Terminate { key, uid } => self.terminate(stepped, *key, uid, now),
                Effect::Delete { key, uid } => self.delete(stepped, *key, uid, now),
                Effect::DeleteStray(stray) => self.delete_stray(stepped, stray, around, now),
                Effect::Reread => self.reread(stepped, now),
                Effect::DeleteFlow => self.delete_flow(stepped, now),
            }
        }
        self.look(stepped, looks);
        self.note_sent();
    }

    /// What was just sent is in flight for plans made in this very step.
    fn note_sent(&mut self) {
        let sent = self.pending.values().flat_map(Pending::effects);
        self.snapshot.in_flight.extend(sent);
    }

    /// Whether the same was sent, or has to wait for a time of its own.
    fn is_waiting(&self, key: JobKey, kind: EffectKind) -> bool {
        self.snapshot.in_flight.contains(&(key, kind))
    }

    /// The mark tells, even when the status is lost, that Jobs may exist.
    fn mark_birth(&mut self, stepped: &mut Stepped, now: Time) {
        if self.is_marking() || self.holds.holds(&Held::Mark, now) {
            return;
        }
        let mark = json!({"metadata": {"uid": self.uid, "annotations": {BIRTH_MARK: self.uid}}});
        let body = mark.to_string().into_bytes().into();
        self.send(stepped, Pending::MarkBirth, Request::MarkBirth { body });
    }

    fn create(&mut self, stepped: &mut Stepped, key: JobKey, around: &Surroundings<'_>, now: Time) {
        if self.is_waiting(key, EffectKind::Create) {
            return;
        }
        let Some((base, parsed)) = self.base.as_ref().zip(self.parsed.as_ref()) else {
            return;
        };
        let Some(flow) = parsed.flow().map(Arc::clone) else {
            return;
        };
        let source = Source {
            object: &base.object,
            flow: &flow,
            templates: Templates::of(&base.object, &self.frozen, around),
            schemas: around.schemas,
        };
        let record = &self.snapshot.record.nodes[key.node];
        match self.prepared.body(source, key, record) {
            Ok(body) => {
                let name = name_of(&self.name, &flow, key);
                self.snapshot.fresh.remove(&key);
                self.snapshot.jobs.remove(&key);
                self.send(
                    stepped,
                    Pending::Create(key),
                    Request::CreateJob { key, name, body },
                );
            }
            // The store shows what isn't heard of here yet: it is planned anew.
            Err(NotBuilt::NotIntended) => self.replan(stepped, now),
            Err(NotBuilt::Faulty(message)) => self.not_built(stepped, key, message, now),
        }
    }

    /// What was intended can't be built any more. It counts as refused, by nobody but us.
    fn not_built(&mut self, stepped: &mut Stepped, key: JobKey, message: String, now: Time) {
        let refusal = Refusal {
            class: RefusalClass::Final,
            message: message.into(),
            at: now,
            count: self.count_refusal(key),
            not_before: None,
        };
        self.snapshot.fresh.remove(&key);
        self.snapshot.jobs.insert(key, Sighting::Refused(refusal));
        stepped.wake_by(now);
    }

    fn replan(&mut self, stepped: &mut Stepped, now: Time) {
        if let Some(parsed) = &mut self.parsed {
            parsed.templates_changed = true;
        }
        stepped.wake_by(now);
    }

    /// One read a Job, or one list for many.
    fn look(&mut self, stepped: &mut Stepped, keys: Vec<JobKey>) {
        let keys: Vec<JobKey> = keys
            .into_iter()
            .filter(|key| !self.is_waiting(*key, EffectKind::Look))
            .collect();
        if keys.len() >= MANY && keys.iter().all(|key| self.recorded_uid(*key).is_none()) {
            let selector = self.selector();
            return self.send(stepped, Pending::List(keys), Request::ListJobs { selector });
        }
        for key in keys {
            let Some(name) = self.job_name(key) else { continue };
            self.send(stepped, Pending::Look(key), Request::ReadJob { key, name });
        }
    }

    fn look_at_pods(&mut self, stepped: &mut Stepped, key: JobKey) {
        let job = self.jobs.by_key().get(&key).map(Arc::clone);
        let Some(job) = job.filter(|_| !self.is_waiting(key, EffectKind::LookAtPods)) else {
            return;
        };
        let name = job.name().to_owned();
        self.send(
            stepped,
            Pending::LookAtPods(key, job),
            Request::ListPods { key, job: name },
        );
    }

    /// Volcano finds the Job by the target's name; the owner lets the Command go with it.
    fn terminate(&mut self, stepped: &mut Stepped, key: JobKey, uid: &Uid, now: Time) {
        let Some(name) = self
            .job_name(key)
            .filter(|_| !self.is_waiting(key, EffectKind::Terminate))
        else {
            return;
        };
        let target = OwnerReference {
            api_version: format!("{BATCH_GROUP}/{VERSION}"),
            kind: "Job".to_owned(),
            name: name.clone(),
            uid: uid.0.to_string(),
            controller: Some(true),
            block_owner_deletion: None,
        };
        let metadata = ObjectMeta {
            generate_name: Some(format!("{name}-terminate-")),
            namespace: Some(self.namespace.clone()),
            owner_references: Some(vec![target.clone()]),
            ..ObjectMeta::default()
        };
        let command = Command::new(metadata, CommandAction::TerminateJob, target);
        let Ok(body) = serde_json::to_vec(&command) else {
            return;
        };
        self.snapshot
            .stop_requests
            .insert(key, (EffectKind::Terminate, now));
        let body = body.into();
        self.send(
            stepped,
            Pending::Terminate(key),
            Request::TerminateJob { key, body },
        );
    }

    fn delete(&mut self, stepped: &mut Stepped, key: JobKey, uid: &Uid, now: Time) {
        if self.is_waiting(key, EffectKind::Delete) {
            return;
        }
        let Some(name) = self.job_name(key) else { return };
        self.snapshot.stop_requests.insert(key, (EffectKind::Delete, now));
        let (uid, key) = (uid.clone(), Some(key));
        self.send(
            stepped,
            Pending::Delete(key),
            Request::DeleteJob { key, name, uid },
        );
    }

    fn delete_stray(&mut self, stepped: &mut Stepped, stray: &Stray, around: &Surroundings<'_>, now: Time) {
        let uid = stray.uid.0.to_string();
        let pending = Pending::DeleteStray(uid.clone());
        let sent = self.pending.values().any(|sent| *sent == pending);
        if sent || self.holds.holds(&Held::Stray(uid.clone()), now) {
            return;
        }
        let job = stray.name.to_string();
        self.find(
            around,
            Finding::Stray {
                job: job.clone(),
                uid,
            },
        );
        let request = Request::DeleteJob {
            key: None,
            name: job,
            uid: stray.uid.clone(),
        };
        self.send(stepped, pending, request);
    }

    fn reread(&mut self, stepped: &mut Stepped, now: Time) {
        if self.holds.holds(&Held::Reread, now) {
            return;
        }
        self.holds.hold(Held::Reread, now + REREAD);
        self.unread = true;
        stepped.wake_by(now);
    }

    /// What was decided of this very version of the flow: an edit of its time, or a request, comes first.
    fn delete_flow(&mut self, stepped: &mut Stepped, now: Time) {
        let deleting = self
            .pending
            .values()
            .any(|pending| *pending == Pending::DeleteFlow);
        let Some(base) = self.base.as_ref().filter(|_| !deleting) else {
            return;
        };
        if self.holds.holds(&Held::DeleteFlow, now) {
            return;
        }
        let request = Request::DeleteFlow {
            uid: Uid::from(self.uid.as_str()),
            version: base.version().to_owned(),
        };
        self.send(stepped, Pending::DeleteFlow, request);
    }

    pub(super) fn job_name(&self, key: JobKey) -> Option<String> {
        let flow = self.parsed.as_ref()?.flow()?;
        Some(name_of(&self.name, flow, key))
    }
}

impl Pending {
    /// The effects that the request is.
    pub(super) fn effects(&self) -> impl Iterator<Item = (JobKey, EffectKind)> {
        let (keys, kind): (&[JobKey], EffectKind) = match self {
            Self::Create(key) => (std::slice::from_ref(key), EffectKind::Create),
            Self::Look(key) | Self::Owner(key, _) => (std::slice::from_ref(key), EffectKind::Look),
            Self::List(keys) => (keys, EffectKind::Look),
            Self::LookAtPods(key, _) => (std::slice::from_ref(key), EffectKind::LookAtPods),
            Self::Terminate(key) => (std::slice::from_ref(key), EffectKind::Terminate),
            Self::Delete(Some(key)) => (std::slice::from_ref(key), EffectKind::Delete),
            Self::Delete(None)
            | Self::DeleteStray(_)
            | Self::ReadFlow
            | Self::WriteStatus
            | Self::MarkBirth
            | Self::DeleteFlow
            | Self::ListFrozen
            | Self::Freeze(_)
            | Self::Ask(..)
            | Self::Disowned => (&[], EffectKind::Look),
        };
        keys.iter().map(move |key| (*key, kind))
    }

    /// The request was about a node by a number that it doesn't bear any more: its answer says nothing.
    pub(super) fn disown(&mut self) {
        if self.effects().next().is_some() {
            *self = Self::Disowned;
        }
    }
}
