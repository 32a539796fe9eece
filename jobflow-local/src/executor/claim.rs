//! Which loopback addresses the tasks of a run get: a range that no other run of this machine has.
//!
//! A range is claimed by binding an abstract socket that is named after it. The kernel lets one process at a time have a
//! name, of whatever user and with whatever state folder, and frees it when that process ends, however it ends; names
//! are those of a network namespace, as loopback addresses are. The claim is the executor's, since tasks live as long as
//! it does. Other systems have no such names, nor more than one loopback address: there every run has the first range.

use std::{fs, io, path::Path};

use crate::pod::addresses::Range;

/// The file in a run's folder with the number of its range, for whoever gives addresses out.
pub(crate) const RANGE: &str = "addresses";

/// A range that is this process's.
#[derive(Debug)]
pub(super) struct Claim {
    range: Range,
    #[cfg(target_os = "linux")]
    _name: std::os::unix::net::UnixDatagram,
}

impl Claim {
    /// Claims the range that the run had before, if it is free, else the first free one; and writes it down.
    pub(super) fn take(folder: &Path) -> io::Result<Self> {
        let before = read(folder).ok();
        let mut ranges = before.into_iter().chain(Range::all());
        let claim = ranges.find_map(|range| Self::of(range).transpose());
        let Some(claim) = claim.transpose()? else {
            let message = "as many runs as this machine has loopback addresses for are at work";
            return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
        };
        fs::write(folder.join(RANGE), claim.range.number().to_string())?;
        Ok(claim)
    }

    /// `None` if somebody else has it.
    #[cfg(target_os = "linux")]
    fn of(range: Range) -> io::Result<Option<Self>> {
        use std::os::linux::net::SocketAddrExt;
        use std::os::unix::net::{SocketAddr, UnixDatagram};

        let name = format!("jobflow/127.{}", range.number());
        match UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?) {
            Ok(name) => Ok(Some(Self { range, _name: name })),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    fn of(range: Range) -> io::Result<Option<Self>> {
        Ok(Some(Self { range }))
    }
}

/// The range of the run in this folder, as its executor wrote it down.
///
/// # Errors
///
/// When it can't be read, or is none.
pub(crate) fn read(folder: &Path) -> io::Result<Range> {
    let text = fs::read_to_string(folder.join(RANGE))?;
    let range = text.trim().parse().ok().and_then(Range::of);
    range.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "not the number of a range of addresses",
        )
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn two_at_a_time_never_have_the_same_and_one_that_comes_back_has_its_own_again() {
        let [one, other] = [0, 1].map(|_| tempfile::tempdir().unwrap());
        let first = Claim::take(one.path()).unwrap();
        let second = Claim::take(other.path()).unwrap();
        assert_ne!(first.range, second.range);
        assert_eq!(read(one.path()).unwrap(), first.range);
        let had = second.range;
        drop(first);
        drop(second);
        assert_eq!(Claim::take(other.path()).unwrap().range, had);
    }

    #[test]
    fn one_whose_range_was_given_away_gets_another_and_writes_that_down() {
        let [one, other] = [0, 1].map(|_| tempfile::tempdir().unwrap());
        let held = Claim::take(one.path()).unwrap();
        fs::write(other.path().join(RANGE), held.range.number().to_string()).unwrap();
        let claim = Claim::take(other.path()).unwrap();
        assert_ne!(claim.range, held.range);
        assert_eq!(read(other.path()).unwrap(), claim.range);
    }

    #[test]
    fn what_is_no_range_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["0", "256", "-1", "", "one"] {
            fs::write(folder.path().join(RANGE), text).unwrap();
            assert!(read(folder.path()).is_err(), "{text:?}");
        }
    }
}
