//! What the executor does for a client: requests in, replies and the journal out.

use std::time::Duration;

use super::{
    connection::Closed,
    engine::Engine,
    wire::{Reply, Request},
};
impl Engine {
    /// Tells a new client what everybody else was told before.
    pub(super) fn welcome(&mut self, number: u64) {
        let blocked = self.table.blocked().cloned();
        if let (Some(reason), Some(connection)) = (blocked, self.connections.open.get_mut(&number)) {
            connection.send(&Reply::Blocked(Some(reason)));
        }
    }

    /// Does what a client asks for.
    pub(super) fn receive(&mut self, number: u64) {
        let Some(connection) = self.connections.open.get_mut(&number) else {
            return;
        };
        match connection.receive() {
            Ok(requests) => requests
                .into_iter()
                .for_each(|request| self.answer(number, request)),
            Err(Closed) => drop(self.connections.open.remove(&number)),
        }
    }

    fn answer(&mut self, number: u64, request: Request) {
        let key = match request {
            Request::Start { key, spec } if !self.leaving => {
                let started = self.table.start(&key, spec);
                self.listen_to(&started);
                key
            }
            Request::Start { key, spec: _ } => key,
            Request::Stop {
                key,
                signal,
                kill_after_ms,
            } => {
                self.table
                    .stop(&key, signal, kill_after_ms.map(Duration::from_millis));
                key
            }
            Request::Watch { offset } => {
                let connection = self.connections.open.get_mut(&number);
                return connection
                    .into_iter()
                    .for_each(|connection| connection.watch(offset));
            }
            Request::Shutdown { kill_after_ms } => {
                self.table.stop_all(Duration::from_millis(kill_after_ms));
                self.leaving = true;
                return;
            }
        };
        let state = self.table.state(&key);
        if let Some(connection) = self.connections.open.get_mut(&number) {
            connection.send(&Reply::State { key, state });
        }
    }

    /// Sends everybody the news and the journal.
    pub(super) fn tell(&mut self) {
        for news in self.table.take_news() {
            self.connections.broadcast(&news);
        }
        let mut closed = Vec::new();
        for (number, connection) in &mut self.connections.open {
            let journal = &self.table.journal;
            if connection
                .send_journal(journal)
                .and_then(|()| connection.flush())
                .is_err()
            {
                closed.push(*number);
            }
        }
        for number in closed {
            self.connections.open.remove(&number);
        }
        let numbers: Vec<u64> = self.connections.open.keys().copied().collect();
        numbers
            .into_iter()
            .for_each(|number| self.adjust_interest(number));
    }
}
