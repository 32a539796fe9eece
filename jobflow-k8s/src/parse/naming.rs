//! Names of entries and those that follow from them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::Entries;
use crate::fault::{Code, Fault, FieldPath};
use crate::names::{self, Named};
use crate::types::{Entry, JobFlowSpec, Retry};

/// How many characters the server adds to `generateName`.
const GENERATED: usize = 5;

/// The name of a flow, or one as long as the server will make it.
pub(super) fn flow_name(metadata: &ObjectMeta) -> String {
    match (&metadata.name, &metadata.generate_name) {
        (Some(name), _) => name.clone(),
        (None, Some(prefix)) => format!("{prefix}{}", "x".repeat(GENERATED)),
        (None, None) => String::new(),
    }
}

/// Everything that is wrong with names.
pub(super) fn faults(flow: &str, entries: &Entries<'_>, spec: &JobFlowSpec) -> Vec<Fault> {
    let mut faults = Vec::new();
    if flow.is_empty() {
        let path = FieldPath::root().field("metadata").field("name");
        faults.push(Fault::error(Code::MissingField, path, "the flow has no name"));
    } else if !names::is_dns_subdomain(flow) {
        let path = FieldPath::root().field("metadata").field("name");
        faults.push(
            Fault::error(Code::BadName, path, "no valid name of a flow").with_help(names::DNS_SUBDOMAIN_RULE),
        );
    }
    let mut tasks = Vec::new();
    for placed in &entries.placed {
        let path = placed.path.field("name");
        let name = &placed.entry.name;
        if !names::is_dns_subdomain(name) || name.len() > names::MOST_NAME {
            let shown: String = name
                .chars()
                .take(names::MOST_NAME)
                .filter(|c| !c.is_control())
                .collect();
            let fault = Fault::error(
                Code::BadName,
                path.clone(),
                format!("`{shown}` is no valid name of an entry"),
            );
            faults.push(fault.with_help(format!("63 characters at most: {}", names::DNS_SUBDOMAIN_RULE)));
        }
        let known_tasks = placed.job.as_deref().map_or(&[][..], |job| &job.tasks);
        let pods = known_tasks
            .iter()
            .map(|task| (task.name.as_str(), u32::try_from(task.replicas).unwrap_or(0)));
        if let Err(long) = names::longest(flow, name, None, attempts(placed.entry, spec), pods) {
            let fault = Fault::error(Code::NameTooLong, path, long.to_string());
            faults.push(fault.with_help("shorten the name of the flow, the entry or the task"));
        }
        tasks.push(
            known_tasks
                .iter()
                .map(|task| task.name.clone())
                .collect::<Vec<_>>(),
        );
    }
    faults.extend(collisions(entries, &tasks));
    faults
}

/// How many attempts an entry may have.
fn attempts(entry: &Entry, spec: &JobFlowSpec) -> u32 {
    let Some(Retry {
        limit,
        infrastructure_limit,
        ..
    }) = entry.retry.as_ref().or(spec.retry.as_ref())
    else {
        return 1;
    };
    let sum = limit
        .unwrap_or(0)
        .saturating_add(infrastructure_limit.unwrap_or(0))
        .saturating_add(1);
    u32::try_from(sum).unwrap_or(1)
}

fn collisions(entries: &Entries<'_>, tasks: &[Vec<String>]) -> Vec<Fault> {
    let named: Vec<_> = entries
        .placed
        .iter()
        .zip(tasks)
        .map(|(placed, tasks)| Named {
            name: &placed.entry.name,
            group: placed.entry.for_each.is_some(),
            tasks,
        })
        .collect();
    let twice =
        |a: usize, b: usize| named.get(a).map(|entry| entry.name) == named.get(b).map(|entry| entry.name);
    names::collisions(&named)
        .into_iter()
        .filter(|found| !twice(found.entry, found.other))
        .filter_map(|found| {
            let (placed, other) = (entries.placed.get(found.entry)?, entries.placed.get(found.other)?);
            let message = format!(
                "{} of this entry and one of `{}` would both be called `<flow>-{}`",
                found.what, other.entry.name, found.name
            );
            let fault = Fault::error(Code::NameCollision, placed.path.field("name"), message);
            Some(fault.with_help("give one of the entries another name"))
        })
        .collect()
}
