//! A Job's turn, and what comes of the request that it led to.

use jobflow_core::gang::{Command, PodKey};
use jobflow_core::{Span, Time};

use super::call::Answer;
use super::pods::{self, Outcome};
use super::{Done, Engine};
use crate::lead::{Lead, Proposal};
use crate::processes;
use crate::status;

/// Until a request that led to nothing is tried again, or it is asked again whether a phase was seen; on the wall's clock.
const AGAIN: Span = Span(50);

impl Engine {
    pub(super) fn turn(&mut self, uid: &str, now: Time) {
        let Some(job) = self.jobs.get_mut(uid) else { return };
        if job.busy || job.leaving {
            return;
        }
        if !(self.options.seen)(&job.asked(), job.lead.gang().phase()) {
            return self.later(uid);
        }
        if job.life().is_some_and(|life| life.disappears(now)) {
            self.delete_job(uid);
            return;
        }
        while job.lead.look(now) {
            let orders = pods::orders(job);
            if self.options.pods && !orders.is_empty() {
                job.busy = true;
                return self.order(uid, orders);
            }
            if let Some(proposal) = job.lead.step(now) {
                job.busy = true;
                return self.write(uid, proposal);
            }
        }
        self.note(uid);
    }

    /// Notes when it is the Job's turn by itself.
    fn note(&mut self, uid: &str) {
        if let Some(at) = self.jobs.get(uid).and_then(|job| job.lead.wake_at()) {
            self.note_at(uid, at);
        }
    }

    fn note_at(&mut self, uid: &str, at: Time) {
        let Some(job) = self.jobs.get_mut(uid) else { return };
        if let Some(former) = job.due.replace(at) {
            self.due.remove(&(former, uid.to_owned()));
        }
        self.due.insert((at, uid.to_owned()));
    }

    fn write(&mut self, uid: &str, proposal: Proposal) {
        let Some(job) = self.jobs.get(uid) else { return };
        let next = proposal.next();
        let phase = next.phase();
        let again = phase.is_at_rest() && phase == job.lead.gang().phase();
        let status = status::status(&next.status, again, self.clock);
        let (namespace, name, uid) = (job.namespace.clone(), job.name.clone(), uid.to_owned());
        let call = self.call.clone();
        self.requests.spawn(async move {
            let answer = call.write_status(&namespace, &name, &uid, &status).await;
            Done::Status {
                uid,
                proposal,
                answer,
            }
        });
    }

    fn order(&mut self, uid: &str, orders: Vec<pods::Order>) {
        let (uid, call, clock) = (uid.to_owned(), self.call.clone(), self.clock);
        self.requests.spawn(async move {
            let all = orders.into_iter().map(|order| order.carry_out(&call, clock));
            let outcomes = futures::future::join_all(all).await;
            Done::Pods { uid, outcomes }
        });
    }

    fn delete_job(&mut self, uid: &str) {
        let Some(job) = self.jobs.get(uid) else { return };
        let (namespace, name, uid) = (job.namespace.clone(), job.name.clone(), uid.to_owned());
        let call = self.call.clone();
        self.requests.spawn(async move {
            call.delete_job(&namespace, &name, &uid).await;
            Done::Nothing
        });
    }

    /// A request that broke off leads to nothing: its Job takes the same step again, later.
    pub(super) fn finish(&mut self, done: Option<Done>) {
        match done {
            Some(Done::Status {
                uid,
                proposal,
                answer,
            }) => self.written(&uid, proposal, answer),
            Some(Done::Pods { uid, outcomes }) => self.ordered(&uid, outcomes),
            Some(Done::Commanded {
                namespace,
                job,
                command,
            }) => self.command(namespace, job, command),
            Some(Done::Nothing) | None => {}
        }
    }

    /// Volcano acts by name, on whichever Job has it now.
    fn command(&mut self, namespace: String, job: String, command: Command) {
        let Some(uid) = self.names.get(&(namespace.clone(), job)).cloned() else {
            return;
        };
        match self.jobs.get_mut(&uid).map(|job| &mut job.lead) {
            Some(Lead::MadeUp(life)) => life.command(command),
            Some(Lead::Told(_)) => {
                let order = processes::Order::Command(uid.clone(), command);
                self.order_processes(&namespace, order);
            }
            None => {}
        }
        self.ready.insert(uid);
    }

    fn written(&mut self, uid: &str, proposal: Proposal, answer: Answer) {
        let now = self.clock.now();
        let Some(job) = self.jobs.get_mut(uid) else { return };
        job.busy = false;
        match answer {
            Answer::Done => job.lead.commit(proposal, now),
            Answer::Gone => return self.forget(uid),
            Answer::Later(reason) => {
                self.complaints.add(reason);
                return self.later(uid);
            }
        }
        self.ready.insert(uid.to_owned());
    }

    fn ordered(&mut self, uid: &str, outcomes: Vec<(PodKey, Outcome)>) {
        let Some(job) = self.jobs.get_mut(uid) else { return };
        job.busy = false;
        let mut again = false;
        for (key, outcome) in outcomes {
            let known = match outcome {
                Outcome::Known(known) => Some(known),
                Outcome::Gone => {
                    job.pods.remove(&key);
                    job.life().into_iter().for_each(|life| life.gone(key));
                    None
                }
                Outcome::Later(known, reason) => {
                    again = true;
                    self.complaints.add(reason);
                    known
                }
            };
            known
                .into_iter()
                .for_each(|known| drop(job.pods.insert(key, known)));
        }
        if again {
            self.later(uid);
        } else {
            self.ready.insert(uid.to_owned());
        }
    }

    fn later(&mut self, uid: &str) {
        let pause = Span(AGAIN.0 * u64::from(self.options.speed.max(1)));
        self.note_at(uid, self.clock.now() + pause);
    }
}
