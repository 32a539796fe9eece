//! What Linux says about a process: enough to be sure that a number still means the process that was meant.
//!
//! Goes in: `/proc`. Deliberately absent: signals; who may be signalled is decided where it is done.

use std::{
    fs,
    io::{self, Read},
};

/// One process of this boot: a number is used again, a number with its start time is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessId {
    /// The number.
    pub pid: i32,
    /// Clock ticks from boot to its start (field 22 of `/proc/PID/stat`).
    pub start_time: u64,
}

/// The fields of `/proc/PID/stat` that are used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The process.
    pub id: ProcessId,
    /// Its state letter: `Z` has ended and wasn't reaped.
    pub state: char,
    /// Its process group.
    pub group: i32,
}

/// Reads what `/proc` says about a process; `None` when there is none, or it can't be understood.
pub fn stat(pid: i32) -> Option<Stat> {
    // One read: the file is made anew for each, and this is on the path of every task.
    let mut buffer = [0; 1024];
    let count = fs::File::open(format!("/proc/{pid}/stat"))
        .ok()?
        .read(&mut buffer)
        .ok()?;
    parse_stat(&String::from_utf8_lossy(buffer.get(..count)?))
}

/// Reads the identity of this boot of the machine.
pub fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?
        .trim()
        .to_owned())
}

/// Tells whether a process was started with `NAME=value` in its environment; no for one that can't be read.
pub fn has_variable(pid: i32, name: &str, value: &str) -> bool {
    variable(pid, name).is_some_and(|found| found == value.as_bytes())
}

/// Reads a variable of the environment that a process was started with.
pub fn variable(pid: i32, name: &str) -> Option<Vec<u8>> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(value.to_vec())
    })
}

/// Lists the numbers of all processes that can be seen.
pub fn all() -> io::Result<Vec<i32>> {
    let entries = fs::read_dir("/proc")?.filter_map(Result::ok);
    Ok(entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect())
}

/// Lists the children of the calling thread, by the kernel's own list where it has one.
pub fn children() -> Vec<i32> {
    if let Ok(text) = fs::read_to_string("/proc/thread-self/children") {
        return text
            .split_ascii_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
    }
    let own = i64::from(std::process::id());
    let is_child = |pid: &i32| parent(*pid) == Some(own);
    all().unwrap_or_default().into_iter().filter(is_child).collect()
}

fn parent(pid: i32) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    after_name(&text)?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The name of a process may hold spaces and brackets: the fields begin after the last bracket.
fn after_name(text: &str) -> Option<&str> {
    Some(text.rsplit_once(')')?.1)
}

fn parse_stat(text: &str) -> Option<Stat> {
    let pid = text.split_once(' ')?.0.parse().ok()?;
    let mut fields = after_name(text)?.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let group = fields.nth(1)?.parse().ok()?;
    let start_time = fields.nth(16)?.parse().ok()?;
    Some(Stat {
        id: ProcessId { pid, start_time },
        state,
        group,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_process_name_does_not_shift_the_fields() {
        let text = "42 (a) Z 1 1 (b)) S 7 42 40 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 777 1 2\n";
        let expected = Stat {
            id: ProcessId {
                pid: 42,
                start_time: 777,
            },
            state: 'S',
            group: 42,
        };
        assert_eq!(parse_stat(text), Some(expected));
        for broken in ["", "x", "42 (a", "42 (a) S 1"] {
            assert_eq!(parse_stat(broken), None);
        }
    }

    #[test]
    fn the_own_process_is_described() {
        let own = std::process::id().try_into().unwrap();
        assert_eq!(stat(own).unwrap().id.pid, own);
        assert!(all().unwrap().contains(&own));
        assert_eq!(variable(own, "NO_SUCH_VARIABLE"), None);
        assert!(!boot_id().unwrap().is_empty());
    }
}
