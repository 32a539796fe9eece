//! What an executor does with the tasks of the one before it, which is gone: nobody can learn how they end any
//! more, so what is left of them is killed, and they count as lost.
//!
//! A process is signalled only if it can't be anything else: the journal names its group, this is the boot in which
//! the group was made, it didn't start before the group's leader, the leader (if it lives) has the recorded start
//! time, and the run's token is in its environment.

use std::{
    collections::BTreeMap,
    io, thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{engine::now, journal::Journal, line::Line};
use crate::{
    process::{self, ProcessId},
    task::{Outcome, TOKEN_VARIABLE, TaskKey},
};

const PATIENCE: Duration = Duration::from_secs(5);

/// What the journal says about tasks when an executor takes over.
#[derive(Debug, Default)]
struct Replay {
    open: BTreeMap<TaskKey, Option<(ProcessId, String)>>,
    ended: BTreeMap<TaskKey, Outcome>,
}

/// Kills what is left of open tasks, writes their ends, and returns how every task that is known has ended.
pub(super) fn recover(
    journal: &mut Journal,
    lines: Vec<Line>,
    token: &str,
) -> io::Result<BTreeMap<TaskKey, Outcome>> {
    let Replay { open, mut ended } = replay(lines);
    let boot = process::boot_id()?;
    kill_groups(&groups_of_this_boot(&open, &boot), token)?;
    for key in open.into_keys() {
        journal.append(&Line::Ended {
            key: key.clone(),
            outcome: Outcome::Lost,
            at: now(),
            lost: 0,
        })?;
        ended.insert(key, Outcome::Lost);
    }
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let process = process::stat(own).map_or(
        ProcessId {
            pid: own,
            start_time: 0,
        },
        |stat| stat.id,
    );
    journal.append(&Line::Executor {
        boot,
        process,
        at: now(),
    })?;
    Ok(ended)
}

fn replay(lines: Vec<Line>) -> Replay {
    let mut replay = Replay::default();
    let mut current = String::new();
    for line in lines {
        match line {
            Line::Executor { boot, .. } => current = boot,
            Line::Starting { key, .. } => {
                replay.open.insert(key, None);
            }
            Line::Started { key, process, .. } => {
                replay.open.insert(key, Some((process, current.clone())));
            }
            Line::Ended { key, outcome, .. } => {
                replay.open.remove(&key);
                replay.ended.insert(key, outcome);
            }
        }
    }
    replay
}

fn groups_of_this_boot(
    open: &BTreeMap<TaskKey, Option<(ProcessId, String)>>,
    boot: &str,
) -> BTreeMap<i32, ProcessId> {
    let of_this_boot = open.values().flatten().filter(|(_, recorded)| recorded == boot);
    of_this_boot.map(|(leader, _)| (leader.pid, *leader)).collect()
}

/// Kills every process that surely belongs to one of the groups, until none is left.
fn kill_groups(groups: &BTreeMap<i32, ProcessId>, token: &str) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !groups.is_empty() {
        let left = members(groups, token)?;
        if left.is_empty() || Instant::now() > deadline {
            break;
        }
        for pid in left {
            // It may have ended between the look and the signal.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn members(groups: &BTreeMap<i32, ProcessId>, token: &str) -> io::Result<Vec<i32>> {
    let is_member = |pid: &i32| belongs(*pid, groups) && process::has_variable(*pid, TOKEN_VARIABLE, token);
    Ok(process::all()?.into_iter().filter(is_member).collect())
}

fn belongs(pid: i32, groups: &BTreeMap<i32, ProcessId>) -> bool {
    let Some(stat) = process::stat(pid) else {
        return false;
    };
    let Some(leader) = groups.get(&stat.group) else {
        return false;
    };
    let is_leader = stat.id.pid == leader.pid;
    stat.state != 'Z'
        && stat.id.start_time >= leader.start_time
        && (!is_leader || stat.id.start_time == leader.start_time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{os::unix::process::CommandExt, process::Command};

    fn key(name: &str) -> TaskKey {
        TaskKey::new(name).unwrap()
    }

    fn sleeper(token: &str) -> (std::process::Child, ProcessId) {
        let child = Command::new("sleep")
            .arg("600")
            .env(TOKEN_VARIABLE, token)
            .process_group(0)
            .spawn()
            .unwrap();
        let id = process::stat(i32::try_from(child.id()).unwrap()).unwrap().id;
        (child, id)
    }

    #[test]
    fn only_a_group_with_start_time_boot_and_token_is_killed() {
        let (mut child, id) = sleeper("ours");
        let other_time = ProcessId {
            start_time: id.start_time + 1,
            ..id
        };
        for (process, token) in [(id, "theirs"), (other_time, "ours")] {
            kill_groups(&BTreeMap::from([(id.pid, process)]), token).unwrap();
            assert_eq!(child.try_wait().unwrap(), None);
        }
        let open = BTreeMap::from([(key("a"), Some((id, "another boot".to_owned())))]);
        assert!(groups_of_this_boot(&open, &process::boot_id().unwrap()).is_empty());
        kill_groups(&BTreeMap::from([(id.pid, id)]), "ours").unwrap();
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_start_without_an_end_is_open_and_each_belongs_to_its_own_boot() {
        let process = ProcessId {
            pid: 7,
            start_time: 8,
        };
        let executor = |boot: &str| Line::Executor {
            boot: boot.into(),
            process,
            at: 0,
        };
        let started = |name| Line::Started {
            key: key(name),
            process,
            at: 0,
        };
        let replay = replay(vec![
            executor("one"),
            started("a"),
            started("b"),
            Line::Ended {
                key: key("a"),
                outcome: Outcome::Exited(0),
                at: 0,
                lost: 0,
            },
            executor("two"),
            Line::Starting { key: key("c"), at: 0 },
        ]);
        assert_eq!(replay.ended, BTreeMap::from([(key("a"), Outcome::Exited(0))]));
        assert_eq!(
            replay.open,
            BTreeMap::from([(key("b"), Some((process, "one".to_owned()))), (key("c"), None)])
        );
    }
}
