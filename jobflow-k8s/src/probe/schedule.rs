//! When which probe is due: at once when it is new, then after its period, a little early or late; and in turn between
//! lanes, so that none waits for another's pods. Pure: the time and the seed of the jitter are arguments.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jobflow_core::probe::Probe;
use jobflow_core::retry::splitmix64;
use jobflow_core::{Span, Time};

/// The part of a period by which a look may be early or late, in percent.
const JITTER: u64 = 10;

/// One look that is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look<K> {
    /// What it was wanted as.
    pub key: K,
    /// What is asked.
    pub probe: Arc<Probe>,
    ticket: u64,
}

/// Which probes are wanted, and when each is due.
#[derive(Debug)]
pub struct Schedule<K> {
    most: usize,
    seed: u64,
    tickets: u64,
    probes: BTreeMap<K, Entry>,
    owners: BTreeMap<Arc<str>, BTreeSet<K>>,
    /// When each probe that is neither due nor looked at is due.
    due: BTreeSet<(Time, K)>,
    lanes: BTreeMap<Arc<str>, Lane<K>>,
    in_flight: usize,
    /// The lane that was served last.
    last: Option<Arc<str>>,
}

#[derive(Debug)]
struct Entry {
    lane: Arc<str>,
    probe: Arc<Probe>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    DueAt(Time),
    Queued,
    Looked { ticket: u64, since: Time },
}

/// What one namespace has.
#[derive(Debug)]
struct Lane<K> {
    probes: usize,
    in_flight: usize,
    queue: VecDeque<K>,
}

impl<K: Ord + Clone> Schedule<K> {
    /// A schedule of at most so many looks at a time; the seed moves its jitter.
    #[must_use]
    pub const fn new(most: usize, seed: u64) -> Self {
        Self {
            most,
            seed,
            tickets: 0,
            probes: BTreeMap::new(),
            owners: BTreeMap::new(),
            due: BTreeSet::new(),
            lanes: BTreeMap::new(),
            in_flight: 0,
            last: None,
        }
    }

    /// Says what an owner wants from now on, in place of what it wanted before. What it wanted already keeps its time.
    pub fn want(
        &mut self,
        lane: &Arc<str>,
        owner: &Arc<str>,
        wanted: impl IntoIterator<Item = (K, Arc<Probe>)>,
        now: Time,
    ) {
        let before = self.owners.remove(owner).unwrap_or_default();
        let mut keys = BTreeSet::new();
        for (key, probe) in wanted {
            if keys.insert(key.clone()) && !self.is_known(&key, &probe) {
                self.remove(&key);
                self.add(lane, key, probe, now);
            }
        }
        before.difference(&keys).for_each(|key| self.remove(key));
        if !keys.is_empty() {
            self.owners.insert(Arc::clone(owner), keys);
        }
    }

    /// The looks to begin now; each has to be told as done.
    pub fn begin(&mut self, now: Time) -> Vec<Look<K>> {
        self.queue_due(now);
        let mut looks = Vec::new();
        while self.in_flight < self.most
            && let Some(lane) = self.next_lane()
        {
            self.last = Some(Arc::clone(&lane));
            looks.extend(self.take(&lane, now));
        }
        looks
    }

    /// Notes that a look is done; false when nobody wants to know any more.
    pub fn done(&mut self, look: &Look<K>, now: Time) -> bool {
        self.in_flight = self.in_flight.saturating_sub(1);
        let Some(entry) = self.probes.get_mut(&look.key) else {
            return false;
        };
        let State::Looked { ticket, since } = entry.state else {
            return false;
        };
        if ticket != look.ticket {
            return false;
        }
        let at = (since + jittered(entry.probe.period, self.seed ^ ticket)).max(now);
        entry.state = State::DueAt(at);
        self.due.insert((at, look.key.clone()));
        if let Some(lane) = self.lanes.get_mut(&entry.lane) {
            lane.in_flight = lane.in_flight.saturating_sub(1);
        }
        true
    }

