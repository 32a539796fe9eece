//! The tasks of the run: waiting, running, finishing, ended. The one place that changes them.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs::File,
    io::{self, PipeReader, Read},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use cap_std::fs::Dir;
use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, kill, killpg},
        wait::{Id, WaitPidFlag, waitid},
    },
    unistd::{Pid, getpgid},
};
use rustix::process::{WaitOptions, waitpid};

use super::{
    engine::now,
    journal::Journal,
    line::Line,
    log::BoundedLog,
    spawn::{SpawnFailure, Spawned, spawn},
    wire::Reply,
};
use crate::{
    process::{self, ProcessId},
    task::{KEY_VARIABLE, Outcome, TaskKey, TaskSpec, TaskState},
};

const CHUNK: usize = 64 << 10;
// What is read of a task's output in one turn, so that one loud task can't keep the others waiting.
const TURN: usize = 4 * CHUNK;
// What is read after a task's end: a pipe holds 64 KiB, unless its writer made it larger.
const REMAINDER: usize = 1 << 20;
// How long the end of a task waits for members of its group that were killed and can't die yet.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often something that could not be done is tried again.
pub(super) const RETRY: Duration = Duration::from_millis(500);

#[derive(Debug)]
struct Running {
    key: TaskKey,
    output: Option<PipeReader>,
    log: BoundedLog,
    kill_at: Option<Instant>,
    finishing: Option<(Outcome, Instant)>,
}

/// All tasks. Running ones are kept by the number of their process group.
#[derive(Debug)]
pub(super) struct Table {
    folder: Dir,
    pub(super) journal: Journal,
    token: String,
    null: File,
    most: usize,
    waiting: VecDeque<(TaskKey, Box<TaskSpec>)>,
    waiting_keys: BTreeSet<TaskKey>,
    running: BTreeMap<i32, Running>,
    groups: BTreeMap<TaskKey, i32>,
    ended: BTreeMap<TaskKey, Outcome>,
    retry_at: Option<Instant>,
    blocked: Option<String>,
    news: Vec<Reply>,
    buffer: Vec<u8>,
}

impl Table {
    pub(super) fn new(
        folder: Dir,
        journal: Journal,
        token: String,
        ended: BTreeMap<TaskKey, Outcome>,
        most: usize,
    ) -> io::Result<Self> {
        Ok(Self {
            folder,
            journal,
            token,
            null: File::open("/dev/null")?,
            most,
            waiting: VecDeque::new(),
            waiting_keys: BTreeSet::new(),
            running: BTreeMap::new(),
            groups: BTreeMap::new(),
            ended,
            retry_at: None,
            blocked: None,
            news: Vec::new(),
            buffer: vec![0; CHUNK],
        })
    }

    /// Returns what is known about a key.
    pub(super) fn state(&self, key: &TaskKey) -> TaskState {
        if let Some(outcome) = self.ended.get(key) {
            return TaskState::Ended(outcome.clone());
        }
        if let Some(group) = self.groups.get(key) {
            return TaskState::Running(*group);
        }
        match self.waiting_keys.contains(key) {
            true => TaskState::Waiting(self.wait_reason()),
            false => TaskState::Unknown,
        }
    }

    fn wait_reason(&self) -> String {
        let full = || {
            format!(
                "{} tasks run, a quarter of the limit on open files",
                self.running.len()
            )
        };
        self.blocked.clone().unwrap_or_else(full)
    }

    /// Accepts a task, unless its key is known, and starts it if there is room.
    pub(super) fn start(&mut self, key: &TaskKey, spec: Box<TaskSpec>) -> Vec<i32> {
        if self.state(key) != TaskState::Unknown {
            return Vec::new();
        }
        self.waiting_keys.insert(key.clone());
        self.waiting.push_back((key.clone(), spec));
        self.release()
    }

    /// Starts what waits and fits; returns the groups that are new.
    pub(super) fn release(&mut self) -> Vec<i32> {
        let mut started = Vec::new();
        while self.running.len() < self.most && self.retry_at.is_none() {
            let Some((key, spec)) = self.waiting.pop_front() else {
                break;
            };
            match self.launch(&key, &spec) {
                Ok(group) => {
                    self.waiting_keys.remove(&key);
                    started.extend(group);
                }
                Err(reason) => {
                    self.waiting.push_front((key, spec));
                    self.block(reason);
                }
            }
        }
        started
    }

