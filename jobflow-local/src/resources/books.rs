//! Who has taken how much of the machine.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::{Amounts, Machine, Quantity};

// Counted only where the machine was given an amount of it: nobody who writes a manifest for a cluster means the disk
// of the machine on which it is tried.
const OPTIONAL: &str = "ephemeral-storage";

/// The books: each holder's share, by a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Books<K> {
    total: Amounts,
    shares: BTreeMap<K, Amounts>,
    ignored: bool,
}

/// Why a gang can't start now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortage {
    /// What there is too little of.
    pub resource: String,
    /// How much is wanted.
    pub wanted: Quantity,
    /// How much is free.
    pub free: Quantity,
    /// How much there is at all.
    pub total: Quantity,
}

impl<K: Ord> Books<K> {
    /// Opens books for a machine; with `ignored` everything fits.
    pub fn new(machine: Machine, ignored: bool) -> Self {
        Self {
            total: machine.amounts,
            shares: BTreeMap::new(),
            ignored,
        }
    }

    /// Gives a holder its share, once; asking again changes nothing.
    ///
    /// # Errors
    ///
    /// What there is too little of.
    pub fn take(&mut self, holder: K, wanted: &Amounts) -> Result<(), Shortage> {
        if self.ignored || self.shares.contains_key(&holder) {
            return Ok(());
        }
        self.check(wanted)?;
        self.shares.insert(holder, wanted.clone());
        Ok(())
    }

    /// Takes a share back.
    pub fn give_back(&mut self, holder: &K) {
        self.shares.remove(holder);
    }

    /// Finds the first resource of which a request could never be met on this machine.
    pub fn never_fits(&self, wanted: &Amounts) -> Option<Shortage> {
        let mut lacking = self.lacking(wanted);
        lacking.find(|shortage| !self.ignored && shortage.wanted > shortage.total)
    }

    /// Finds the first resource of which too little is free for a holder that has no share yet.
    pub fn short_of(&self, holder: &K, wanted: &Amounts) -> Option<Shortage> {
        let counts = !self.ignored && !self.shares.contains_key(holder);
        counts.then(|| self.check(wanted).err()).flatten()
    }

    fn check(&self, wanted: &Amounts) -> Result<(), Shortage> {
        self.lacking(wanted).next().map_or(Ok(()), Err)
    }

    fn lacking(&self, wanted: &Amounts) -> impl Iterator<Item = Shortage> {
        wanted.iter().filter_map(|(resource, wanted)| {
            let total = self.total.get(resource).copied();
            if total.is_none() && resource == OPTIONAL {
                return None;
            }
            let (total, wanted) = (total.unwrap_or_default(), *wanted);
            let free = total.minus(self.taken(resource));
            (wanted > free).then(|| Shortage {
                resource: resource.clone(),
                wanted,
                free,
                total,
            })
        })
    }

    fn taken(&self, resource: &str) -> Quantity {
        let shares = self.shares.values().filter_map(|share| share.get(resource));
        shares.fold(Quantity::default(), |sum, amount| sum.plus(*amount))
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resource,
            wanted,
            free,
            total,
        } = self;
        if wanted <= total {
            return write!(formatter, "needs {wanted} {resource}; {free} of {total} is free");
        }
        let flag = match resource.as_str() {
            "cpu" => format!("--cpus {wanted}"),
            "memory" => format!("--memory {wanted}"),
            other => format!("--resources {other}={wanted}"),
        };
        write!(
            formatter,
            "needs {wanted} {resource}, and this machine has {total}: give {flag}, or --ignore-resources"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(pairs: &[(&str, &str)]) -> Amounts {
        let read = |&(name, text): &(&str, &str)| (name.to_owned(), Quantity::parse(text).unwrap());
        pairs.iter().map(read).collect()
    }

    fn books(ignored: bool) -> Books<&'static str> {
        Books::new(
            Machine {
                amounts: amounts(&[("cpu", "4"), ("memory", "1Gi")]),
            },
            ignored,
        )
    }

    #[test]
    fn a_gang_waits_until_somebody_gives_back() {
        let mut books = books(false);
        let three = amounts(&[("cpu", "3")]);
        assert_eq!(books.take("a", &three), Ok(()));
        assert_eq!(books.take("a", &three), Ok(()));
        let shortage = books.take("b", &three).unwrap_err();
        assert_eq!(shortage.to_string(), "needs 3 cpu; 1 of 4 is free");
        assert_eq!(books.short_of(&"b", &three), Some(shortage));
        assert_eq!(books.short_of(&"a", &three), None);
        assert_eq!(books.never_fits(&three), None);
        books.give_back(&"a");
        assert_eq!(books.take("b", &three), Ok(()));
    }

    #[test]
    fn what_never_fits_says_how_to_make_it_fit() {
        let mut books = books(false);
        let gpu = amounts(&[("nvidia.com/gpu", "2")]);
        let message = "needs 2 nvidia.com/gpu, and this machine has 0: give --resources nvidia.com/gpu=2, or --ignore-resources";
        assert_eq!(books.never_fits(&gpu).unwrap().to_string(), message);
        assert!(books.take("a", &gpu).is_err());
        assert_eq!(
            books.take("a", &amounts(&[("ephemeral-storage", "9Ti"), ("cpu", "0")])),
            Ok(())
        );
    }

    #[test]
    fn without_books_everything_fits() {
        let huge = amounts(&[("cpu", "9999")]);
        assert_eq!(books(true).take("a", &huge), Ok(()));
        assert_eq!(books(true).never_fits(&huge), None);
    }
}
