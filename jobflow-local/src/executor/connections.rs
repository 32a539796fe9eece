//! All clients that are connected, each by a number of its own.

use std::{
    collections::BTreeMap,
    os::unix::net::{UnixListener, UnixStream},
};

use nix::{
    sys::socket::{getsockopt, sockopt::PeerCredentials},
    unistd::geteuid,
};

use super::{connection::Connection, wire::Reply};

/// The listening socket and who came through it.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) listener: UnixListener,
    pub(super) open: BTreeMap<u64, Connection>,
    next: u64,
}

impl Connections {
    pub(super) fn new(listener: UnixListener) -> Self {
        Self {
            listener,
            open: BTreeMap::new(),
            next: 0,
        }
    }

    /// Accepts everybody who waits and is the same user; returns their numbers.
    pub(super) fn accept(&mut self) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Ok((stream, _)) = self.listener.accept() {
            if !is_same_user(&stream) {
                continue;
            }
            let Ok(connection) = Connection::new(stream) else {
                continue;
            };
            self.open.insert(self.next, connection);
            numbers.push(self.next);
            self.next += 1;
        }
        numbers
    }

    /// Tells everybody.
    pub(super) fn broadcast(&mut self, reply: &Reply) {
        self.open
            .values_mut()
            .for_each(|connection| connection.send(reply));
    }
}

fn is_same_user(stream: &UnixStream) -> bool {
    let own = geteuid();
    getsockopt(stream, PeerCredentials).is_ok_and(|peer| peer.uid() == own.as_raw() || peer.uid() == 0)
}
