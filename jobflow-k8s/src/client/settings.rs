//! How a driver works, as a program sets it. What a flow may say is in the flow.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

/// The settings of a driver.
///
/// ```
/// use jobflow_k8s::client::Settings;
///
/// let mut settings = Settings::default();
/// settings.namespaces.insert("batch".to_owned());
/// assert!(settings.covers("batch") && !settings.covers("other"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The namespaces whose flows are run; all, when empty.
    pub namespaces: BTreeSet<String>,
    /// Namespaces whose flows are left alone, whatever `namespaces` says.
    pub excluded: BTreeSet<String>,
    /// How many flows are planned at the same time.
    pub concurrency: usize,
    /// How long changes that nothing waits for may stay unwritten.
    pub status_interval: Duration,
    /// How long one request may take. A write is sent only while the term lasts longer than this, so that it must be
    /// well below what is left of a lease just before it is renewed.
    pub request_timeout: Duration,
    /// Watches, plans and reports, and writes nothing.
    pub dry_run: bool,
    /// Whether flows that Volcano's own controller has started are gone on with.
    pub take_over: bool,
    /// Whether a Job is ended by a Command first, rather than deleted at once.
    pub commands: bool,
    /// Whether pods are watched: exit codes, readiness and losses to the infrastructure are seen there alone. Where they
    /// may not be listed, flows are run without.
    pub pods: bool,
    /// Whether pods are probed where flows ask for it. Their addresses are seen only if `pods` are watched.
    pub probes: bool,
    /// Addresses that probes never go to: those of nodes, and of the API server.
    pub denied: BTreeSet<IpAddr>,
    /// Whether watches begin with streaming lists; a server that has none is asked for plain lists instead.
    pub streaming_lists: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            namespaces: BTreeSet::new(),
            excluded: BTreeSet::new(),
            concurrency: 4,
            status_interval: Duration::from_secs(1),
            request_timeout: Duration::from_secs(8),
            dry_run: false,
            take_over: true,
            commands: true,
            pods: true,
            probes: true,
            denied: BTreeSet::new(),
            streaming_lists: false,
        }
    }
}

impl Settings {
    /// Whether flows of this namespace are run.
    #[must_use]
    pub fn covers(&self, namespace: &str) -> bool {
        let wanted = self.namespaces.is_empty() || self.namespaces.contains(namespace);
        wanted && !self.excluded.contains(namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excluded_namespace_is_left_alone_even_if_named() {
        let mut settings = Settings::default();
        assert!(settings.covers("any"));
        settings.namespaces.insert("own".to_owned());
        settings.excluded.insert("own".to_owned());
        assert!(!settings.covers("own"));
    }
}
