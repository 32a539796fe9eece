//! One look at one address: connects, asks, and says in a word what came of it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use jobflow_core::probe::{Ask, HttpGet, Probe, ProbeAnswer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::request;
use super::response::{self, Reading};

/// The most bytes that are read of an answer.
pub const MOST_READ: usize = 10 << 10;

/// How much is read at a time.
const BLOCK: usize = 1024;

/// Whether this build can ask over TLS.
pub const SPEAKS_TLS: bool = cfg!(feature = "probe-tls");

/// Asks one address once. The port is the probe's own; the answer comes within its time-out.
pub async fn look(address: std::net::IpAddr, probe: &Probe) -> ProbeAnswer {
    let address = SocketAddr::new(address, probe.port);
    let within = Duration::from_millis(probe.timeout.0);
    let answer = timeout(within, ask(address, &probe.ask)).await;
    answer.unwrap_or(ProbeAnswer::TimedOut)
}

async fn ask(address: SocketAddr, ask: &Ask) -> ProbeAnswer {
    let stream = match TcpStream::connect(address).await {
        Ok(stream) => stream,
        Err(error) => return failure(&error),
    };
    match ask {
        Ask::TcpSocket => ProbeAnswer::Success,
        Ask::HttpGet(get) if get.tls => over_tls(stream, get, address).await,
        Ask::HttpGet(get) => exchange(stream, get, address).await,
    }
}

#[cfg(feature = "probe-tls")]
async fn over_tls(stream: TcpStream, get: &HttpGet, address: SocketAddr) -> ProbeAnswer {
    match super::tls::connect(stream, address.ip()).await {
        Ok(stream) => exchange(stream, get, address).await,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => ProbeAnswer::TlsFailed,
        Err(error) => failure(&error),
    }
}

#[cfg(not(feature = "probe-tls"))]
async fn over_tls(stream: TcpStream, get: &HttpGet, address: SocketAddr) -> ProbeAnswer {
    drop((stream, get, address));
    ProbeAnswer::TlsFailed
}

/// Sends the request, and reads until the status is known.
async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    get: &HttpGet,
    address: SocketAddr,
) -> ProbeAnswer {
    let Some(request) = request::bytes(get, address) else {
        return ProbeAnswer::NotPermitted;
    };
    if let Err(error) = stream.write_all(&request).await {
        return failure(&error);
    }
    let mut answer = Vec::with_capacity(BLOCK);
    while answer.len() < MOST_READ {
        let mut block = [0; BLOCK];
        let count = match stream.read(&mut block).await {
            Ok(0) if answer.is_empty() => return ProbeAnswer::Closed,
            Ok(0) => return ProbeAnswer::BadAnswer,
            Ok(count) => count,
            Err(error) => return failure(&error),
        };
        answer.extend(block.iter().take(count));
        match response::read(&answer) {
            Reading::Unfinished => {}
            Reading::Status(status) => return ProbeAnswer::of_status(status),
            Reading::Bad => return ProbeAnswer::BadAnswer,
        }
    }
    ProbeAnswer::BadAnswer
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of IO errors are non-exhaustive"
)]
fn failure(error: &io::Error) -> ProbeAnswer {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::ConnectionRefused => ProbeAnswer::Refused,
        Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown | Kind::AddrNotAvailable => {
            ProbeAnswer::NoRoute
        }
        // What a filter on this machine says.
        Kind::PermissionDenied => ProbeAnswer::NoRoute,
        Kind::TimedOut => ProbeAnswer::TimedOut,
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => ProbeAnswer::Reset,
        Kind::UnexpectedEof => ProbeAnswer::Closed,
        _ => ProbeAnswer::Failed,
    }
}
