//! Numbers for a monitoring system, in OpenMetrics.
//!
//! Comes in: what the observer is told. Goes out: a text. Labels are of bounded sets only; the names of flows, nodes and
//! namespaces are none. A transition is counted when it has been written down, from the phase that was stored before,
//! so a restart counts nothing again. Deliberately absent: anything that has to be asked of the API server.

mod labels;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jobflow_core::{FlowPhase, NodePhase, Reason};
use jobflow_k8s::client::Call;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use labels::{CallLabels, EndLabels, EventLabels, FindingLabels, FlowLabels, NodeLabels, Timed, WatchLabels};
pub(crate) use labels::{EventResult, Scope};

/// The type of the text, for those who fetch it.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All numbers of one controller.
pub(crate) struct Metrics {
    registry: Registry,
    flows: Family<FlowLabels, Gauge>,
    flow_ends: Family<FlowLabels, Counter>,
    transitions: Family<NodeLabels, Counter>,
    node_ends: Family<EndLabels, Counter>,
    reconciles: Histogram,
    creates: Histogram,
    calls: Family<CallLabels, Counter>,
    call_times: Family<Timed, Histogram, fn() -> Histogram>,
    queue: Gauge,
    findings: Family<FindingLabels, Gauge>,
    watch_failures: Family<WatchLabels, Counter>,
    events: Family<EventLabels, Counter>,
    leading: Gauge,
    terms: Counter,
    /// The phase of each flow by UID, so that it counts in one gauge.
    known: Mutex<HashMap<String, FlowPhase>>,
}

impl Metrics {
    /// All at nothing.
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("jobflow"),
            flows: Family::default(),
            flow_ends: Family::default(),
            transitions: Family::default(),
            node_ends: Family::default(),
            reconciles: Histogram::new([0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0]),
            creates: Histogram::new([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 120.0]),
            calls: Family::default(),
            call_times: Family::new_with_constructor(request_histogram),
            queue: Gauge::default(),
            findings: Family::default(),
            watch_failures: Family::default(),
            events: Family::default(),
            leading: Gauge::default(),
            terms: Counter::default(),
            known: Mutex::default(),
        };
        for phase in PHASES {
            metrics.flows.get_or_create(&FlowLabels::of(phase)).set(0);
        }
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "build",
            "The program",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        registry.register("flows", "Flows by phase, told by the leader", self.flows.clone());
        registry.register("flow_ends", "Flows that ended, by phase", self.flow_ends.clone());
        registry.register(
            "node_transitions",
            "Steps of nodes, each counted when it was written down",
            self.transitions.clone(),
        );
        registry.register(
            "node_ends",
            "Ends of nodes, by phase and reason",
            self.node_ends.clone(),
        );
        registry.register_with_unit(
            "reconcile",
            "Time to look at a flow and plan it",
            Unit::Seconds,
            self.reconciles.clone(),
        );
        registry.register_with_unit(
            "job_create_latency",
            "Time from what released a job to its creation",
            Unit::Seconds,
            self.creates.clone(),
        );
        registry.register(
            "api_requests",
            "Requests to the API server; the code is none where no answer came",
            self.calls.clone(),
        );
        registry.register_with_unit(
            "api_request_duration",
            "Time of requests to the API server",
            Unit::Seconds,
            self.call_times.clone(),
        );
        registry.register("queue_depth", "Flows that wait to be planned", self.queue.clone());
        registry.register(
            "findings",
            "What someone should look at: the flows that it concerns, or the lines about the cluster",
            self.findings.clone(),
        );
        registry.register(
            "watch_failures",
            "Watches that broke off",
            self.watch_failures.clone(),
        );
        registry.register("events", "Events, by what became of them", self.events.clone());
        registry.register("leading", "Whether this controller leads", self.leading.clone());
        registry.register(
            "terms",
            "Times that this controller got the lease",
            self.terms.clone(),
        );
    }

    /// The text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String doesn't fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    pub(crate) fn flow_stands(&self, uid: &str, phase: FlowPhase) {
        let before = self.known().insert(uid.to_owned(), phase);
        if before == Some(phase) {
            return;
        }
        self.flows.get_or_create(&FlowLabels::of(phase)).inc();
        self.leave(before);
    }

    pub(crate) fn flow_changed(&self, to: FlowPhase) {
        if matches!(to, FlowPhase::Succeed | FlowPhase::Failed) {
            self.flow_ends.get_or_create(&FlowLabels::of(to)).inc();
        }
    }

    pub(crate) fn flow_gone(&self, uid: &str) {
        let before = self.known().remove(uid);
        self.leave(before);
    }

    fn leave(&self, phase: Option<FlowPhase>) {
        if let Some(phase) = phase {
            self.flows.get_or_create(&FlowLabels::of(phase)).dec();
        }
    }

    pub(crate) fn node_changed(&self, from: NodePhase, to: NodePhase, reason: Option<Reason>) {
        self.transitions.get_or_create(&NodeLabels::of(from, to)).inc();
        if to.is_end() {
            self.node_ends.get_or_create(&EndLabels::of(to, reason)).inc();
        }
    }

    pub(crate) fn reconciled(&self, took: Duration) {
        self.reconciles.observe(took.as_secs_f64());
    }

    pub(crate) fn created(&self, since_release: Duration) {
        self.creates.observe(since_release.as_secs_f64());
    }

    pub(crate) fn called(&self, call: &Call) {
        self.calls.get_or_create(&CallLabels::of(call)).inc();
        self.call_times
            .get_or_create(&Timed { verb: call.verb })
            .observe(call.latency.as_secs_f64());
    }

    pub(crate) fn queued(&self, depth: usize) {
        self.queue.set(i64::try_from(depth).unwrap_or(i64::MAX));
    }

    pub(crate) fn watch_failed(&self, resource: &'static str) {
        self.watch_failures.get_or_create(&WatchLabels { resource }).inc();
    }

    pub(crate) fn event(&self, result: EventResult, count: u64) {
        self.events.get_or_create(&EventLabels { result }).inc_by(count);
    }

    pub(crate) fn finding(&self, finding: &'static str, scope: Scope, concerned: usize) {
        let concerned = i64::try_from(concerned).unwrap_or(i64::MAX);
        self.findings
            .get_or_create(&FindingLabels { finding, scope })
            .set(concerned);
    }

    /// A term begins or ends; who doesn't lead knows no flows.
    pub(crate) fn leads(&self, leads: bool) {
        self.leading.set(i64::from(leads));
        if leads {
            self.terms.inc();
            return;
        }
        self.queue.set(0);
        self.known().clear();
        for phase in PHASES {
            self.flows.get_or_create(&FlowLabels::of(phase)).set(0);
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, FlowPhase>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const PHASES: [FlowPhase; 5] = [
    FlowPhase::Pending,
    FlowPhase::Running,
    FlowPhase::Terminating,
    FlowPhase::Succeed,
    FlowPhase::Failed,
];

fn request_histogram() -> Histogram {
    Histogram::new([0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0])
}

#[cfg(test)]
mod tests;
