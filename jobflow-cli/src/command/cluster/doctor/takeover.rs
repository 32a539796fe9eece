//! Which flows of Volcano's own controller mean something else once jobflow's runs them. Pure.

use std::collections::BTreeSet;

use jobflow_k8s::types::{DependsOn, Entry, JobFlow};

use super::Patients;
use super::finding::{Finding, State};
use crate::cluster::flow::Flow;
use crate::standing::stored::entries;

const ABOUT: &str = "take-over";

/// Findings for flows that ours hasn't run yet. What is invalid in them is told with the others.
pub(super) fn look(patients: &Patients) -> Vec<Finding> {
    let theirs: Vec<&Flow> = patients
        .flows
        .iter()
        .filter(|flow| !is_ours(flow) && !flow.has_ended())
        .collect();
    let mut findings: Vec<Finding> = theirs
        .iter()
        .filter_map(|flow| Some((flow, flow.read.as_ref().ok()?)))
        .flat_map(|(flow, read)| changes(flow, read, patients))
        .collect();
    if findings.is_empty() {
        let said = format!(
            "{} not ended that ours has not run yet, and none of them changes its meaning",
            theirs.len()
        );
        findings.push(Finding::good(ABOUT, said));
    }
    findings
}

/// Whether our controller has looked at it.
fn is_ours(flow: &Flow) -> bool {
    let status = flow.object.data.get("status");
    ["observedGeneration", "flowConditions"]
        .iter()
        .any(|field| status.is_some_and(|status| status.get(field).is_some()))
}

fn changes(flow: &Flow, read: &JobFlow, patients: &Patients) -> Vec<Finding> {
    let all = || entries(&read.spec);
    let names = |of: &dyn Fn(&Entry) -> bool| {
        let names: BTreeSet<&str> = all()
            .filter(|entry| of(entry))
            .map(|entry| entry.name.as_str())
            .collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let has_ttl = |entry: &Entry| {
        let name = entry.template.as_ref().unwrap_or(&entry.name);
        let template = patients.template(flow.namespace(), name);
        template.is_some_and(|spec| spec.get("ttlSecondsAfterFinished").is_some())
    };
    let kinds: [(String, &str); 4] = [
        (
            names(&|entry| entry.patch.is_some()),
            "have patches, which Volcano's controller ignores: they are applied now",
        ),
        (
            names(&|entry| entry.depends_on.as_ref().is_some_and(has_probe)),
            "have probes, which Volcano's controller ignores: they wait for these now, and not for the end of their targets",
        ),
        (
            names(&has_ttl),
            "have a template with ttlSecondsAfterFinished: their jobs are deleted that long after the end that was recorded",
        ),
        (
            names(&|entry| repeats(entry.depends_on.as_ref())),
            "name a target twice, which counts once",
        ),
    ];
    kinds
        .into_iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, what)| Finding::new(State::Note, ABOUT, format!("{}: {names} {what}", flow.name())))
        .collect()
}

fn has_probe(depends: &DependsOn) -> bool {
    let Some(probe) = &depends.probe else { return false };
    let lists = [
        probe.http_get_list.as_ref().is_some_and(|list| !list.is_empty()),
        probe
            .tcp_socket_list
            .as_ref()
            .is_some_and(|list| !list.is_empty()),
        probe
            .task_status_list
            .as_ref()
            .is_some_and(|list| !list.is_empty()),
    ];
    lists.contains(&true)
}

fn repeats(depends: Option<&DependsOn>) -> bool {
    let targets = depends.and_then(|depends| depends.targets.as_ref());
    targets.is_some_and(|targets| targets.iter().collect::<BTreeSet<_>>().len() < targets.len())
}
