//! Connections that live for a few seconds, and only so many at once.
//!
//! Comes in: a listener. Goes out: connections whose reads and writes fail once their time is up. Whoever connects
//! while all places are taken waits in the listener's queue until one is free. Deliberately absent: what is spoken.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// How long a connection lives: pages are a few kilobytes, and whoever asks for them again connects again.
const LIFE: Duration = Duration::from_secs(10);

/// How many connections there are at once.
const MOST: usize = 64;

/// A listener whose connections are short-lived, and few.
#[derive(Debug)]
pub(crate) struct ShortLived {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

/// One connection, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    end: Pin<Box<Sleep>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl ShortLived {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            places: Arc::new(Semaphore::new(MOST)),
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Listener for ShortLived {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        // The places are never closed.
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (stream, peer) = Listener::accept(&mut self.listener).await;
        let connection = Connection {
            stream,
            end: Box::pin(sleep(LIFE)),
            _place: place,
        };
        (connection, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.address()
    }
}

impl Connection {
    /// Fails once its time is up; until then whoever asks is woken when it is.
    fn lives(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.end.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.lives(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.lives(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.lives(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::{Instant, timeout};

    use super::*;

    /// Longer than anything here takes, by the clock of a test.
    const FOR_EVER: Duration = Duration::from_secs(3_600);

    /// A server of one page.
    async fn server() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listener = ShortLived::new(listener);
        let address = listener.address().unwrap();
        let pages = Router::new().route("/livez", get(async || "ok"));
        tokio::spawn(async move { axum::serve(listener, pages).await });
        address
    }

    /// A connection on which this was said.
    async fn saying(address: SocketAddr, words: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(words.as_bytes()).await.unwrap();
        stream
    }

    /// What is said until the other side ends the connection.
    async fn heard(mut stream: TcpStream) -> String {
        let mut words = Vec::new();
        // A connection that is cut off ends with an error or without one.
        let _ = timeout(FOR_EVER, stream.read_to_end(&mut words))
            .await
            .expect("the server ends the connection");
        String::from_utf8(words).unwrap()
    }

    const WHOLE: &str = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

    #[tokio::test(start_paused = true)]
    async fn a_head_that_does_not_end_is_not_awaited() {
        let address = server().await;
        let slow = saying(address, "GET /livez HTTP/1.1\r\nHost: a\r\nX-").await;
        assert_eq!(heard(slow).await, "");
        assert!(heard(saying(address, WHOLE).await).await.ends_with("ok"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_kept_for_later_ends_too() {
        let address = server().await;
        let kept = saying(address, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert!(heard(kept).await.ends_with("ok"));
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_comes_when_all_places_are_taken_waits_until_one_is_free() {
        let address = server().await;
        let began = Instant::now();
        let mut slow = Vec::new();
        for _ in 0..MOST {
            slow.push(saying(address, "GET /").await);
        }
        assert!(heard(saying(address, WHOLE).await).await.ends_with("ok"));
        assert!(began.elapsed() >= LIFE, "{:?}", began.elapsed());
        drop(slow);
    }
}