    /// When to look again, if nothing happens before.
    #[must_use]
    pub fn next_at(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// How many probes are wanted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.probes.len()
    }

    /// Whether none is wanted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.probes.is_empty()
    }

    fn is_known(&self, key: &K, probe: &Arc<Probe>) -> bool {
        self.probes.get(key).is_some_and(|entry| entry.probe == *probe)
    }

    fn add(&mut self, lane: &Arc<str>, key: K, probe: Arc<Probe>, now: Time) {
        let entry = Entry {
            lane: Arc::clone(lane),
            probe,
            state: State::DueAt(now),
        };
        self.probes.insert(key.clone(), entry);
        self.due.insert((now, key));
        let lane = self.lanes.entry(Arc::clone(lane)).or_insert_with(|| Lane {
            probes: 0,
            in_flight: 0,
            queue: VecDeque::new(),
        });
        lane.probes += 1;
    }

    fn remove(&mut self, key: &K) {
        let Some(entry) = self.probes.remove(key) else {
            return;
        };
        let Some(lane) = self.lanes.get_mut(&entry.lane) else {
            return;
        };
        lane.probes -= 1;
        match entry.state {
            State::DueAt(at) => {
                self.due.remove(&(at, key.clone()));
            }
            State::Queued => lane.queue.retain(|queued| queued != key),
            // It goes on, and counts among all looks until it is done.
            State::Looked { .. } => lane.in_flight = lane.in_flight.saturating_sub(1),
        }
        if lane.probes == 0 {
            self.lanes.remove(&entry.lane);
        }
    }

    fn queue_due(&mut self, now: Time) {
        while let Some((at, key)) = self.due.pop_first() {
            if at > now {
                self.due.insert((at, key));
                return;
            }
            let Some(entry) = self.probes.get_mut(&key) else {
                continue;
            };
            entry.state = State::Queued;
            if let Some(lane) = self.lanes.get_mut(&entry.lane) {
                lane.queue.push_back(key);
            }
        }
    }

    /// The next lane after the last one that has something due and not its whole share of looks. One share is left
    /// over for a lane that comes later.
    fn next_lane(&self) -> Option<Arc<str>> {
        let share = (self.most / (self.lanes.len() + 1)).max(1);
        let ready = |(_, lane): &(&Arc<str>, &Lane<K>)| !lane.queue.is_empty() && lane.in_flight < share;
        let after = self.last.iter().flat_map(|last| {
            self.lanes.range((
                std::ops::Bound::Excluded(Arc::clone(last)),
                std::ops::Bound::Unbounded,
            ))
        });
        let mut turns = after.chain(self.lanes.iter());
        turns.find(ready).map(|(name, _)| Arc::clone(name))
    }

    fn take(&mut self, name: &Arc<str>, now: Time) -> Option<Look<K>> {
        let lane = self.lanes.get_mut(name)?;
        let key = lane.queue.pop_front()?;
        let entry = self.probes.get_mut(&key)?;
        self.tickets += 1;
        lane.in_flight += 1;
        self.in_flight += 1;
        entry.state = State::Looked {
            ticket: self.tickets,
            since: now,
        };
        Some(Look {
            key,
            probe: Arc::clone(&entry.probe),
            ticket: self.tickets,
        })
    }
}

/// A period, up to a tenth shorter or longer.
fn jittered(period: Span, draw: u64) -> Span {
    let most = period.0 * JITTER / 100;
    let moved = splitmix64(draw) % (2 * most + 1);
    Span(period.0.saturating_sub(most).saturating_add(moved))
}

#[cfg(test)]
mod tests {
    use jobflow_core::probe::{Ask, Replicas};

    use super::*;

    fn probe(seconds: u64) -> Arc<Probe> {
        Arc::new(Probe {
            task: "".into(),
            port: 1,
            ask: Ask::TcpSocket,
            period: Span::from_secs(seconds),
            timeout: Span::from_secs(1),
            success_threshold: 1,
            replicas: Replicas::All,
        })
    }