    fn launch(&mut self, key: &TaskKey, spec: &TaskSpec) -> Result<Option<i32>, String> {
        let full = |error: io::Error| format!("the executor's journal can't be written: {error}");
        self.journal.reserve(self.running.len() + 1).map_err(full)?;
        self.journal
            .append_or_forget(&Line::Starting {
                key: key.clone(),
                at: now(),
            })
            .map_err(full)?;
        match spawn(key, spec, &self.token, &self.null) {
            Ok(spawned) => Ok(Some(self.track(key, spec, spawned))),
            Err(SpawnFailure::NotNow(reason)) => Err(reason),
            Err(SpawnFailure::Never(message)) => {
                self.end(key, Outcome::StartError(message), 0);
                Ok(None)
            }
        }
    }

    fn track(&mut self, key: &TaskKey, spec: &TaskSpec, Spawned { pid, output }: Spawned) -> i32 {
        // A child that wasn't reaped has its entry, even when it has ended.
        let process = process::stat(pid).map_or(ProcessId { pid, start_time: 0 }, |stat| stat.id);
        self.record(&Line::Started {
            key: key.clone(),
            process,
            at: now(),
        });
        let log = BoundedLog::new(spec.log.clone(), spec.log_limit);
        let running = Running {
            key: key.clone(),
            output: Some(output),
            log,
            kill_at: None,
            finishing: None,
        };
        self.groups.insert(key.clone(), pid);
        self.running.insert(pid, running);
        pid
    }

    /// A line about something that has happened: it is written now or later, but never forgotten.
    fn record(&mut self, line: &Line) {
        if let Err(error) = self.journal.append(line) {
            self.block(format!("the executor's journal can't be written: {error}"));
        }
    }

    fn block(&mut self, reason: String) {
        self.retry_at = Some(Instant::now() + RETRY);
        if self.blocked.as_ref() == Some(&reason) {
            return;
        }
        self.news.push(Reply::Blocked(Some(reason.clone())));
        self.blocked = Some(reason);
    }

    /// Tries again what could not be done, when it is time to.
    pub(super) fn retry(&mut self) -> Vec<i32> {
        if self.retry_at.is_none_or(|at| at > Instant::now()) {
            return Vec::new();
        }
        self.retry_at = None;
        if let Err(error) = self.journal.flush() {
            self.block(format!("the executor's journal can't be written: {error}"));
            return Vec::new();
        }
        let started = self.release();
        if self.retry_at.is_none() && self.blocked.take().is_some() {
            self.news.push(Reply::Blocked(None));
        }
        started
    }

    /// Returns a running task's output, to be waited for.
    pub(super) fn output(&self, group: i32) -> Option<impl AsFd> {
        self.running.get(&group)?.output.as_ref()
    }

