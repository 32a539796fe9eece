//! Ports on the loopback address that nobody listens on. Another process may still be faster: whoever starts a program on
//! one must be ready to try again.

use std::net::{Ipv4Addr, TcpListener};

use crate::fault::Fault;

/// The ports of one control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    /// Where etcd serves the API server.
    pub(crate) etcd: u16,
    /// Where etcd would serve other etcds.
    pub(crate) etcd_peer: u16,
    /// Where the API server serves.
    pub(crate) api_server: u16,
}

impl Ports {
    /// Finds three different ones.
    pub(crate) fn find() -> Result<Self, Fault> {
        let held = [listen()?, listen()?, listen()?];
        let mut numbers = [0; 3];
        for (number, listener) in numbers.iter_mut().zip(&held) {
            *number = listener.local_addr().map_err(Fault::file("127.0.0.1"))?.port();
        }
        let [etcd, etcd_peer, api_server] = numbers;
        Ok(Self {
            etcd,
            etcd_peer,
            api_server,
        })
    }
}

fn listen() -> Result<TcpListener, Fault> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Fault::file("127.0.0.1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ() {
        let Ports {
            etcd,
            etcd_peer,
            api_server,
        } = Ports::find().unwrap();
        assert!(etcd != etcd_peer && etcd != api_server && etcd_peer != api_server);
    }
}
