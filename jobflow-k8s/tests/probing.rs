//! Probes against real sockets: servers that answer well, badly, slowly, without end, or not at all.

#![cfg(feature = "probe")]

#[path = "probing/server.rs"]
mod server;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use jobflow_core::Span;
use jobflow_core::probe::{Ask, HttpGet, Probe, ProbeAnswer, Replicas};
use jobflow_k8s::probe::{Field, MOST_READ, Permits, Prober, look};
use server::Server;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn http(port: u16, timeout: u64) -> Probe {
    Probe {
        task: "".into(),
        port,
        ask: Ask::HttpGet(HttpGet {
            tls: false,
            path: "/healthz?full".into(),
            headers: [("X-Check".into(), "1".into())].into(),
        }),
        period: Span(100),
        timeout: Span(timeout),
        success_threshold: 1,
        replicas: Replicas::All,
    }
}

fn tcp(port: u16) -> Probe {
    Probe {
        ask: Ask::TcpSocket,
        ..http(port, 1000)
    }
}

#[tokio::test]
async fn a_status_is_an_answer_and_the_request_is_as_written() {
    for (line, answer) in [
        ("HTTP/1.1 200 OK\r\n\r\n", ProbeAnswer::Success),
        ("HTTP/1.0 404 Not Found\r\n\r\n", ProbeAnswer::Status(404)),
        ("HTTP/1.1 503 Unavailable\r\n", ProbeAnswer::Status(503)),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            ProbeAnswer::Success,
        ),
    ] {
        let server = Server::answering(line);
        assert_eq!(look(HERE, &http(server.port, 1000)).await, answer, "{line:?}");
        let heard = server.heard();
        assert!(
            heard.starts_with("GET /healthz?full HTTP/1.1\r\nHost: 127.0.0.1:"),
            "{heard}"
        );
        assert!(heard.contains("\r\nX-Check: 1\r\n"), "{heard}");
    }
}

