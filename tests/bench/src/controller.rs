//! The controller as a process of its own: what it asked of the API server by its own counts, and its memory.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use crate::{CONTROLLER, Result};

/// How often its counts are read by whoever waits for one.
const LOOK: Duration = Duration::from_millis(20);

/// A running controller; killed when it is dropped.
pub(crate) struct Controller {
    child: Child,
    metrics: String,
}

/// Memory of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Now, in MB of 2^20 bytes.
    pub(crate) resident: f64,
    /// The most since it began.
    pub(crate) most: f64,
}

/// What a controller counted, by the name and labels of its metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts(BTreeMap<String, f64>);

impl Controller {
    /// Starts one that is alone.
    pub(crate) fn start(kubeconfig: &Path) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(CONTROLLER)
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .args(["--leader-elect=off", "--health-address=off"])
            .args(["--metrics-address=127.0.0.1:0", "--log-format=json"])
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = child.stderr.take().ok_or("no log")?;
        let mut lines = BufReader::new(stderr).lines();
        let address = lines.by_ref().map_while(std::io::Result::ok).find_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            let listens = line["message"] == "listening" && line["argument"] == "--metrics-address";
            listens.then(|| line["address"].as_str().unwrap_or_default().to_owned())
        });
        // The rest is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.map_while(std::io::Result::ok).for_each(drop));
        let metrics = address.ok_or("the controller ended before it listened")?;
        Ok(Self { child, metrics })
    }

    /// Its counts, now.
    pub(crate) async fn counts(&self) -> Result<Counts> {
        let mut stream = TcpStream::connect(&self.metrics).await?;
        let request = "GET /metrics HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        Ok(Counts::read(&text))
    }

    /// Its counts once this is so; when that was.
    pub(crate) async fn until(
        &self,
        patience: Duration,
        is_so: impl Fn(&Counts) -> bool,
    ) -> Result<(Instant, Counts)> {
        let deadline = Instant::now() + patience;
        loop {
            let counts = self.counts().await?;
            if is_so(&counts) {
                return Ok((Instant::now(), counts));
            }
            if Instant::now() > deadline {
                return Err(format!("not within {patience:?}; the controller counts {counts:?}").into());
            }
            sleep(LOOK).await;
        }
    }

    /// Does this while the controller stands still: what it takes is the server's own time.
    pub(crate) async fn paused<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.signal(Signal::STOP)?;
        let result = work.await;
        self.signal(Signal::CONT)?;
        result
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = Pid::from_child(&self.child);
        Ok(kill_process(id, signal)?)
    }

    pub(crate) fn memory(&self) -> Result<Memory> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
            kilobytes.map(|kilobytes| kilobytes / 1_024.0)
        };
        let (resident, most) = field("VmRSS:").zip(field("VmHWM:")).ok_or("no memory is told")?;
        Ok(Memory { resident, most })
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // Both fail only for a process that is gone already.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

impl Counts {
    fn read(text: &str) -> Self {
        let samples = text.lines().filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            Some((series.to_owned(), value.parse().ok()?))
        });
        Self(samples.collect())
    }

    fn sum(&self, name: &str, labels: &[&str]) -> u64 {
        let prefix = format!("{name}{{");
        let series = self.0.iter().filter(|(series, _)| {
            series.starts_with(&prefix) && labels.iter().all(|label| series.contains(label))
        });
        series.map(|(_, value)| *value).sum::<f64>() as u64
    }

    /// Requests of that verb for that resource that were answered with that code.
    fn calls(&self, verb: &str, resource: &str, code: &str) -> u64 {
        let labels = [
            format!("verb=\"{verb}\""),
            format!("resource=\"{resource}\""),
            format!("code=\"{code}"),
        ];
        self.sum(
            "jobflow_api_requests_total",
            &labels.each_ref().map(String::as_str),
        )
    }

    /// Jobs that were created.
    pub(crate) fn creates(&self) -> u64 {
        self.calls("create", "jobs", "201")
    }

    /// Statuses of flows that were written, urgent ones and others.
    pub(crate) fn status_writes(&self) -> u64 {
        self.calls("update", "jobflows/status", "200")
    }

    /// Requests that were refused since something had changed.
    pub(crate) fn conflicts(&self) -> u64 {
        self.sum("jobflow_api_requests_total", &["code=\"409\""])
    }

    /// Nodes whose Job was seen to run.
    pub(crate) fn running(&self) -> u64 {
        self.sum("jobflow_node_transitions_total", &["to=\"Running\""])
    }

    /// Flows that have ended.
    pub(crate) fn ended_flows(&self) -> u64 {
        self.sum("jobflow_flow_ends_total", &[])
    }

    /// Flows that are known and stand there.
    pub(crate) fn running_flows(&self) -> u64 {
        self.sum("jobflow_flows", &["phase=\"Running\""])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_summed_over_the_labels_that_nobody_asks_for() {
        let counts = Counts::read(
            "HTTP/1.1 200 OK\n\
             jobflow_api_requests_total{verb=\"create\",resource=\"jobs\",code=\"201\"} 4\n\
             jobflow_api_requests_total{verb=\"create\",resource=\"jobs\",code=\"409\"} 1\n\
             jobflow_api_requests_total{verb=\"update\",resource=\"jobflows/status\",code=\"409\"} 2\n\
             jobflow_node_transitions_total{from=\"Submitting\",to=\"Running\"} 3\n\
             jobflow_node_transitions_total{from=\"Queued\",to=\"Running\"} 5\n\
             # EOF\n",
        );
        assert_eq!(
            (counts.creates(), counts.conflicts(), counts.running()),
            (4, 3, 8)
        );
    }
}