    fn want(schedule: &mut Schedule<u32>, lane: &str, keys: std::ops::Range<u32>, now: i64) {
        let wanted = keys.map(|key| (key, probe(10)));
        schedule.want(&lane.into(), &format!("flow in {lane}").into(), wanted, Time(now));
    }

    fn keys(looks: &[Look<u32>]) -> Vec<u32> {
        looks.iter().map(|look| look.key).collect()
    }

    #[test]
    fn a_new_probe_is_due_at_once_and_again_about_a_period_later() {
        let mut schedule = Schedule::new(8, 7);
        want(&mut schedule, "a", 0..1, 1000);
        let looks = schedule.begin(Time(1000));
        assert_eq!(keys(&looks), [0]);
        assert_eq!(schedule.begin(Time(5000)), [], "it is being looked at");
        assert!(schedule.done(&looks[0], Time(1500)));
        let next = schedule.next_at().unwrap().0;
        assert!((10_000..=12_000).contains(&next), "{next}");
        assert_eq!(schedule.begin(Time(next - 1)), []);
        assert_eq!(keys(&schedule.begin(Time(next))), [0]);
    }

    #[test]
    fn wanting_the_same_again_changes_nothing_and_not_wanting_it_ends_it() {
        let mut schedule = Schedule::new(8, 7);
        want(&mut schedule, "a", 0..2, 0);
        let looks = schedule.begin(Time(0));
        assert!(schedule.done(&looks[0], Time(1)));
        want(&mut schedule, "a", 0..2, 2);
        assert_eq!(schedule.begin(Time(3)), []);
        want(&mut schedule, "a", 0..1, 4);
        assert!(!schedule.done(&looks[1], Time(5)), "nobody wants to know");
        want(&mut schedule, "a", 0..0, 6);
        assert!(schedule.is_empty() && schedule.next_at().is_none());
    }

    #[test]
    fn an_answer_to_what_was_wanted_before_is_none_to_what_is_wanted_now() {
        let mut schedule = Schedule::new(8, 7);
        want(&mut schedule, "a", 0..1, 0);
        let first = schedule.begin(Time(0));
        want(&mut schedule, "a", 0..0, 1);
        want(&mut schedule, "a", 0..1, 2);
        let second = schedule.begin(Time(2));
        assert!(!schedule.done(&first[0], Time(3)));
        assert!(schedule.done(&second[0], Time(3)));
    }

    #[test]
    fn pods_that_hang_hold_up_their_own_namespace_alone() {
        let mut schedule = Schedule::new(8, 7);
        want(&mut schedule, "hostile", 0..1000, 0);
        let hanging = schedule.begin(Time(0)).len();
        assert_eq!(hanging, 4, "half is left over");
        want(&mut schedule, "other", 1000..1003, 1);
        assert_eq!(keys(&schedule.begin(Time(1))), [1000, 1001]);
        want(&mut schedule, "third", 2000..2001, 2);
        assert_eq!(keys(&schedule.begin(Time(2))), [2000]);
    }

    #[test]
    fn lanes_take_turns() {
        let mut schedule = Schedule::new(9, 7);
        want(&mut schedule, "a", 0..100, 0);
        want(&mut schedule, "b", 100..200, 0);
        assert_eq!(keys(&schedule.begin(Time(0))), [0, 100, 1, 101, 2, 102]);
    }

    #[test]
    fn the_jitter_is_a_tenth_and_differs_between_seeds() {
        let period = Span::from_secs(10);
        let drawn: BTreeSet<u64> = (0..1000).map(|draw| jittered(period, draw).0).collect();
        assert!(drawn.first() >= Some(&9_000) && drawn.last() <= Some(&11_000) && drawn.len() > 500);
        assert_eq!(jittered(Span(5), 3), Span(5));
    }
}
