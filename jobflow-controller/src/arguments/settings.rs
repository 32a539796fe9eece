//! What the arguments come to: checked, typed, and printed by `--dump-config`.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use jobflow_k8s::client;
use serde::{Serialize, Serializer};

use super::span;
use crate::lease::Timings;

/// How a controller works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Settings {
    /// The namespaces whose flows are run; all, when empty.
    pub namespaces: BTreeSet<String>,
    /// Whether flows in the controller's own namespace are run too.
    pub own_namespace: bool,
    /// The file that says how the cluster is reached.
    pub kubeconfig: Option<PathBuf>,
    /// How many flows are planned at the same time.
    pub concurrency: usize,
    /// How long changes of a status that nothing waits for may stay unwritten.
    #[serde(serialize_with = "written")]
    pub status_interval: Duration,
    /// Whether flows that Volcano's own controller has begun are gone on with.
    pub take_over: bool,
    /// Whether a Job is ended by a Command first.
    pub commands: bool,
    /// Whether pods are watched.
    pub pods: bool,
    /// Whether pods are probed where flows ask for it.
    pub probes: bool,
    /// Addresses that probes never go to.
    pub deny_probes: BTreeSet<IpAddr>,
    /// Whether watches begin with streaming lists.
    pub streaming_lists: bool,
    /// Plans, and writes nothing.
    pub dry_run: bool,
    /// How long requests may take after the controller is told to end.
    #[serde(serialize_with = "written")]
    pub shutdown_grace: Duration,
    /// The election; none if this is the only controller.
    pub lease: Option<LeaseSettings>,
    /// Where health is served.
    pub health_address: Option<SocketAddr>,
    /// Where metrics are served.
    pub metrics_address: Option<SocketAddr>,
    /// The log.
    pub log: LogSettings,
    /// Whether transitions are told as Events.
    pub events: bool,
}

/// The election that a controller takes part in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaseSettings {
    /// The name of the Lease.
    pub name: String,
    /// Its namespace; the controller's own, if none.
    pub namespace: Option<String>,
    /// The times.
    #[serde(serialize_with = "timings")]
    pub timings: Timings,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogSettings {
    /// How a line is written.
    pub format: LogFormat,
    /// A level, or directives a target.
    pub level: String,
}

/// How a line of the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// An object a line.
    Json,
    /// For people.
    Text,
}

impl Settings {
    /// The driver's part of them. `own` is the controller's own namespace, if it has one.
    ///
    /// A write is sent only while the lease lasts longer than a request may take, so a request may take what is left
    /// of a lease that was renewed two tries ago.
    #[must_use]
    pub fn driver(&self, own: Option<&str>) -> client::Settings {
        let mut settings = client::Settings::default();
        settings.namespaces.clone_from(&self.namespaces);
        if !self.own_namespace {
            settings.excluded.extend(own.map(str::to_owned));
        }
        settings.concurrency = self.concurrency;
        settings.status_interval = self.status_interval;
        settings.take_over = self.take_over;
        settings.commands = self.commands;
        settings.pods = self.pods;
        settings.probes = self.probes;
        settings.denied.clone_from(&self.deny_probes);
        settings.streaming_lists = self.streaming_lists;
        settings.dry_run = self.dry_run;
        if let Some(lease) = &self.lease {
            let Timings { retry_period, .. } = lease.timings;
            let left = lease
                .timings
                .safe()
                .saturating_sub(retry_period.saturating_mul(2));
            settings.request_timeout = settings.request_timeout.min(left);
        }
        settings
    }
}

fn written<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&span::write(*duration))
}

fn timings<S: Serializer>(timings: &Timings, serializer: S) -> Result<S::Ok, S::Error> {
    let Timings {
        duration,
        renew_deadline,
        retry_period,
    } = *timings;
    serializer.collect_map([
        ("duration", span::write(duration)),
        ("renewDeadline", span::write(renew_deadline)),
        ("retryPeriod", span::write(retry_period)),
    ])
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Arguments;
    use super::*;

    fn settings(arguments: &[&str]) -> Settings {
        let typed = ["jobflow-controller"].iter().chain(arguments);
        Arguments::parse_from(typed).settings().unwrap()
    }

    #[test]
    fn a_request_may_take_less_than_the_lease_lasts() {
        let usual = client::Settings::default().request_timeout;
        assert_eq!(settings(&[]).driver(None).request_timeout, usual);
        assert_eq!(
            settings(&["--leader-elect=off"]).driver(None).request_timeout,
            usual
        );
        let quick = [
            "--lease-duration=3s",
            "--lease-renew-deadline=2s",
            "--lease-retry-period=500ms",
        ];
        assert_eq!(
            settings(&quick).driver(None).request_timeout,
            Duration::from_millis(1970)
        );
    }

    #[test]
    fn flows_in_the_controller_s_own_namespace_are_left_alone_unless_told() {
        let own = Some("jobflow-system");
        assert!(!settings(&[]).driver(own).covers("jobflow-system"));
        assert!(
            settings(&["--own-namespace=on"])
                .driver(own)
                .covers("jobflow-system")
        );
        assert!(
            !settings(&["--namespace=jobflow-system"])
                .driver(own)
                .covers("jobflow-system")
        );
    }
}