    /// Moves output that is there to the log; at its end the pipe is closed.
    pub(super) fn copy_output(&mut self, group: i32, limit: usize) {
        let Some(running) = self.running.get_mut(&group) else {
            return;
        };
        let mut copied = 0;
        while copied < limit {
            let Some(output) = &mut running.output else { return };
            match output.read(&mut self.buffer) {
                Ok(0) => running.output = None,
                Ok(count) => {
                    running
                        .log
                        .write(&self.folder, self.buffer.get(..count).unwrap_or_default());
                    copied += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => running.output = None,
            }
        }
    }

    /// Moves one turn of output.
    pub(super) fn copy_turn(&mut self, group: i32) {
        self.copy_output(group, TURN);
    }

    /// Sends a signal to a task's group; a task that waits will never start.
    pub(super) fn stop(&mut self, key: &TaskKey, signal: i32, kill_after: Option<Duration>) {
        let index = || self.waiting.iter().position(|(waiting, _)| waiting == key);
        if let Some(index) = self.waiting_keys.contains(key).then(index).flatten() {
            self.waiting.remove(index);
            self.waiting_keys.remove(key);
            self.end(key, Outcome::Cancelled, 0);
            return;
        }
        let Some(group) = self.groups.get(key) else { return };
        let Some(running) = self.running.get_mut(group) else {
            return;
        };
        if let Ok(signal) = Signal::try_from(signal) {
            // The group exists while its leader isn't reaped.
            let _ = killpg(Pid::from_raw(*group), signal);
        }
        if let Some(after) = kill_after {
            let at = Instant::now() + after;
            running.kill_at = Some(running.kill_at.map_or(at, |earlier| earlier.min(at)));
        }
    }

    /// Stops everything.
    pub(super) fn stop_all(&mut self, kill_after: Duration) {
        let waiting = self.waiting.iter().map(|(key, _)| key.clone());
        let keys: Vec<TaskKey> = waiting.chain(self.groups.keys().cloned()).collect();
        for key in keys {
            self.stop(&key, Signal::SIGTERM as i32, Some(kill_after));
        }
    }

    /// Kills the groups whose grace period is over.
    pub(super) fn kill_overdue(&mut self) {
        let moment = Instant::now();
        for (group, running) in &mut self.running {
            if running.kill_at.is_some_and(|at| at <= moment) {
                running.kill_at = None;
                let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
            }
        }
    }

    /// Takes the ends of all children: a leader's group is killed before its number can be used again.
    pub(super) fn reap(&mut self) {
        while let Some(pid) = next_ended() {
            let running = self.running.get_mut(&pid);
            if running.is_some() {
                let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
            }
            let Some(outcome) = collect(pid) else { break };
            if let Some(running) = running {
                running.finishing = Some((outcome, Instant::now() + PATIENCE));
            }
        }
        self.finish();
        self.kill_strays();
    }

    /// Ends the tasks whose groups are gone.
    pub(super) fn finish(&mut self) {
        let moment = Instant::now();
        let is_over = |(group, running): (&i32, &Running)| {
            let (_, deadline) = running.finishing.as_ref()?;
            (*deadline <= moment || is_gone(*group)).then_some(*group)
        };
        let over: Vec<i32> = self.running.iter().filter_map(is_over).collect();
        for group in over {
            self.copy_output(group, REMAINDER);
            let Some(running) = self.running.remove(&group) else {
                continue;
            };
            let Running {
                key,
                log,
                finishing,
                output: _,
                kill_at: _,
            } = running;
            let Some((outcome, _)) = finishing else { continue };
            self.groups.remove(&key);
            self.end(&key, outcome, log.lost());
        }
    }

    fn end(&mut self, key: &TaskKey, outcome: Outcome, lost: u64) {
        self.ended.insert(key.clone(), outcome.clone());
        self.record(&Line::Ended {
            key: key.clone(),
            outcome,
            at: now(),
            lost,
        });
    }

    /// Kills descendants that left their group and outlived their task; they came to us, the subreaper.
    fn kill_strays(&self) {
        let strays = process::children()
            .into_iter()
            .filter(|pid| !self.running.contains_key(pid));
        for pid in strays.filter(|pid| self.has_ended(*pid)) {
            kill_with_group(pid);
        }
    }

    fn has_ended(&self, pid: i32) -> bool {
        let key = process::variable(pid, KEY_VARIABLE).and_then(|value| String::from_utf8(value).ok());
        let Some(key) = key.and_then(|text| TaskKey::new(text).ok()) else {
            return false;
        };
        !self.groups.contains_key(&key)
    }

    /// Kills every child that is left, whatever it says about itself: nothing runs any more.
    pub(super) fn kill_all_children(&self) {
        process::children().into_iter().for_each(kill_with_group);
    }

    /// Returns when something has to be looked at although nothing happened.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        let kills = self.running.values().filter_map(|running| running.kill_at);
        let is_finishing = self.running.values().any(|running| running.finishing.is_some());
        let finishing = is_finishing.then(|| Instant::now() + Duration::from_millis(10));
        kills.chain(finishing).chain(self.retry_at).min()
    }

    /// Tells whether nothing runs, nothing waits and nothing is due.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty() && !self.journal.is_behind()
    }

    /// Takes what everybody should hear.
    pub(super) fn take_news(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.news)
    }

    /// Returns why starts are held back, if they are.
    pub(super) fn blocked(&self) -> Option<&String> {
        self.blocked.as_ref()
    }

    /// Gives the journal back.
    pub(super) fn into_journal(self) -> Journal {
        self.journal
    }
}

fn kill_with_group(pid: i32) {
    let pid = Pid::from_raw(pid);
    match getpgid(Some(pid)) {
        // Its own group only: a stray may stand in a group that isn't ours to signal.
        Ok(group) if group == pid => {
            let _ = killpg(pid, Signal::SIGKILL);
        }
        Ok(_) | Err(_) => {
            let _ = kill(pid, Signal::SIGKILL);
        }
    }
}

fn is_gone(group: i32) -> bool {
    killpg(Pid::from_raw(group), None) == Err(Errno::ESRCH)
}

/// Finds a child that has ended, without reaping it.
fn next_ended() -> Option<i32> {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    match waitid(Id::All, flags) {
        Ok(status) => status.pid().map(Pid::as_raw),
        // An end by a real-time signal, which nix has no name for.
        Err(Errno::EINVAL) => {
            let is_zombie = |pid: &i32| process::stat(*pid).is_some_and(|stat| stat.state == 'Z');
            process::children().into_iter().find(is_zombie)
        }
        Err(_) => None,
    }
}

/// Reaps a child that has ended.
fn collect(pid: i32) -> Option<Outcome> {
    let pid = rustix::process::Pid::from_raw(pid)?;
    let (_, status) = waitpid(Some(pid), WaitOptions::NOHANG).ok()??;
    let signal = || status.terminating_signal().map(Outcome::Signalled);
    status.exit_status().map(Outcome::Exited).or_else(signal)
}
