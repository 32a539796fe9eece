//! What 1,000 open probes cost: the CPU of the thread that asks, and the memory that they take.
//!
//! `cargo bench -p jobflow-k8s --features probe --bench probes [SECONDS]` ends with a line a figure, with its bound.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints what it found, and says so when something is missing"
)]

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jobflow_core::Span;
use jobflow_core::probe::{Ask, HttpGet, Probe, ProbeAnswer, Replicas};
use jobflow_k8s::probe::{Field, Permits, Prober};
use rustix::time::{ClockId, clock_gettime};

const PROBES: u32 = 1_000;

/// One pod on this machine, for every probe.
struct Pods {
    answers: Arc<AtomicU64>,
    failures: Arc<AtomicU64>,
}

impl Field for Pods {
    type Key = u32;

    fn addresses(&self, _key: &u32, _probe: &Probe) -> Vec<Result<IpAddr, ProbeAnswer>> {
        vec![Ok(IpAddr::V4(Ipv4Addr::LOCALHOST))]
    }

    fn answered(&self, _key: u32, answer: ProbeAnswer) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        if answer != ProbeAnswer::Success {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A server that says yes, or one that never says anything.
fn server(answers: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut silent = Vec::new();
        for mut stream in listener.incoming().flatten() {
            if answers {
                let _ = stream.read(&mut [0; 1024]);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            } else {
                silent.push((Instant::now(), stream));
                silent.retain(|(since, _)| since.elapsed() < Duration::from_secs(2));
            }
        }
    });
    port
}

fn probe(port: u16) -> Arc<Probe> {
    Arc::new(Probe {
        task: "".into(),
        port,
        ask: Ask::HttpGet(HttpGet {
            tls: false,
            path: "/healthz".into(),
            headers: Arc::default(),
        }),
        period: Span::from_secs(10),
        timeout: Span::from_secs(1),
        success_threshold: 1,
        replicas: Replicas::All,
    })
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Memory of this process that is in use, in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().split(' ').next().unwrap().parse::<u64>().unwrap() << 10
}

/// Asks for so long; prints CPU and memory against their bounds.
fn measure(name: &str, port: u16, seconds: u64) {
    let pods = Pods {
        answers: Arc::default(),
        failures: Arc::default(),
    };
    let (answers, failures) = (Arc::clone(&pods.answers), Arc::clone(&pods.failures));
    let before = resident();
    let asking = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let prober = Prober::new(pods, Permits::Loopback, 256, 1);
            let probe = probe(port);
            let wanted = (0..PROBES).map(|key| (key, Arc::clone(&probe)));
            prober.want(&"bench".into(), &"bench".into(), wanted);
            tokio::spawn(prober.run());
            // The first looks are all at once; what counts is the course.
            tokio::time::sleep(Duration::from_secs(5)).await;
            let (began, spent) = (Instant::now(), cpu());
            let mut most = resident();
            while began.elapsed() < Duration::from_secs(seconds) {
                tokio::time::sleep(Duration::from_millis(500)).await;
                most = most.max(resident());
            }
            (
                (cpu() - spent).as_secs_f64() / began.elapsed().as_secs_f64(),
                most,
            )
        })
    });
    let (load, most) = asking.join().unwrap();
    let megabytes = most.saturating_sub(before) as f64 / f64::from(1 << 20);
    let word = |holds: bool| if holds { "holds" } else { "MISSED" };
    let (answers, failures) = (answers.load(Ordering::Relaxed), failures.load(Ordering::Relaxed));
    println!("{name}: {PROBES} probes every 10 s, {answers} answers, {failures} of them failures");
    println!("{}: {:.2} % of a core of 5 %", word(load < 0.05), load * 100.0);
    println!("{}: {megabytes:.1} MB of 32 MB", word(megabytes < 32.0));
}

fn main() {
    let seconds = std::env::args()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(20);
    measure("pods that answer", server(true), seconds);
    measure("pods that hang", server(false), seconds);
}
