//! Servers with one habit each, on threads of their own.

#![expect(clippy::unwrap_used, reason = "a server that can't be put up fails the test")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A server that treats each connection in the same way, until the test ends.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) connections: Arc<AtomicUsize>,
    pub(crate) sent: Arc<AtomicUsize>,
    heard: Arc<Mutex<String>>,
}

impl Server {
    fn new(treat: impl Fn(TcpStream, &AtomicUsize, &Mutex<String>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            connections: Arc::default(),
            sent: Arc::default(),
            heard: Arc::default(),
        };
        let (connections, sent) = (Arc::clone(&server.connections), Arc::clone(&server.sent));
        let (heard, treat) = (Arc::clone(&server.heard), Arc::new(treat));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                connections.fetch_add(1, Ordering::SeqCst);
                let (sent, heard, treat) = (Arc::clone(&sent), Arc::clone(&heard), Arc::clone(&treat));
                thread::spawn(move || treat(stream, &sent, &heard));
            }
        });
        server
    }

    /// The last request that came whole.
    pub(crate) fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }

    /// Reads the request, and answers with this text.
    pub(crate) fn answering(text: &str) -> Self {
        let text = text.to_owned();
        Self::new(move |mut stream, _, heard| {
            *heard.lock().unwrap() = request(&mut stream);
            stream.write_all(text.as_bytes()).ok();
        })
    }

    /// The same over TLS, with a certificate of its own making.
    #[cfg(feature = "probe-tls")]
    pub(crate) fn answering_over_tls(text: &'static str) -> Self {
        let config = Arc::new(tls());
        Self::new(move |stream, _, heard| {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream);
            *heard.lock().unwrap() = request(&mut stream);
            stream.write_all(text.as_bytes()).ok();
            stream.conn.send_close_notify();
            stream.flush().ok();
        })
    }

    /// Accepts, and does nothing.
    pub(crate) fn hanging() -> Self {
        Self::new(|stream, _, _| {
            thread::sleep(Duration::from_secs(60));
            drop(stream);
        })
    }

    /// Answers after a while.
    pub(crate) fn slow(after: Duration, text: &'static str) -> Self {
        Self::new(move |mut stream, _, _| {
            request(&mut stream);
            thread::sleep(after);
            stream.write_all(text.as_bytes()).ok();
        })
    }

    /// Sends a byte now and then.
    pub(crate) fn dripping() -> Self {
        Self::new(|mut stream, _, _| {
            for byte in b"HTTP/1.1 200 OK and never an end of this line" {
                if stream.write_all(&[*byte]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(100));
            }
        })
    }

    /// Breaks the connection off: it is closed with a request in it that nobody read.
    pub(crate) fn resetting() -> Self {
        Self::new(|stream, _, _| {
            while stream.peek(&mut [0]).unwrap_or(0) == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        })
    }

    /// Reads the request and closes.
    pub(crate) fn closing() -> Self {
        Self::new(|mut stream, _, _| drop(request(&mut stream)))
    }

    /// Sends this, and then a gigabyte.
    pub(crate) fn endless(begin: &'static str) -> Self {
        Self::new(move |mut stream, sent, _| {
            request(&mut stream);
            stream.write_all(begin.as_bytes()).ok();
            let block = [b'a'; 1 << 16];
            for _ in 0..(1 << 14) {
                if stream.write_all(&block).is_err() {
                    return;
                }
                sent.fetch_add(block.len(), Ordering::SeqCst);
            }
        })
    }
}

#[cfg(feature = "probe-tls")]
fn tls() -> rustls::ServerConfig {
    let made = rcgen::generate_simple_self_signed(["somebody-else.example".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap()
}

/// A port at which nobody listens any more.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn request(stream: &mut impl Read) -> String {
    let mut text = Vec::new();
    let mut block = [0; 1024];
    while !text.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut block) {
            Ok(count) if count > 0 => text.extend_from_slice(&block[..count]),
            Ok(_) | Err(_) => break,
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}
