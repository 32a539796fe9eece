//! `kubectl jobflow doctor`: what keeps flows from running, with the caller's own rights, changing nothing.

mod controller;
mod definitions;
mod finding;
mod lease;
mod names;
mod rights;
mod takeover;

use std::collections::BTreeMap;

use jobflow_k8s::parse::KnownTemplate;
use k8s_openapi::jiff::Timestamp;
use kube::api::ListParams;
use serde_json::{Map, Value};

use crate::arguments::Format;
use crate::arguments::cluster::DoctorArguments;
use crate::cluster::flow::Flow;
use crate::cluster::{Cluster, kinds, pages};
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::now;
use finding::{Finding, as_json, told};

/// What is looked at.
struct Patients {
    flows: Vec<Flow>,
    templates: Templates,
}

/// The specs of templates by namespace and name.
type Templates = BTreeMap<String, BTreeMap<String, Map<String, Value>>>;

/// Looks, and tells.
pub(crate) async fn run(
    arguments: &DoctorArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let (mut findings, are_served) = definitions::look(cluster).await?;
    if are_served {
        findings.extend(rights::look(cluster).await?);
        let patients = patients(arguments, cluster).await?;
        findings.extend(controller::look(arguments, &patients.flows, cluster).await?);
        findings.extend(names::look(&patients, cluster).await?);
        if arguments.before_takeover {
            findings.extend(takeover::look(&patients));
        }
    }
    console.data(&match arguments.output {
        Format::Text => told(&findings),
        Format::Json => escape::json(&as_json(&findings)),
    })?;
    Ok(match findings.iter().any(Finding::is_bad) {
        true => Exit::Unwell,
        false => Exit::Succeeded,
    })
}

async fn patients(arguments: &DoctorArguments, cluster: &Cluster) -> Result<Patients, Failure> {
    let namespace = (!arguments.all_namespaces).then_some(cluster.namespace.as_str());
    let api = kinds::api(&cluster.client, namespace, &kinds::flows());
    let flows = pages::all(cluster, "list flows", &api, ListParams::default()).await?;
    let api = kinds::api(&cluster.client, namespace, &kinds::templates());
    let mut templates = Templates::new();
    for template in pages::all(cluster, "list job templates", &api, ListParams::default()).await? {
        let spec = template.data.get("spec").and_then(Value::as_object).cloned();
        if let (Some(namespace), Some(name)) = (template.metadata.namespace, template.metadata.name) {
            templates
                .entry(namespace)
                .or_default()
                .insert(name, spec.unwrap_or_default());
        }
    }
    Ok(Patients {
        flows: flows.into_iter().map(Flow::of).collect(),
        templates,
    })
}

impl Patients {
    /// A template's spec.
    fn template(&self, namespace: &str, name: &str) -> Option<&Map<String, Value>> {
        self.templates.get(namespace)?.get(name)
    }

    /// What is known of a namespace's templates, as far as they can be read.
    fn known(&self, namespace: &str) -> BTreeMap<String, KnownTemplate> {
        let all = self.templates.get(namespace).into_iter().flatten();
        all.filter_map(|(name, spec)| Some((name.clone(), KnownTemplate::of(spec)?)))
            .collect()
    }
}

/// Milliseconds since something was.
fn since(time: &Timestamp) -> i64 {
    now().saturating_sub(time.as_millisecond())
}
