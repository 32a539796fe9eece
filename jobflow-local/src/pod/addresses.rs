//! Loopback addresses: each replica of a job listens on one of its own, 127.a.b.k, so that all may use the same port.
//!
//! The a is the run's: runs beside each other have different ones. Within it a job gets addresses one after the other,
//! without those that end in 0 or 255. 127.0 stays the machine's.

use std::{collections::BTreeMap, net::Ipv4Addr};

use serde::{Deserialize, Serialize};

const LOOPBACK: u8 = 127;
/// Addresses 127.a.b.k for one b.
const BLOCK: u32 = 254;
/// Addresses of one run.
const MOST: u32 = 256 * BLOCK;

/// The addresses of one run: all that begin with the same two numbers, which are 127 and the run's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Range([u8; 2]);

impl Range {
    /// The one that comes first.
    pub const FIRST: Self = Self([LOOPBACK, 1]);

    /// Every range that a run can have, the first one first.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=u8::MAX).map(|number| Self([LOOPBACK, number]))
    }

    /// The range of this number; `None` for 0, which is the machine's.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            0 => None,
            number => Some(Self([LOOPBACK, number])),
        }
    }

    /// Its number, the second of an address.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0[1]
    }

    /// Addresses of another network, which whoever gives them out has made this machine's.
    #[must_use]
    pub const fn of_network(network: [u8; 2]) -> Self {
        Self(network)
    }
}

/// The addresses of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    range: Range,
    first: u32,
}

impl Addresses {
    /// Those from the beginning of a range.
    #[must_use]
    pub const fn at_the_beginning_of(range: Range) -> Self {
        Self { range, first: 0 }
    }

    /// The run's range.
    #[must_use]
    pub const fn range(self) -> Range {
        self.range
    }

    /// Returns the address of a replica, counted over all tasks of the job.
    pub fn of(self, replica: u32) -> Ipv4Addr {
        let number = self.first.saturating_add(replica) % MOST;
        let part = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        let [first, second] = self.range.0;
        Ipv4Addr::new(first, second, part(number / BLOCK), part(number % BLOCK + 1))
    }
}

/// Which addresses of a run are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressBook {
    range: Range,
    /// How many are taken from which on.
    taken: BTreeMap<u32, u32>,
}

impl AddressBook {
    /// One in which none of this range is taken.
    #[must_use]
    pub const fn of(range: Range) -> Self {
        Self {
            range,
            taken: BTreeMap::new(),
        }
    }

    /// The run's range.
    #[must_use]
    pub const fn range(&self) -> Range {
        self.range
    }

    /// Gives a job with so many replicas the lowest addresses in a row that are free; `None` if there are none.
    pub fn take(&mut self, replicas: u32) -> Option<Addresses> {
        let count = replicas.max(1);
        let mut start: u32 = 0;
        for (first, length) in &self.taken {
            if first - start >= count {
                break;
            }
            start = first + length;
        }
        if start.checked_add(count)? > MOST {
            return None;
        }
        self.taken.insert(start, count);
        Some(Addresses {
            range: self.range,
            first: start,
        })
    }

    /// Notes that a job with so many replicas has these already.
    pub fn keep(&mut self, addresses: Addresses, replicas: u32) {
        self.taken.insert(addresses.first, replicas.max(1));
    }

    /// Takes a job's addresses back.
    pub fn give_back(&mut self, addresses: Addresses) {
        self.taken.remove(&addresses.first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> AddressBook {
        AddressBook::of(Range::FIRST)
    }

    #[test]
    fn each_replica_has_an_address_of_its_own() {
        let mut book = book();
        let (first, second) = (book.take(2).unwrap(), book.take(300).unwrap());
        assert_eq!(first.of(0), Ipv4Addr::new(127, 1, 0, 1));
        assert_eq!(first.of(1), Ipv4Addr::new(127, 1, 0, 2));
        assert_eq!(second.of(0), Ipv4Addr::new(127, 1, 0, 3));
        assert_eq!(second.of(251), Ipv4Addr::new(127, 1, 0, 254));
        assert_eq!(second.of(252), Ipv4Addr::new(127, 1, 1, 1));
        assert_eq!(book.take(1).unwrap().of(0), Ipv4Addr::new(127, 1, 1, 49));
        book.give_back(first);
        assert_eq!(book.take(3).unwrap().of(0), Ipv4Addr::new(127, 1, 1, 50));
        assert_eq!(book.take(2).unwrap().of(0), Ipv4Addr::new(127, 1, 0, 1));
    }

    #[test]
    fn runs_have_no_address_in_common() {
        let mut ranges = Range::all();
        let [one, other] = [ranges.next(), ranges.next()].map(Option::unwrap);
        let last = |range| AddressBook::of(range).take(MOST).unwrap().of(MOST - 1);
        assert_eq!(last(one), Ipv4Addr::new(127, 1, 255, 254));
        assert_eq!(last(other), Ipv4Addr::new(127, 2, 255, 254));
        assert_eq!((Range::all().count(), Range::of(0)), (255, None));
    }

    #[test]
    fn when_all_are_taken_there_is_none() {
        let mut book = book();
        assert!(book.take(MOST).is_some());
        assert_eq!(book.take(1), None);
        assert_eq!(self::book().take(u32::MAX), None);
    }
}
