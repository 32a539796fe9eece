//! Sends what the machine asks, and publishes where we stand.
//!
//! Comes in: a client, and the word to give the lease up. Goes out: [`Leadership`] on a channel. Each request has a
//! time-out, and none outlives the term. Deliberately absent: decisions, and retries of the client's own.

use std::sync::Arc;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::{Api, Client};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::machine::{Answer, Ask, Machine, Standing, Step};
use super::term::{Leadership, LeaseTerm, Other};
use crate::clock::{Clock, Moment};

/// Which Lease it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeaseName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl LeaseName {
    /// A lease of that name that nobody holds and that was never written.
    pub(super) fn empty(&self) -> Lease {
        Lease {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                namespace: Some(self.namespace.clone()),
                ..ObjectMeta::default()
            },
            spec: None,
        }
    }
}

/// Takes part in an election.
pub struct Elector {
    machine: Machine,
    leases: Api<Lease>,
    name: String,
    clock: Arc<dyn Clock>,
    leadership: watch::Sender<Leadership>,
    term: Option<LeaseTerm>,
    terms: u64,
    trouble: Option<String>,
}

impl Elector {
    /// Nothing is sent before [`Elector::run`].
    pub fn new(
        client: Client,
        name: &LeaseName,
        machine: Machine,
        clock: Arc<dyn Clock>,
    ) -> (Self, watch::Receiver<Leadership>) {
        let (leadership, receiver) = watch::channel(Leadership::Following(Other::default()));
        let elector = Self {
            machine,
            leases: Api::namespaced(client, &name.namespace),
            name: name.name.clone(),
            clock,
            leadership,
            term: None,
            terms: 0,
            trouble: None,
        };
        (elector, receiver)
    }

    /// Takes part until told to leave, and then gives the lease up if it is ours.
    ///
    /// Whoever tells it to leave has stopped writing before. If that was not possible, drop the future instead: the
    /// lease then ends by itself, when nothing that was sent can be on its way any more.
    pub async fn run(mut self, leave: CancellationToken) {
        loop {
            tokio::select! {
                biased;
                () = leave.cancelled() => break,
                () = self.turn() => {}
            }
        }
        self.leave().await;
    }

    /// One step of the machine. It may be dropped at any await: a request without an answer is like a lost answer.
    async fn turn(&mut self) {
        let now = self.clock.now();
        let step = self.machine.step(now, self.clock.wall());
        self.publish();
        match step {
            Step::Send(ask) => {
                let answer = self.send(&ask, now).await;
                self.machine.answered(answer, now, self.clock.now());
                self.publish();
            }
            Step::Wait(until) => tokio::time::sleep(now.until(until)).await,
            Step::Finished => std::future::pending().await,
        }
    }

    async fn send(&mut self, ask: &Ask, now: Moment) -> Answer {
        let request = async {
            match ask {
                Ask::Read => self
                    .leases
                    .get(&self.name)
                    .await
                    .map(|lease| Answer::Found(Box::new(lease))),
                Ask::Create(lease) => {
                    let created = self.leases.create(&PostParams::default(), lease).await;
                    created.map(|lease| Answer::Written(Box::new(lease)))
                }
                Ask::Replace(lease) => {
                    let replaced = self
                        .leases
                        .replace(&self.name, &PostParams::default(), lease)
                        .await;
                    replaced.map(|lease| Answer::Written(Box::new(lease)))
                }
            }
        };
        let result = tokio::time::timeout(self.machine.patience(now), request).await;
        let trouble = match result {
            Ok(Ok(answer)) => {
                self.trouble = None;
                return answer;
            }
            Ok(Err(kube::Error::Api(status))) if status.is_not_found() => return Answer::Absent,
            Ok(Err(kube::Error::Api(status))) if status.is_conflict() || status.is_already_exists() => {
                return Answer::Conflict;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer in time".to_owned(),
        };
        self.complain(trouble);
        Answer::Failed
    }

    /// Says what is wrong with the lease, once as long as it is the same.
    fn complain(&mut self, trouble: String) {
        if self.trouble.as_ref() != Some(&trouble) {
            warn!(lease = %self.name, error = %trouble, "cannot read or write the lease");
        }
        self.trouble = Some(trouble);
    }

    /// Tells everybody where we stand: first the term that ends, so that nobody writes any more, then the news.
    fn publish(&mut self) {
        let leads = matches!(self.machine.standing(self.clock.now()), Standing::Leading { .. });
        let until = self.machine.held_until().filter(|_| leads);
        match (self.term.take(), until) {
            (Some(term), Some(until)) => {
                term.renewed(until);
                self.term = Some(term);
            }
            (Some(term), None) => {
                term.lose();
                warn!(lease = %self.name, term = term.number(), "lost the lease: everything stops");
                self.follow();
            }
            (None, Some(until)) => self.lead(until),
            (None, None) => self.follow(),
        }
    }

    fn lead(&mut self, until: Moment) {
        self.terms = self.terms.saturating_add(1);
        let term = LeaseTerm::begun(self.terms, until, Arc::clone(&self.clock));
        info!(lease = %self.name, term = term.number(), "got the lease");
        self.term = Some(term.clone());
        self.leadership.send_replace(Leadership::Leading(term));
    }

    fn follow(&self) {
        let other = Other {
            holder: self.machine.holder().map(str::to_owned),
            foreign: self.machine.is_foreign(),
        };
        self.leadership.send_if_modified(|leadership| {
            if matches!(leadership, Leadership::Following(known) if *known == other) {
                return false;
            }
            info!(lease = %self.name, holder = other.holder.as_deref(), "another controller leads, or none yet");
            *leadership = Leadership::Following(other.clone());
            true
        });
    }

    async fn leave(&mut self) {
        let now = self.clock.now();
        let patience = self.machine.patience(now);
        let ask = self.machine.leave(now, self.clock.wall());
        if let Some(term) = self.term.take() {
            term.lose();
        }
        let Some(Ask::Replace(lease)) = ask else {
            return;
        };
        let (name, parameters) = (self.name.clone(), PostParams::default());
        let release = self.leases.replace(&name, &parameters, &lease);
        match tokio::time::timeout(patience, release).await {
            Ok(Ok(_)) => info!(lease = %name, "gave the lease up"),
            Ok(Err(error)) => warn!(lease = %name, %error, "cannot give the lease up: it ends by itself"),
            Err(_) => warn!(lease = %name, "cannot give the lease up in time: it ends by itself"),
        }
    }
}

#[cfg(test)]
mod tests;
