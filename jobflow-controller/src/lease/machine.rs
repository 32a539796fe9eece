//! The election as a machine: answers and the time go in, what to ask next and where we stand come out.
//!
//! It follows client-go's leader election: a try is a read and a conditional write, or the write alone while we lead.
//! Deliberately absent: anything that sends or waits, and wall times but those that are written for others to read.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;

use super::claim::{self, Identity};
use super::elector::LeaseName;
use super::timings::Timings;
use crate::clock::Moment;

/// The election, seen from one controller.
#[derive(Clone, Debug)]
pub struct Machine {
    me: Identity,
    name: LeaseName,
    timings: Timings,
    random: u64,
    seen: Option<Seen>,
    standing: Standing,
    next: Next,
    not_before: Moment,
    conflicted: bool,
}

/// A lease as it was read or written, and when a renewal of it was first seen here.
#[derive(Clone, Debug)]
struct Seen {
    lease: Lease,
    since: Moment,
}

/// Where we stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Somebody else leads, or nobody does yet.
    Following,
    /// We lead; the last renewal that got through was sent then.
    Leading {
        /// When it was sent: others saw it later than that.
        renewed: Moment,
    },
    /// We gave the lease up and ask for nothing more.
    Left,
}

/// What a try goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Read,
    Create,
    Replace,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Send this, and tell the answer.
    Send(Ask),
    /// Do nothing before then.
    Wait(Moment),
    /// Nothing is left to do.
    Finished,
}

/// A request about the lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Read it.
    Read,
    /// Create it.
    Create(Box<Lease>),
    /// Replace it, if it has not changed since.
    Replace(Box<Lease>),
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The lease as it is.
    Found(Box<Lease>),
    /// There is none.
    Absent,
    /// The lease as it was written.
    Written(Box<Lease>),
    /// Somebody else wrote it in between.
    Conflict,
    /// Nothing is known: a time-out, a refusal, a lost connection.
    Failed,
}

impl Machine {
    /// Nobody has looked yet. `random` spreads the tries of several controllers.
    #[must_use]
    pub const fn new(me: Identity, name: LeaseName, timings: Timings, random: u64) -> Self {
        Self {
            me,
            name,
            timings,
            random,
            seen: None,
            standing: Standing::Following,
            next: Next::Read,
            not_before: Moment(Duration::ZERO),
            conflicted: false,
        }
    }

    /// Where we stand. A lease that could not be renewed in time is lost without anybody having said so.
    pub fn standing(&mut self, now: Moment) -> Standing {
        if let Some(deadline) = self.deadline()
            && deadline <= now
        {
            self.lose();
        }
        self.standing
    }

    /// Until when the lease is surely nobody else's; none while we don't lead.
    #[must_use]
    pub fn held_until(&self) -> Option<Moment> {
        match self.standing {
            Standing::Leading { renewed } => Some(renewed.after(self.timings.safe())),
            Standing::Following | Standing::Left => None,
        }
    }

