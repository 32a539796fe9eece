//! Whether a controller is at work: by its Lease, and by what it leaves behind at flows.

use super::finding::{Finding, State};
use super::{lease, since};
use crate::arguments::cluster::DoctorArguments;
use crate::cluster::Cluster;
use crate::cluster::flow::Flow;
use crate::failure::Failure;

pub(super) const ABOUT: &str = "controller";
/// A controller that is at work looks at a flow well before that.
const PATIENCE: i64 = 60_000;
const NAMED: usize = 5;

/// Looks for a controller.
pub(super) async fn look(
    arguments: &DoctorArguments,
    flows: &[Flow],
    cluster: &Cluster,
) -> Result<Vec<Finding>, Failure> {
    let mut findings = vec![lease::look(arguments, cluster).await?];
    findings.extend(unseen(flows));
    findings.extend(of_volcano(flows));
    Ok(findings)
}

/// Flows that no controller has looked at since they were changed.
fn unseen(flows: &[Flow]) -> Option<Finding> {
    let is_old = |flow: &Flow| {
        let created = flow.object.metadata.creation_timestamp.as_ref();
        created.is_some_and(|time| since(&time.0) > PATIENCE)
    };
    let is_unseen = |flow: &&Flow| {
        let status = flow.object.data.get("status");
        let observed = status
            .and_then(|status| status.get("observedGeneration"))
            .and_then(|at| at.as_i64());
        let is_behind = observed.is_some_and(|observed| Some(observed) < flow.object.metadata.generation);
        let is_untouched = status.and_then(|status| status.get("state")).is_none();
        is_old(flow) && (is_behind || is_untouched)
    };
    let names: Vec<&str> = flows.iter().filter(is_unseen).map(Flow::name).collect();
    (!names.is_empty()).then(|| {
        Finding::bad(
            ABOUT,
            format!(
                "no controller has looked at {} in its present form",
                listed(&names)
            ),
        )
        .with_help("is it running, and does it watch this namespace?")
    })
}

/// Flows that Volcano's own controller runs.
fn of_volcano(flows: &[Flow]) -> Option<Finding> {
    let is_old = |flow: &&Flow| {
        let status = flow.object.data.get("status");
        let has = |field: &str| status.is_some_and(|status| status.get(field).is_some());
        has("state") && !has("observedGeneration") && !has("flowConditions") && !flow.has_ended()
    };
    let names: Vec<&str> = flows.iter().filter(is_old).map(Flow::name).collect();
    (!names.is_empty()).then(|| {
        let said = format!("Volcano's own controller runs {}", listed(&names));
        Finding::new(State::Note, ABOUT, said)
            .with_help("what changes when ours takes over is told with --before-takeover")
    })
}

/// The first few names.
fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
