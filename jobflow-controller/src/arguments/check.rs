//! From arguments as typed to settings, or to everything that is wrong.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use super::faults::{Faults, Refused};
use super::settings::{LeaseSettings, LogFormat, LogSettings, Settings};
use super::{Arguments, span};
use crate::lease::{Timings, TimingsFault};

/// The most flows that are planned at once; more would only wait for each other.
const MOST_CONCURRENT: usize = 256;

impl Arguments {
    /// Checks all arguments.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    pub fn settings(&self) -> Result<Settings, Refused> {
        let mut faults = Faults::default();
        let settings = self.read(&mut faults);
        faults.finish(settings)
    }

    /// Reads every argument before it gives up, so that nothing wrong hides behind the first fault.
    fn read(&self, faults: &mut Faults) -> Option<Settings> {
        let namespaces = self.namespaces(faults);
        let own_namespace = switch(faults, "--own-namespace", &self.own_namespace);
        let concurrency = self.concurrency(faults);
        let status_interval = self.status_interval(faults);
        let take_over = switch(faults, "--take-over", &self.take_over);
        let commands = switch(faults, "--commands", &self.commands);
        let pods = switch(faults, "--pods", &self.pods);
        let probes = switch(faults, "--probes", &self.probes);
        let deny_probes = self.deny_probes(faults);
        let streaming_lists = switch(faults, "--streaming-lists", &self.streaming_lists);
        let shutdown_grace = duration(faults, "--shutdown-grace", &self.shutdown_grace);
        let lease = self.lease(faults);
        let health_address = address(faults, "--health-address", &self.health_address);
        let metrics_address = address(faults, "--metrics-address", &self.metrics_address);
        let log = self.log(faults);
        let events = switch(faults, "--events", &self.events);
        let settings = Settings {
            namespaces,
            own_namespace: own_namespace?,
            kubeconfig: self.kubeconfig.as_ref().map(PathBuf::from),
            concurrency: concurrency?,
            status_interval: status_interval?,
            take_over: take_over?,
            commands: commands?,
            pods: pods?,
            probes: probes?,
            deny_probes,
            streaming_lists: streaming_lists?,
            dry_run: self.dry_run,
            shutdown_grace: shutdown_grace?,
            lease: lease?,
            health_address: health_address?,
            metrics_address: metrics_address?,
            log: log?,
            events: events?,
        };
        addresses_differ(&settings, faults);
        Some(settings)
    }

    fn namespaces(&self, faults: &mut Faults) -> BTreeSet<String> {
        for name in self.namespace.iter().filter(|name| !is_label(name)) {
            faults.add("--namespace", format!("{name:?} is not the name of a namespace"));
        }
        self.namespace.iter().cloned().collect()
    }

    fn deny_probes(&self, faults: &mut Faults) -> BTreeSet<IpAddr> {
        let mut read = |typed: &String| {
            let address = typed.trim().parse().ok();
            faults.read("--deny-probes", typed, address, "an address such as 10.0.0.1")
        };
        self.deny_probes.iter().filter_map(&mut read).collect()
    }

    fn concurrency(&self, faults: &mut Faults) -> Option<usize> {
        let typed = &self.concurrency;
        let number = typed
            .parse()
            .ok()
            .filter(|number| (1..=MOST_CONCURRENT).contains(number));
        faults.read("--concurrency", typed, number, "a number from 1 to 256")
    }

    fn status_interval(&self, faults: &mut Faults) -> Option<Duration> {
        let typed = &self.status_interval;
        let bounds = Duration::from_millis(100)..=Duration::from_secs(60);
        let interval = span::read(typed).filter(|interval| bounds.contains(interval));
        faults.read(
            "--status-interval",
            typed,
            interval,
            "a duration from 100ms to 1m",
        )
    }

    fn lease(&self, faults: &mut Faults) -> Option<Option<LeaseSettings>> {
        let elects = switch(faults, "--leader-elect", &self.leader_elect);
        let name = Some(self.lease_name.clone()).filter(|name| is_subdomain(name));
        let name = faults.read("--lease-name", &self.lease_name, name, "the name of a Lease");
        let namespace = self.lease_namespace.as_ref().filter(|name| !name.is_empty());
        if let Some(wrong) = namespace.filter(|name| !is_label(name)) {
            faults.add(
                "--lease-namespace",
                format!("{wrong:?} is not the name of a namespace"),
            );
        }
        let timings = self.timings(faults);
        let lease = LeaseSettings {
            name: name?,
            namespace: namespace.cloned(),
            timings: timings?,
        };
        Some(elects?.then_some(lease))
    }

    fn timings(&self, faults: &mut Faults) -> Option<Timings> {
        let lasts = duration(faults, "--lease-duration", &self.lease_duration);
        let renew_deadline = duration(faults, "--lease-renew-deadline", &self.lease_renew_deadline);
        let retry_period = duration(faults, "--lease-retry-period", &self.lease_retry_period);
        let timings = Timings {
            duration: lasts?,
            renew_deadline: renew_deadline?,
            retry_period: retry_period?,
        };
        for fault in timings.faults() {
            let argument = match fault {
                TimingsFault::Duration => "--lease-duration",
                TimingsFault::Deadline => "--lease-renew-deadline",
                TimingsFault::Retry => "--lease-retry-period",
            };
            faults.add(argument, fault.to_string());
        }
        Some(timings)
    }

    fn log(&self, faults: &mut Faults) -> Option<LogSettings> {
        let format = match self.log_format.as_str() {
            "json" => Some(LogFormat::Json),
            "text" => Some(LogFormat::Text),
            _ => None,
        };
        let format = faults.read("--log-format", &self.log_format, format, "json or text");
        // An empty text would be a filter that lets nothing pass.
        let level = EnvFilter::builder().parse(&self.log_level);
        let level = level.ok().filter(|_| !self.log_level.trim().is_empty());
        let right = "error, warn, info, debug, trace, or a list such as info,kube=debug";
        let level = faults.read("--log-level", &self.log_level, level, right);
        Some(LogSettings {
            format: format?,
            level: level.map(|_| self.log_level.clone())?,
        })
    }
}

fn switch(faults: &mut Faults, argument: &str, typed: &str) -> Option<bool> {
    let value = match typed {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    };
    faults.read(argument, typed, value, "on or off")
}

fn duration(faults: &mut Faults, argument: &str, typed: &str) -> Option<Duration> {
    faults.read(
        argument,
        typed,
        span::read(typed),
        "a duration up to 24h, such as 15s",
    )
}

/// An address, or none for `off`.
fn address(faults: &mut Faults, argument: &str, typed: &str) -> Option<Option<SocketAddr>> {
    let value = match typed {
        "off" => Some(None),
        _ => typed.parse().ok().map(Some),
    };
    faults.read(
        argument,
        typed,
        value,
        "off, or an address such as 127.0.0.1:8080 or [::]:8080",
    )
}

fn addresses_differ(settings: &Settings, faults: &mut Faults) {
    let same = settings.health_address.is_some() && settings.health_address == settings.metrics_address;
    let chosen = settings.health_address.is_some_and(|address| address.port() != 0);
    if same && chosen {
        faults.add(
            "--metrics-address",
            "is the same as --health-address: choose another port",
        );
    }
}

fn is_label(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    (1..=63).contains(&bytes.len())
        && bytes.iter().all(|byte| inner(*byte) || *byte == b'-')
        && bytes.first().copied().is_some_and(inner)
        && bytes.last().copied().is_some_and(inner)
}

fn is_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_label)
}
