//! The executor's one loop: wait for whatever can happen, let the table change, tell the clients.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::net::UnixStream,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use nix::{
    errno::Errno,
    sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout},
};

use super::{ExecutorError, Options, claim::Claim, connections::Connections, setup, table::Table};

const CHILD_ENDED: u64 = 0;
const ASKED_TO_LEAVE: u64 = 1;
const LISTENER: u64 = 2;
const CLIENT: u64 = 1 << 62;
const OUTPUT: u64 = 1 << 63;
const BATCH: usize = 256;
/// How long tasks have between SIGTERM and SIGKILL when the executor itself is asked to leave.
const GRACE: Duration = Duration::from_secs(10);

/// An executor at work.
#[derive(Debug)]
pub(super) struct Engine {
    // Held for as long as the process lives: who can take it knows that we are gone.
    _lock: File,
    // The addresses are the run's for as long.
    _claim: Claim,
    pub(super) table: Table,
    pub(super) connections: Connections,
    epoll: Epoll,
    child_ended: UnixStream,
    asked_to_leave: UnixStream,
    pub(super) leaving: bool,
    idle_since: Option<Instant>,
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl Engine {
    pub(super) fn new(
        lock: File,
        claim: Claim,
        table: Table,
        connections: Connections,
        child_ended: UnixStream,
        asked_to_leave: UnixStream,
    ) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        epoll.add(&child_ended, EpollEvent::new(EpollFlags::EPOLLIN, CHILD_ENDED))?;
        epoll.add(
            &asked_to_leave,
            EpollEvent::new(EpollFlags::EPOLLIN, ASKED_TO_LEAVE),
        )?;
        epoll.add(
            &connections.listener,
            EpollEvent::new(EpollFlags::EPOLLIN, LISTENER),
        )?;
        let (leaving, idle_since) = (false, None);
        Ok(Self {
            _lock: lock,
            _claim: claim,
            table,
            connections,
            epoll,
            child_ended,
            asked_to_leave,
            leaving,
            idle_since,
        })
    }

    /// Runs until there is nothing left to do.
    pub(super) fn serve(mut self, options: Options) -> Result<(), ExecutorError> {
        let mut events = [EpollEvent::empty(); BATCH];
        while !self.is_done(options.idle) {
            let timeout = self.timeout(options.idle);
            let count = match self.epoll.wait(&mut events, timeout) {
                Ok(count) => count,
                Err(Errno::EINTR) => 0,
                Err(errno) => return Err(ExecutorError::system("wait for events")(errno.into())),
            };
            for event in events.iter().take(count) {
                self.handle(event.data());
            }
            self.table.kill_overdue();
            self.table.finish();
            let mut started = self.table.retry();
            started.extend(self.table.release());
            self.listen_to(&started);
            self.tell();
        }
        self.leave()
    }

    fn handle(&mut self, token: u64) {
        match token {
            CHILD_ENDED => {
                drain(&mut self.child_ended);
                self.table.reap();
            }
            ASKED_TO_LEAVE => {
                drain(&mut self.asked_to_leave);
                self.table.stop_all(GRACE);
                self.leaving = true;
            }
            LISTENER => self.accept(),
            output if output & OUTPUT != 0 => {
                self.table.copy_turn(i32::try_from(output & !OUTPUT).unwrap_or(0));
            }
            client => self.receive(client & !CLIENT),
        }
    }

    fn accept(&mut self) {
        for number in self.connections.accept() {
            let Some(connection) = self.connections.open.get(&number) else {
                continue;
            };
            let event = EpollEvent::new(EpollFlags::EPOLLIN, CLIENT | number);
            if self.epoll.add(connection, event).is_err() {
                self.connections.open.remove(&number);
                continue;
            }
            self.welcome(number);
        }
    }

    /// Waits for the output of groups that are new.
    pub(super) fn listen_to(&mut self, groups: &[i32]) {
        for group in groups {
            let Some(output) = self.table.output(*group) else {
                continue;
            };
            let Ok(number) = u64::try_from(*group) else {
                continue;
            };
            // Without it the output is still read when the task ends, and the task waits when the pipe is full.
            let _ = self
                .epoll
                .add(output, EpollEvent::new(EpollFlags::EPOLLIN, OUTPUT | number));
        }
    }

    /// Waits for what a connection is ready for now.
    pub(super) fn adjust_interest(&mut self, number: u64) {
        let Some(connection) = self.connections.open.get_mut(&number) else {
            return;
        };
        let Some((read, write)) = connection.new_interest() else {
            return;
        };
        let mut flags = EpollFlags::empty();
        flags.set(EpollFlags::EPOLLIN, read);
        flags.set(EpollFlags::EPOLLOUT, write);
        let _ = self
            .epoll
            .modify(&*connection, &mut EpollEvent::new(flags, CLIENT | number));
    }

    fn timeout(&self, idle: Duration) -> EpollTimeout {
        let idle_at = self.idle_since.map(|since| since + idle);
        let Some(at) = self.table.wake_at().into_iter().chain(idle_at).min() else {
            return EpollTimeout::NONE;
        };
        // Rounded up: waking a moment early would only wait again.
        let left = at.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        EpollTimeout::try_from(left).unwrap_or(EpollTimeout::MAX)
    }

    fn is_done(&mut self, idle: Duration) -> bool {
        if !self.table.is_idle() {
            self.idle_since = None;
            return false;
        }
        if self.leaving {
            return true;
        }
        if !self.connections.open.is_empty() {
            self.idle_since = None;
            return false;
        }
        self.idle_since.get_or_insert_with(Instant::now).elapsed() >= idle
    }

    fn leave(mut self) -> Result<(), ExecutorError> {
        self.table.kill_all_children();
        self.tell();
        let _ = std::fs::remove_file(setup::SOCKET);
        self.table
            .into_journal()
            .close()
            .map_err(ExecutorError::system("close the executor's journal"))
    }
}

fn drain(stream: &mut UnixStream) {
    let mut buffer = [0; 256];
    while stream.read(&mut buffer).is_ok_and(|count| count == buffer.len()) {}
}
