//! One client's connection: whole lines in, whole lines out, and nothing that grows without a bound.

use std::{
    io::{self, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
};

use super::{
    journal::Journal,
    wire::{Reply, Request},
};

const LONGEST_REQUEST: usize = 16 << 20;
const CHUNK: usize = 64 << 10;
// As long as so much is unread, nothing more is asked of the client and no journal is sent to it.
const ENOUGH_DUE: usize = 256 << 10;

/// A connection that is of no use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed;

/// The state of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: UnixStream,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    watched: Option<u64>,
    interest: (bool, bool),
}

impl Connection {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            watched: None,
            interest: (true, false),
        })
    }

    /// Reads what is there and returns the complete requests in it.
    pub(super) fn receive(&mut self) -> Result<Vec<Request>, Closed> {
        let mut chunk = vec![0; CHUNK];
        let count = match self.stream.read(&mut chunk) {
            Ok(0) => return Err(Closed),
            Ok(count) => count,
            Err(error) if is_momentary(&error) => 0,
            Err(_) => return Err(Closed),
        };
        self.incoming
            .extend_from_slice(chunk.get(..count).unwrap_or_default());
        let Some(end) = self.incoming.iter().rposition(|byte| *byte == b'\n') else {
            return if self.incoming.len() > LONGEST_REQUEST {
                Err(Closed)
            } else {
                Ok(Vec::new())
            };
        };
        let rest = self.incoming.split_off(end + 1);
        let complete = std::mem::replace(&mut self.incoming, rest);
        let lines = complete
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).map_err(|_| Closed))
            .collect()
    }

    /// Begins to send the journal from an offset on.
    pub(super) fn watch(&mut self, offset: u64) {
        self.watched = Some(offset);
    }

    /// Queues a reply.
    pub(super) fn send(&mut self, reply: &Reply) {
        // Our own types: nothing in them can fail to be written as JSON.
        if serde_json::to_writer(&mut self.outgoing, reply).is_ok() {
            self.outgoing.push(b'\n');
        }
    }

    /// Queues journal lines that the client watches, as far as it reads them.
    pub(super) fn send_journal(&mut self, journal: &Journal) -> Result<(), Closed> {
        let Some(mut offset) = self.watched else {
            return Ok(());
        };
        if self.outgoing.len() >= ENOUGH_DUE || offset >= journal.length() {
            return Ok(());
        }
        let text = journal.read(offset, CHUNK).map_err(|_| Closed)?;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            offset += line.len() as u64;
            let line = String::from_utf8_lossy(line).trim_end().to_owned();
            self.send(&Reply::Line { next: offset, line });
        }
        self.watched = Some(offset);
        Ok(())
    }

    /// Sends what is due, as far as the client takes it.
    pub(super) fn flush(&mut self) -> Result<(), Closed> {
        while !self.outgoing.is_empty() {
            match self.stream.write(&self.outgoing) {
                Ok(0) => return Err(Closed),
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if is_momentary(&error) => return Ok(()),
                Err(_) => return Err(Closed),
            }
        }
        Ok(())
    }

    /// Tells whether more requests are welcome, and whether something is due, if that has changed.
    pub(super) fn new_interest(&mut self) -> Option<(bool, bool)> {
        let interest = (self.outgoing.len() < ENOUGH_DUE, !self.outgoing.is_empty());
        (std::mem::replace(&mut self.interest, interest) != interest).then_some(interest)
    }
}

fn is_momentary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
