//! Carries the schedule out: begins looks, and takes each answer to whoever wanted it.

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jobflow_core::Time;
use jobflow_core::probe::{Probe, ProbeAnswer, Replicas};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::look::look;
use super::permit::Permits;
use super::schedule::{Look, Schedule};

/// How many replicas of one target are asked at the same time.
const REPLICAS_AT_ONCE: usize = 4;

/// What a prober doesn't know by itself: where pods are, and who wants to hear of them.
pub trait Field: Send + Sync + 'static {
    /// What a probe is wanted as.
    type Key: Ord + Clone + Debug + Send + Sync + 'static;

    /// The addresses of the pods that run now, in their order; for one that may not be asked, why. Read right before
    /// each look.
    fn addresses(&self, key: &Self::Key, probe: &Probe) -> Vec<Result<IpAddr, ProbeAnswer>>;

    /// A look has been done. Must return quickly.
    fn answered(&self, key: Self::Key, answer: ProbeAnswer);
}

/// Asks on and on what is wanted.
#[derive(Debug)]
pub struct Prober<F: Field> {
    field: F,
    permits: Permits,
    schedule: Mutex<Schedule<F::Key>>,
    changed: Notify,
    began: Instant,
}

impl<F: Field> Prober<F> {
    /// A prober that goes to permitted addresses only, with at most `most` looks at a time.
    pub fn new(field: F, permits: Permits, most: usize, seed: u64) -> Arc<Self> {
        Arc::new(Self {
            field,
            permits,
            schedule: Mutex::new(Schedule::new(most, seed)),
            changed: Notify::new(),
            began: Instant::now(),
        })
    }

    /// Says what an owner wants from now on, in place of what it wanted before.
    pub fn want(
        &self,
        lane: &Arc<str>,
        owner: &Arc<str>,
        wanted: impl IntoIterator<Item = (F::Key, Arc<Probe>)>,
    ) {
        let now = self.now();
        self.schedule().want(lane, owner, wanted, now);
        self.changed.notify_one();
    }

    /// Where pods are.
    pub const fn field(&self) -> &F {
        &self.field
    }

    /// Asks until it is dropped; looks in course are dropped with it.
    pub async fn run(self: Arc<Self>) {
        let mut looks = JoinSet::new();
        loop {
            let now = self.now();
            let (begun, next) = {
                let mut schedule = self.schedule();
                (schedule.begin(now), schedule.next_at())
            };
            for begun in begun {
                looks.spawn(Arc::clone(&self).carry_out(begun));
            }
            while looks.try_join_next().is_some() {}
            let due = next.map_or_else(|| Instant::now() + Duration::from_secs(60), |at| self.instant(at));
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep_until(due) => {}
            }
        }
    }

    async fn carry_out(self: Arc<Self>, begun: Look<F::Key>) {
        // However this ends, the schedule hears that it has.
        let mut course = Course {
            prober: self,
            begun,
            answer: None,
        };
        let answer = course.prober.ask(&course.begun.key, &course.begun.probe).await;
        course.answer = Some(answer);
    }

    /// Asks the replicas, a few at a time, until more answers would change nothing.
    async fn ask(&self, key: &F::Key, probe: &Arc<Probe>) -> ProbeAnswer {
        let addresses = self.field.addresses(key, probe);
        let mut answers = Vec::with_capacity(addresses.len());
        for some in addresses.chunks(REPLICAS_AT_ONCE) {
            answers.extend(self.ask_some(some, probe).await);
            let enough = answers.iter().any(|answer| match probe.replicas {
                Replicas::All => *answer != ProbeAnswer::Success,
                Replicas::Any => *answer == ProbeAnswer::Success,
            });
            if enough {
                break;
            }
        }
        ProbeAnswer::of_replicas(probe.replicas, answers)
    }

    async fn ask_some(
        &self,
        addresses: &[Result<IpAddr, ProbeAnswer>],
        probe: &Arc<Probe>,
    ) -> Vec<ProbeAnswer> {
        if let [address] = addresses {
            return vec![ask_one(self.permitted(*address), probe).await];
        }
        let mut asked = JoinSet::new();
        for (place, address) in addresses.iter().enumerate() {
            let (address, probe) = (self.permitted(*address), Arc::clone(probe));
            asked.spawn(async move { (place, ask_one(address, &probe).await) });
        }
        let mut answers = asked.join_all().await;
        answers.sort_unstable();
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    fn permitted(&self, address: Result<IpAddr, ProbeAnswer>) -> Result<IpAddr, ProbeAnswer> {
        let address = address?;
        if self.permits.allows(address) {
            Ok(address)
        } else {
            Err(ProbeAnswer::NotPermitted)
        }
    }

    fn schedule(&self) -> MutexGuard<'_, Schedule<F::Key>> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        Time(i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    fn instant(&self, at: Time) -> Instant {
        self.began + Duration::from_millis(u64::try_from(at.0).unwrap_or(0))
    }
}

async fn ask_one(address: Result<IpAddr, ProbeAnswer>, probe: &Probe) -> ProbeAnswer {
    match address {
        Ok(address) => look(address, probe).await,
        Err(answer) => answer,
    }
}

/// A look in course.
struct Course<F: Field> {
    prober: Arc<Prober<F>>,
    begun: Look<F::Key>,
    answer: Option<ProbeAnswer>,
}

impl<F: Field> Drop for Course<F> {
    fn drop(&mut self) {
        let now = self.prober.now();
        let wanted = self.prober.schedule().done(&self.begun, now);
        self.prober.changed.notify_one();
        if let (true, Some(answer)) = (wanted, self.answer) {
            self.prober.field.answered(self.begun.key.clone(), answer);
        }
    }
}