#[tokio::test]
async fn a_redirect_is_a_success_and_is_not_followed() {
    let other = Server::answering("HTTP/1.1 500 No\r\n\r\n");
    let line = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{}/\r\n\r\n",
        other.port
    );
    let server = Server::answering(&line);
    assert_eq!(look(HERE, &http(server.port, 1000)).await, ProbeAnswer::Success);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(other.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn who_hangs_or_is_too_slow_is_out_of_time() {
    let hangs = Server::hanging();
    let began = Instant::now();
    assert_eq!(look(HERE, &http(hangs.port, 200)).await, ProbeAnswer::TimedOut);
    assert!(began.elapsed() < Duration::from_millis(900));
    let slow = Server::slow(Duration::from_millis(400), "HTTP/1.1 200 OK\r\n\r\n");
    assert_eq!(look(HERE, &http(slow.port, 100)).await, ProbeAnswer::TimedOut);
    assert_eq!(look(HERE, &http(slow.port, 5000)).await, ProbeAnswer::Success);
    let dripping = Server::dripping();
    assert_eq!(look(HERE, &http(dripping.port, 300)).await, ProbeAnswer::TimedOut);
}

#[tokio::test]
async fn connections_that_are_broken_closed_or_refused_are_told_apart() {
    assert_eq!(
        look(HERE, &http(Server::resetting().port, 2000)).await,
        ProbeAnswer::Reset
    );
    assert_eq!(
        look(HERE, &http(Server::closing().port, 2000)).await,
        ProbeAnswer::Closed
    );
    let gone = server::free_port();
    assert_eq!(look(HERE, &http(gone, 1000)).await, ProbeAnswer::Refused);
    assert_eq!(look(HERE, &tcp(gone)).await, ProbeAnswer::Refused);
    let there = Server::hanging();
    assert_eq!(look(HERE, &tcp(there.port)).await, ProbeAnswer::Success);
}

#[tokio::test]
async fn what_is_not_http_is_a_bad_answer() {
    for rubbish in [
        "SSH-2.0-OpenSSH_9\r\n",
        "\0\0\0\0",
        "HTTP/1.1 abc\r\n",
        "HTTP/2 200\r\n",
        "HTTP/1.1 2",
    ] {
        let server = Server::answering(rubbish);
        assert_eq!(
            look(HERE, &http(server.port, 1000)).await,
            ProbeAnswer::BadAnswer,
            "{rubbish:?}"
        );
    }
}

#[tokio::test]
async fn a_gigabyte_is_not_read() {
    let head = Server::endless("HTTP/1.1 200 OK\r\n\r\n");
    assert_eq!(look(HERE, &http(head.port, 5000)).await, ProbeAnswer::Success);
    let line = Server::endless("HTTP/1.1 200 ");
    assert_eq!(look(HERE, &http(line.port, 5000)).await, ProbeAnswer::BadAnswer);
    let interim = Server::endless("HTTP/1.1 100 Continue\r\nX: ");
    assert_eq!(
        look(HERE, &http(interim.port, 5000)).await,
        ProbeAnswer::BadAnswer
    );
    tokio::time::sleep(Duration::from_millis(100)).await;
    for server in [head, line, interim] {
        // What the sender got rid of lies in buffers of the kernel; a gigabyte doesn't fit there.
        let sent = server.sent.load(Ordering::SeqCst);
        assert!(
            sent < (64 << 20),
            "{sent} bytes were taken, {MOST_READ} of them read"
        );
    }
}

#[tokio::test]
async fn a_part_that_would_change_the_request_is_not_sent() {
    let server = Server::answering("HTTP/1.1 200 OK\r\n\r\n");
    let mut probe = http(server.port, 1000);
    probe.ask = Ask::HttpGet(HttpGet {
        tls: false,
        path: "/\r\nHost: other".into(),
        headers: Arc::default(),
    });
    assert_eq!(look(HERE, &probe).await, ProbeAnswer::NotPermitted);
}

/// With a certificate that nobody signed, for another name: whether the pod answers is asked, not who it is.
#[cfg(feature = "probe-tls")]
#[tokio::test]
async fn over_tls_an_answer_counts_whatever_the_certificate_says() {
    for (line, answer) in [
        ("HTTP/1.1 200 OK\r\n\r\n", ProbeAnswer::Success),
        ("HTTP/1.1 503 Unavailable\r\n\r\n", ProbeAnswer::Status(503)),
    ] {
        let server = Server::answering_over_tls(line);
        let mut probe = http(server.port, 10_000);
        if let Ask::HttpGet(get) = &mut probe.ask {
            get.tls = true;
        }
        assert_eq!(look(HERE, &probe).await, answer);
        let heard = server.heard();
        assert!(heard.starts_with("GET /healthz?full HTTP/1.1\r\n"), "{heard}");
    }
}

#[cfg(feature = "probe-tls")]
#[tokio::test]
async fn over_tls_a_server_without_it_is_told() {
    let server = Server::dripping();
    let mut probe = http(server.port, 10_000);
    probe.ask = Ask::HttpGet(HttpGet {
        tls: true,
        path: "/".into(),
        headers: Arc::default(),
    });
    assert_eq!(look(HERE, &probe).await, ProbeAnswer::TlsFailed);
}

/// Pods at addresses of this machine.
struct Pods {
    addresses: Vec<Result<IpAddr, ProbeAnswer>>,
    answers: UnboundedSender<(u32, ProbeAnswer)>,
}

impl Field for Pods {
    type Key = u32;

    fn addresses(&self, _key: &u32, _probe: &Probe) -> Vec<Result<IpAddr, ProbeAnswer>> {
        self.addresses.clone()
    }

    fn answered(&self, key: u32, answer: ProbeAnswer) {
        self.answers.send((key, answer)).ok();
    }
}

fn prober(
    addresses: Vec<Result<IpAddr, ProbeAnswer>>,
    permits: Permits,
) -> (Arc<Prober<Pods>>, UnboundedReceiver<(u32, ProbeAnswer)>) {
    let (answers, heard) = unbounded_channel();
    let prober = Prober::new(Pods { addresses, answers }, permits, 8, 1);
    tokio::spawn(Arc::clone(&prober).run());
    (prober, heard)
}

fn want(prober: &Prober<Pods>, probes: Vec<(u32, Probe)>) {
    let probes = probes.into_iter().map(|(key, probe)| (key, Arc::new(probe)));
    prober.want(&"lane".into(), &"owner".into(), probes);
}

#[tokio::test]
async fn a_prober_asks_again_and_again_until_nobody_wants_to_know() {
    let server = Server::answering("HTTP/1.1 200 OK\r\n\r\n");
    let (prober, mut heard) = prober(vec![Ok(HERE)], Permits::Loopback);
    want(&prober, vec![(1, http(server.port, 1000))]);
    for _ in 0..3 {
        assert_eq!(heard.recv().await, Some((1, ProbeAnswer::Success)));
    }
    want(&prober, Vec::new());
    tokio::time::sleep(Duration::from_millis(50)).await;
    while heard.try_recv().is_ok() {}
    let before = server.connections.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.connections.load(Ordering::SeqCst), before);
    assert!(heard.try_recv().is_err());
}

#[tokio::test]
async fn all_replicas_or_any_must_answer() {
    let server = Server::answering("HTTP/1.1 200 OK\r\n\r\n");
    let nobody = IpAddr::V4(Ipv4Addr::new(127, 77, 0, 1));
    let (prober, mut heard) = prober(vec![Ok(nobody), Ok(HERE)], Permits::Loopback);
    want(&prober, vec![(1, http(server.port, 1000))]);
    assert_eq!(heard.recv().await, Some((1, ProbeAnswer::Refused)));
    let any = Probe {
        replicas: Replicas::Any,
        ..http(server.port, 1000)
    };
    want(&prober, vec![(2, any)]);
    assert_eq!(heard.recv().await, Some((2, ProbeAnswer::Success)));
}

#[tokio::test]
async fn addresses_that_no_pod_has_are_never_connected_to() {
    let server = Server::answering("HTTP/1.1 200 OK\r\n\r\n");
    let cluster = Permits::Cluster {
        denied: Default::default(),
    };
    let mapped: IpAddr = "::ffff:127.0.0.1".parse().unwrap();
    for address in [Ok(HERE), Ok(mapped), Err(ProbeAnswer::NotPermitted)] {
        let (prober, mut heard) = prober(vec![address], cluster.clone());
        want(&prober, vec![(1, http(server.port, 1000))]);
        assert_eq!(heard.recv().await, Some((1, ProbeAnswer::NotPermitted)));
    }
    let (prober, mut heard) = prober(Vec::new(), cluster);
    want(&prober, vec![(1, http(server.port, 1000))]);
    assert_eq!(heard.recv().await, Some((1, ProbeAnswer::NoPod)));
    assert_eq!(server.connections.load(Ordering::SeqCst), 0);
}
