//! Loopback addresses: each replica of a job listens on one of its own, 127.a.b.k, so that all may use the same port.
//!
//! A job gets whole blocks of 254 addresses, beginning with 127.1.0; 127.0 stays the machine's.

use std::{collections::BTreeMap, net::Ipv4Addr};

use serde::{Deserialize, Serialize};

const BLOCK: u32 = 254;
const FIRST: u32 = 1 << 8;
const END: u32 = 256 << 8;

/// The addresses of one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    first_block: u32,
}

impl Addresses {
    /// Returns the address of a replica, counted over all tasks of the job.
    pub fn of(self, replica: u32) -> Ipv4Addr {
        let block = (self.first_block + replica / BLOCK).min(END - 1);
        let [_, _, a, b] = block.to_be_bytes();
        let k = u8::try_from(replica % BLOCK + 1).unwrap_or(1);
        Ipv4Addr::new(127, a, b, k)
    }
}

/// Which addresses are taken, by whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressBook {
    taken: BTreeMap<u32, u32>,
}

impl AddressBook {
    /// Gives a job with so many replicas the lowest blocks that are free; `None` if none are left.
    pub fn take(&mut self, replicas: u32) -> Option<Addresses> {
        let count = replicas.div_ceil(BLOCK).max(1);
        let mut start = FIRST;
        for (first, length) in &self.taken {
            if first - start >= count {
                break;
            }
            start = first + length;
        }
        if start.checked_add(count)? > END {
            return None;
        }
        self.taken.insert(start, count);
        Some(Addresses { first_block: start })
    }

    /// Notes that a job with so many replicas has these already.
    pub fn keep(&mut self, addresses: Addresses, replicas: u32) {
        self.taken
            .insert(addresses.first_block, replicas.div_ceil(BLOCK).max(1));
    }

    /// Takes a job's addresses back.
    pub fn give_back(&mut self, addresses: Addresses) {
        self.taken.remove(&addresses.first_block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_has_its_own_block_and_each_replica_its_own_address() {
        let mut book = AddressBook::default();
        let (first, second) = (book.take(2).unwrap(), book.take(300).unwrap());
        assert_eq!(first.of(0), Ipv4Addr::new(127, 1, 0, 1));
        assert_eq!(first.of(1), Ipv4Addr::new(127, 1, 0, 2));
        assert_eq!(second.of(253), Ipv4Addr::new(127, 1, 1, 254));
        assert_eq!(second.of(254), Ipv4Addr::new(127, 1, 2, 1));
        assert_eq!(book.take(1).unwrap().of(0), Ipv4Addr::new(127, 1, 3, 1));
        book.give_back(first);
        assert_eq!(book.take(1).unwrap().of(0), Ipv4Addr::new(127, 1, 0, 1));
    }

    #[test]
    fn when_all_are_taken_there_is_none() {
        let mut book = AddressBook::default();
        assert!(book.take(BLOCK * (END - FIRST)).is_some());
        assert_eq!(book.take(1), None);
        assert_eq!(AddressBook::default().take(u32::MAX), None);
    }
}
