//! Whether what unended flows name is there: templates, queues, claims, service accounts; and whether they are valid.

mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use jobflow_k8s::fault::Fault;
use jobflow_k8s::parse::{Known, parse};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, ServiceAccount};
use kube::core::Resource;
use kube::{Api, core::NamespaceResourceScope};
use serde::de::DeserializeOwned;

use super::Patients;
use super::finding::{Finding, State};
use crate::cluster::flow::Flow;
use crate::cluster::refusal::refusal;
use crate::cluster::{Cluster, kinds};
use crate::failure::Failure;
use wanted::{Wanted, wanted};

const ABOUT: &str = "flows";

/// Findings for each flow that hasn't ended, or that all is well with them.
pub(super) async fn look(patients: &Patients, cluster: &Cluster) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    let mut all: BTreeMap<Wanted, BTreeSet<String>> = BTreeMap::new();
    let unended: Vec<&Flow> = patients.flows.iter().filter(|flow| !flow.has_ended()).collect();
    for flow in &unended {
        findings.extend(invalid(flow, patients));
        for thing in wanted(flow, patients) {
            all.entry(thing).or_default().insert(flow.name().to_owned());
        }
    }
    let mut seen = Seen::default();
    for (thing, flows) in &all {
        let flows: Vec<&str> = flows.iter().map(String::as_str).collect();
        findings.extend(seen.look(thing, &flows.join(", "), patients, cluster).await?);
    }
    if findings.is_empty() {
        let said = format!("{} not ended, and all that they name is there", unended.len());
        findings.push(Finding::good(ABOUT, said));
    }
    Ok(findings)
}

/// Faults of a flow as it is stored.
fn invalid(flow: &Flow, patients: &Patients) -> Vec<Finding> {
    let read = match &flow.read {
        Ok(read) => read,
        Err(error) => {
            return vec![Finding::bad(
                ABOUT,
                format!("{} can't be read: {error}", flow.name()),
            )];
        }
    };
    let views = patients.known(flow.namespace());
    let known = Known {
        templates: Some(&views),
        predicates: &[],
    };
    let faults = parse(read, known).err().unwrap_or_default();
    let errors = faults.iter().filter(|fault| Fault::is_error(fault));
    errors
        .map(|fault| {
            let finding = Finding::bad(
                ABOUT,
                format!("{}: {}: {}", flow.name(), fault.path, fault.message),
            );
            match &fault.help {
                Some(help) => finding.with_help(help.clone()),
                None => finding,
            }
        })
        .collect()
}

/// Kinds that may not be looked at are told once.
#[derive(Default)]
struct Seen {
    closed: BTreeSet<&'static str>,
}

/// Whether a thing is there.
enum There {
    Yes,
    No,
    NotToBeSeen,
    /// It is, and can't be used.
    But(String),
}

impl Seen {
    async fn look(
        &mut self,
        thing: &Wanted,
        flows: &str,
        patients: &Patients,
        cluster: &Cluster,
    ) -> Result<Option<Finding>, Failure> {
        let title = thing.title();
        Ok(match find(thing, patients, cluster).await? {
            There::Yes => None,
            There::But(why) => Some(Finding::bad(ABOUT, format!("{title} {why}; named by {flows}"))),
            There::No => Some(
                Finding::bad(ABOUT, format!("there is no {title}; named by {flows}")).with_help(thing.help()),
            ),
            There::NotToBeSeen => self.closed.insert(thing.kind()).then(|| {
                Finding::new(
                    State::Unknown,
                    ABOUT,
                    format!(
                        "you may not read {}s, so it can't be told whether those that flows name are there",
                        thing.kind()
                    ),
                )
            }),
        })
    }
}

async fn find(thing: &Wanted, patients: &Patients, cluster: &Cluster) -> Result<There, Failure> {
    match thing {
        Wanted::Template { namespace, name } => Ok(match patients.template(namespace, name) {
            Some(_) => There::Yes,
            None => There::No,
        }),
        Wanted::Queue { name } => queue(name, cluster).await,
        Wanted::Claim { namespace, name } => object::<PersistentVolumeClaim>(namespace, name, cluster).await,
        Wanted::Account { namespace, name } => object::<ServiceAccount>(namespace, name, cluster).await,
    }
}

async fn queue(name: &str, cluster: &Cluster) -> Result<There, Failure> {
    let api = kinds::api(&cluster.client, None, &kinds::queues());
    let intent = format!("read queue `{name}`");
    match cluster.attempt(&intent, api.get(name)).await? {
        Ok(queue) => {
            let state = queue
                .data
                .pointer("/status/state")
                .and_then(|state| state.as_str())
                .unwrap_or("Open");
            Ok(match state {
                "Open" | "" => There::Yes,
                state => There::But(format!("is {state}, and takes no jobs")),
            })
        }
        Err(error) => missing(&intent, &error),
    }
}

async fn object<K>(namespace: &str, name: &str, cluster: &Cluster) -> Result<There, Failure>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(cluster.client.clone(), namespace);
    let intent = format!("read {} `{name}`", K::kind(&()));
    match cluster.attempt(&intent, api.get_metadata(name)).await? {
        Ok(_) => Ok(There::Yes),
        Err(error) => missing(&intent, &error),
    }
}

fn missing(intent: &str, error: &kube::Error) -> Result<There, Failure> {
    let kube::Error::Api(status) = error else {
        return Err(refusal(intent, error));
    };
    match status.code {
        404 => Ok(There::No),
        403 => Ok(There::NotToBeSeen),
        _ => Err(refusal(intent, error)),
    }
}
