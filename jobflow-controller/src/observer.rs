//! Hears what the driver does, and makes metrics, lines of the log and Events of it.
//!
//! Each method returns at once: it counts, writes a line, or puts something into a book. Deliberately absent: requests,
//! and any way back into the driver.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jobflow_core::{FlowPhase, NodePhase, Plan, Time};
use jobflow_k8s::client::{Call, Finding, FlowRef, NodeChange, Observer};
use tracing::{debug, info, warn};

use crate::checks::Reports;
use crate::events::{About, Sender, Subject};
use crate::findings;
use crate::metrics::{Metrics, Scope};

/// What is made of everything that the driver tells.
pub(crate) struct Telemetry {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) events: Option<Arc<Sender>>,
    reports: Reports,
    /// Findings by name, each with the UIDs of the flows it concerns.
    found: Mutex<BTreeMap<&'static str, BTreeSet<String>>>,
}

impl Telemetry {
    pub(crate) fn new(metrics: Arc<Metrics>, events: Option<Arc<Sender>>, reports: Reports) -> Self {
        Self {
            metrics,
            events,
            reports,
            found: Mutex::default(),
        }
    }

    /// A term ended: nothing is known of any flow any more.
    pub(crate) fn forget(&self) {
        let found = std::mem::take(&mut *self.found());
        for name in found.into_keys() {
            self.metrics.finding(name, Scope::Flow, 0);
        }
    }

    fn tell(&self, flow: FlowRef<'_>, subject: Subject) {
        if let Some(events) = &self.events {
            events.tell(&about(flow), subject);
        }
    }

    fn found(&self) -> MutexGuard<'_, BTreeMap<&'static str, BTreeSet<String>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Telemetry {
    fn node_changed(&self, flow: FlowRef<'_>, change: NodeChange<'_>) {
        self.metrics.node_changed(change.from, change.to, change.reason);
        let reason = change.reason.map(jobflow_core::Reason::as_str);
        let (namespace, name) = (flow.namespace, flow.name);
        let (from, to, attempt) = (change.from.as_str(), change.to.as_str(), change.attempt);
        match is_trouble(change.to) {
            true => warn!(
                namespace,
                flow = name,
                node = change.node,
                attempt,
                from,
                to,
                reason,
                message = change.message.unwrap_or("node changed")
            ),
            false => info!(
                namespace,
                flow = name,
                node = change.node,
                attempt,
                from,
                to,
                reason,
                message = change.message.unwrap_or("node changed")
            ),
        }
        // That it waits again is told by what made it wait.
        if change.to == NodePhase::Waiting {
            return;
        }
        let subject = Subject {
            reason: to,
            because: reason,
            warning: is_trouble(change.to),
            node: Some((change.node.to_owned(), attempt)),
            message: change.message.map(str::to_owned),
        };
        self.tell(flow, subject);
    }

    fn flow_changed(&self, flow: FlowRef<'_>, from: FlowPhase, to: FlowPhase, _at: Time) {
        self.metrics.flow_changed(to);
        info!(
            namespace = flow.namespace,
            flow = flow.name,
            from = from.as_str(),
            to = to.as_str(),
            "flow changed"
        );
        let (reason, warning) = match to {
            FlowPhase::Succeed => ("FlowSucceeded", false),
            FlowPhase::Failed => ("FlowFailed", true),
            FlowPhase::Pending | FlowPhase::Running | FlowPhase::Terminating => return,
        };
        self.tell(flow, flow_subject(reason, warning, None));
    }

    fn flow_stands(&self, flow: FlowRef<'_>, phase: FlowPhase) {
        self.metrics.flow_stands(flow.uid, phase);
    }

    fn planned(&self, flow: FlowRef<'_>, plan: &Plan) {
        let changes: Vec<_> = plan
            .changes
            .iter()
            .map(|change| format!("{:?}: {} to {}", change.key, change.from, change.to))
            .collect();
        let effects: Vec<_> = plan.effects.iter().map(|effect| format!("{effect:?}")).collect();
        info!(
            namespace = flow.namespace,
            flow = flow.name,
            changes = %findings::list("would change", &changes),
            effects = %findings::list("would do", &effects),
            "dry run"
        );
    }

    fn called(&self, call: Call) {
        self.metrics.called(&call);
        debug!(
            verb = call.verb,
            resource = call.resource,
            code = call.code,
            milliseconds = call.latency.as_millis(),
            "request"
        );
    }

    fn reconciled(&self, flow: FlowRef<'_>, took: Duration) {
        self.metrics.reconciled(took);
        debug!(
            namespace = flow.namespace,
            flow = flow.name,
            microseconds = took.as_micros(),
            "planned"
        );
    }

    fn queued(&self, depth: usize) {
        self.metrics.queued(depth);
    }

    fn created(&self, flow: FlowRef<'_>, since_release: Duration) {
        self.metrics.created(since_release);
        debug!(
            namespace = flow.namespace,
            flow = flow.name,
            milliseconds = since_release.as_millis(),
            "created a Job"
        );
    }

    fn found(&self, flow: FlowRef<'_>, finding: &Finding) {
        let (name, line) = findings::of_flow(finding);
        warn!(
            namespace = flow.namespace,
            flow = flow.name,
            finding = name,
            "{line}"
        );
        let concerned = {
            let mut found = Self::found(self);
            let flows = found.entry(name).or_default();
            flows.insert(flow.uid.to_owned());
            flows.len()
        };
        self.metrics.finding(name, Scope::Flow, concerned);
        self.tell(flow, flow_subject(name, true, Some(line)));
    }

    fn cleared(&self, flow: FlowRef<'_>) {
        let mut found = Self::found(self);
        for (name, flows) in found.iter_mut() {
            if flows.remove(flow.uid) {
                self.metrics.finding(name, Scope::Flow, flows.len());
            }
        }
    }

    fn overwritten(&self, flow: FlowRef<'_>, manager: &str) {
        debug!(
            namespace = flow.namespace,
            flow = flow.name,
            manager,
            "another controller wrote the status"
        );
        self.reports.saw_rival(manager);
    }

    fn forgotten(&self, flow: FlowRef<'_>) {
        self.metrics.flow_gone(flow.uid);
        self.cleared(flow);
    }

    fn watch_failed(&self, resource: &'static str, error: &str) {
        self.metrics.watch_failed(resource);
        warn!(resource, error, "a watch broke off and begins again");
    }
}

fn about(flow: FlowRef<'_>) -> About {
    About {
        namespace: flow.namespace.to_owned(),
        name: flow.name.to_owned(),
        uid: flow.uid.to_owned(),
    }
}

const fn flow_subject(reason: &'static str, warning: bool, message: Option<String>) -> Subject {
    Subject {
        reason,
        because: None,
        warning,
        node: None,
        message,
    }
}

const fn is_trouble(phase: NodePhase) -> bool {
    match phase {
        NodePhase::BackingOff | NodePhase::Failed | NodePhase::Cancelled => true,
        NodePhase::Waiting
        | NodePhase::Blocked
        | NodePhase::Submitting
        | NodePhase::Queued
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::Paused
        | NodePhase::Succeeded
        | NodePhase::Skipped => false,
    }
}