    /// Who holds the lease, as far as is known.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        self.seen.as_ref().and_then(|seen| claim::holder(&seen.lease))
    }

    /// Whether the lease that was seen last was made by a controller of another kind.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let others = self.holder().filter(|holder| *holder != self.me.as_str());
        others.is_some()
            && self
                .seen
                .as_ref()
                .is_some_and(|seen| !claim::is_of_jobflow(&seen.lease))
    }

    /// How long a request that is sent now may take.
    #[must_use]
    pub fn patience(&self, now: Moment) -> Duration {
        let left = self.deadline().map(|deadline| now.until(deadline));
        left.unwrap_or(Duration::MAX).min(self.timings.request_timeout())
    }

    /// What to do next; `wall` is written into the lease for others to read.
    pub fn step(&mut self, now: Moment, wall: Timestamp) -> Step {
        if self.standing(now) == Standing::Left {
            return Step::Finished;
        }
        if now < self.not_before {
            let deadline = self.deadline().unwrap_or(self.not_before);
            return Step::Wait(self.not_before.min(deadline));
        }
        Step::Send(match (self.next, &self.seen) {
            (Next::Create, _) => Ask::Create(Box::new(self.claimed(&self.name.empty(), wall))),
            (Next::Replace, Some(seen)) => Ask::Replace(Box::new(self.claimed(&seen.lease, wall))),
            (Next::Read, _) | (Next::Replace, None) => Ask::Read,
        })
    }

    /// Takes in the answer to what the last [`Step`] sent.
    pub fn answered(&mut self, answer: Answer, sent: Moment, now: Moment) {
        match answer {
            Answer::Found(lease) => self.found(*lease, now),
            Answer::Absent if self.next == Next::Create => self.rest(now),
            Answer::Absent => self.next = Next::Create,
            Answer::Written(lease) => self.written(*lease, sent, now),
            Answer::Conflict => {
                self.next = Next::Read;
                if self.conflicted {
                    self.rest(now);
                }
                self.conflicted = true;
            }
            Answer::Failed => {
                self.next = Next::Read;
                self.rest(now);
            }
        }
    }

    /// Gives the lease up, if it is ours; nothing is asked for after that.
    pub fn leave(&mut self, now: Moment, wall: Timestamp) -> Option<Ask> {
        let leads = matches!(self.standing(now), Standing::Leading { .. });
        self.standing = Standing::Left;
        let seen = self.seen.as_ref().filter(|_| leads)?;
        Some(Ask::Replace(Box::new(claim::released(&seen.lease, wall))))
    }

    fn found(&mut self, lease: Lease, now: Moment) {
        self.see(lease, now);
        match self.may_claim(now) {
            true => self.next = Next::Replace,
            false => {
                self.lose();
                self.rest(now);
            }
        }
    }

    /// An answer that took longer than the deadline says that we led, not that we lead.
    fn written(&mut self, lease: Lease, sent: Moment, now: Moment) {
        let is_ours = claim::holder(&lease) == Some(self.me.as_str());
        self.see(lease, now);
        self.rest(now);
        self.next = match is_ours {
            true => Next::Replace,
            false => Next::Read,
        };
        if is_ours && now < sent.after(self.timings.renew_deadline) {
            self.standing = Standing::Leading { renewed: sent };
            self.not_before = sent.after(self.timings.retry_period).max(now);
        }
    }

    fn see(&mut self, lease: Lease, now: Moment) {
        let since = match &self.seen {
            Some(seen) if claim::renewal(&seen.lease) == claim::renewal(&lease) => seen.since,
            Some(_) | None => now,
        };
        self.seen = Some(Seen { lease, since });
    }

    /// Whether the lease is free, ours, or was not renewed for as long as its holder promised to take at most.
    fn may_claim(&self, now: Moment) -> bool {
        let Some(seen) = &self.seen else {
            return true;
        };
        match claim::holder(&seen.lease) {
            None => true,
            Some(holder) if holder == self.me.as_str() => true,
            Some(_) => {
                let patience = claim::duration(&seen.lease, self.timings.duration);
                seen.since.after(patience) <= now
            }
        }
    }

    fn claimed(&self, lease: &Lease, wall: Timestamp) -> Lease {
        claim::claimed(lease, &self.me, &self.timings, wall)
    }

    const fn deadline(&self) -> Option<Moment> {
        match self.standing {
            Standing::Leading { renewed } => Some(renewed.after(self.timings.renew_deadline)),
            Standing::Following | Standing::Left => None,
        }
    }

    const fn lose(&mut self) {
        if matches!(self.standing, Standing::Leading { .. }) {
            self.standing = Standing::Following;
            self.next = Next::Read;
        }
    }

    /// Waits for the next try, a fifth longer at most, so that controllers which started together drift apart.
    fn rest(&mut self, now: Moment) {
        self.conflicted = false;
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let spread = u32::try_from(self.random >> 33).unwrap_or_default() % 200;
        let wait = self.timings.retry_period;
        self.not_before = now.after(wait.saturating_add(wait.saturating_mul(spread) / 1000));
    }
}

#[cfg(test)]
mod tests;
