//! One entry in the core's words.

use jobflow_core::graph::{Entry, OnSkipped, Timeout, TimeoutScope, Work};

use super::counts::seconds;
use super::depends::Waited;
use super::{Built, Entries, Known, Placed, depends, digest, retry};
use crate::fault::{Code, Fault, FieldPath};
use crate::names;
use crate::patch;
use crate::types::{self, JobFlowSpec};

/// An entry with the paths of its targets; what is wrong is left out and noted.
pub(super) fn of(
    placed: &Placed<'_>,
    spec: &JobFlowSpec,
    entries: &Entries<'_>,
    known: Known<'_>,
    faults: &mut Vec<Fault>,
) -> Built {
    let (entry, path) = (placed.entry, &placed.path);
    one_source(entry, path, faults);
    reserved(entry, path, faults);
    patched(entry, path, faults);
    let waits = depends::of(placed, entries, known, faults);
    let entry = Entry {
        name: entry.name.as_str().into(),
        work: Work::Job,
        finally: placed.finally,
        targets: waits.targets.iter().map(Waited::target).collect(),
        strategy: waits.strategy,
        on_skipped: entry.on_skipped.map(|skipped| match skipped {
            types::OnSkipped::Propagate => OnSkipped::Propagate,
            types::OnSkipped::Satisfy => OnSkipped::Satisfy,
        }),
        when: None,
        retry: retry::of(
            entry.retry.as_ref(),
            spec.retry.as_ref(),
            &path.field("retry"),
            faults,
        ),
        timeout: timeout(entry, path, faults),
        allow_failure: entry.allow_failure.unwrap_or(false),
        hash: serde_json::to_value(entry).map_or(0, |value| digest(&value)),
    };
    Built {
        entry,
        targets: waits.targets.into_iter().map(|target| target.path).collect(),
    }
}

fn timeout(entry: &types::Entry, path: &FieldPath, faults: &mut Vec<Fault>) -> Option<Timeout> {
    let span = seconds(entry.timeout_seconds, 1, &path.field("timeoutSeconds"), faults);
    if entry.timeout_scope.is_some() && entry.timeout_seconds.is_none() {
        let message = "`timeoutScope` says nothing without `timeoutSeconds`";
        faults.push(Fault::error(
            Code::MissingField,
            path.field("timeoutScope"),
            message,
        ));
    }
    let scope = match entry.timeout_scope.unwrap_or_default() {
        types::TimeoutScope::Attempt => TimeoutScope::Attempt,
        types::TimeoutScope::Node => TimeoutScope::Node,
    };
    span.map(|span| Timeout { span, scope })
}

/// At most one of the fields that say what runs.
fn one_source(entry: &types::Entry, path: &FieldPath, faults: &mut Vec<Fault>) {
    let sources = [
        (entry.template.is_some(), "template"),
        (entry.job_spec.is_some(), "jobSpec"),
        (entry.flow.is_some(), "flow"),
        (entry.switch.is_some(), "switch"),
    ];
    let found: Vec<_> = sources
        .iter()
        .filter(|(is_there, _)| *is_there)
        .map(|(_, field)| *field)
        .collect();
    if let [first, second, ..] = found.as_slice() {
        let message = format!("`{first}` and `{second}` exclude each other");
        faults.push(Fault::error(Code::Conflict, path.field(*second), message));
    }
    if let Some(template) = entry
        .template
        .as_deref()
        .filter(|name| !names::is_dns_subdomain(name))
    {
        let fault = Fault::error(
            Code::BadName,
            path.field("template"),
            format!("`{template}` is no valid name"),
        );
        faults.push(fault.with_help(names::DNS_SUBDOMAIN_RULE));
    }
}

/// What can be said of a patch without its template.
fn patched(entry: &types::Entry, path: &FieldPath, faults: &mut Vec<Fault>) {
    let Some(patch) = &entry.patch else { return };
    let path = path.field("patch");
    for (is_there, field) in [(entry.flow.is_some(), "flow"), (entry.switch.is_some(), "switch")] {
        if is_there {
            let message = format!("a `{field}` makes no job of its own: there is nothing to patch");
            faults.push(Fault::error(Code::Conflict, path.clone(), message));
        }
    }
    faults.extend(patch::faults(patch, &path));
}

/// Labels and annotations that only the controller writes.
fn reserved(entry: &types::Entry, path: &FieldPath, faults: &mut Vec<Fault>) {
    let Some(patch) = &entry.patch else { return };
    let path = path.field("patch");
    for (map, field) in [(&patch.labels, "labels"), (&patch.annotations, "annotations")] {
        for key in map
            .iter()
            .flatten()
            .map(|(key, _)| key)
            .filter(|key| names::is_reserved(key))
        {
            let message = format!("`{key}` is written by the controller only");
            faults.push(Fault::error(
                Code::Conflict,
                path.field(field).field(key.as_str()),
                message,
            ));
        }
    }
}
