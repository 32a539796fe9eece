//! The program as a process, its log and its pages.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A running controller; killed when it is dropped.
pub(crate) struct Program {
    child: Child,
    log: Arc<Mutex<Vec<Value>>>,
}

impl Program {
    pub(crate) fn start(kubeconfig: PathBuf, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_jobflow-controller"))
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .args(["--health-address=127.0.0.1:0", "--metrics-address=127.0.0.1:0"])
            .args(["--lease-namespace=jobflow-system", "--log-format=json"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (stderr, lines) = (child.stderr.take().unwrap(), Arc::clone(&log));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or(Value::String(line));
                lines.lock().unwrap().push(line);
            }
        });
        Self { child, log }
    }

    /// Everything of the log that holds a text.
    pub(crate) fn logged(&self, text: &str) -> String {
        let log = self.log.lock().unwrap();
        let lines = log
            .iter()
            .map(Value::to_string)
            .filter(|line| line.contains(text));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn address(&self, argument: &str) -> String {
        let began = Instant::now();
        loop {
            let log = self.log.lock().unwrap().clone();
            let line = log
                .iter()
                .find(|line| line["message"] == "listening" && line["argument"] == argument);
            if let Some(address) = line.and_then(|line| line["address"].as_str()) {
                return address.to_owned();
            }
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "it doesn't listen: {}",
                self.logged("")
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The code and the body of a page.
    pub(crate) fn page(&self, path: &str) -> (u16, String) {
        let argument = match path {
            "/metrics" => "--metrics-address",
            _ => "--health-address",
        };
        let mut stream = TcpStream::connect(self.address(argument)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    pub(crate) fn leads(&self) -> bool {
        self.page("/metrics").1.contains("jobflow_leading 1\n")
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
    }

    /// The exit code after SIGTERM.
    pub(crate) fn terminated(mut self) -> Option<i32> {
        self.signal("-TERM");
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "it doesn't end: {}",
                self.logged("")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Program {
    #[expect(clippy::print_stderr, reason = "what it said explains a test that failed")]
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log: Vec<_> = self
                .log
                .lock()
                .map(|log| log.iter().map(Value::to_string).collect())
                .unwrap_or_default();
            eprintln!("the controller said:\n{}", log.join("\n"));
        }
    }
}

/// Waits a minute at most.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "not within a minute: {what}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
