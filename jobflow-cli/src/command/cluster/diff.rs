//! `kubectl jobflow diff`: what applying manifests would change of a flow that is on the cluster.

use std::collections::BTreeMap;

use jobflow_k8s::extensions::Extensions;
use jobflow_k8s::status::{core_flow_phase, core_phase};
use jobflow_k8s::types::{JobFlow, JobFlowSpec, JobTemplate, NodeRecord};
use kube::api::ListParams;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::arguments::cluster::DiffArguments;
use crate::cluster::flow::Flow;
use crate::cluster::{Cluster, kinds, pages};
use crate::command::diff;
use crate::command::run::input;
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::revision::{Progress, Revision, Side, Standing};

/// Compares manifests with what is on the cluster.
pub(crate) async fn run(
    arguments: &DiffArguments,
    cluster: &Cluster,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let new = input::objects(
        &arguments.manifests,
        arguments.flow.as_deref(),
        extensions,
        console,
    )?
    .input;
    let mut cluster = cluster.clone();
    if let Some(namespace) = &new.flow.metadata.namespace {
        cluster.namespace.clone_from(namespace);
    }
    let found = Flow::look(&cluster, new.name()).await?;
    if found.is_none() {
        let said = format!(
            "flow `{}` is not in namespace `{}` yet",
            new.name(),
            cluster.namespace
        );
        console.talk(&(escape::terminal(&said) + "\n"));
    }
    let nothing = JobFlow::new(new.name(), JobFlowSpec::default());
    let old = found
        .as_ref()
        .map(Flow::readable)
        .transpose()?
        .unwrap_or(&nothing);
    let progress = found.as_ref().map_or_else(Progress::default, |_| progress(old));
    let templates = match new.templates.is_empty() {
        true => BTreeMap::new(),
        false => templates(&cluster, &new.templates).await?,
    };
    let old = Side {
        flow: old,
        templates: &templates,
    };
    let side = Side {
        flow: &new.flow,
        templates: &new.templates,
    };
    let (old, side) = (Ordered::of(old)?, Ordered::of(side)?);
    let revision = Revision::of(old.side(), side.side(), &progress);
    diff::show(new.name(), &revision, arguments.output, console)
}

/// A side with the fields of its objects in the order of the alphabet, as a server gives them back.
struct Ordered {
    flow: JobFlow,
    templates: BTreeMap<String, JobTemplate>,
}

impl Ordered {
    fn of(side: Side<'_>) -> Result<Self, Failure> {
        let templates = side.templates.iter();
        Ok(Self {
            flow: ordered(side.flow)?,
            templates: templates
                .map(|(name, template)| Ok((name.clone(), ordered(template)?)))
                .collect::<Result<_, Failure>>()?,
        })
    }

    const fn side(&self) -> Side<'_> {
        Side {
            flow: &self.flow,
            templates: &self.templates,
        }
    }
}

fn ordered<T: Serialize + DeserializeOwned>(object: &T) -> Result<T, Failure> {
    let ordered = serde_json::to_value(object).and_then(|mut value| {
        value.sort_all_objects();
        serde_json::from_value(value)
    });
    ordered.map_err(|error| Failure::could_not_run("cannot compare the objects").because(&error))
}

/// Templates of the cluster with the names of these. Others are nothing to an apply.
async fn templates(
    cluster: &Cluster,
    named: &BTreeMap<String, JobTemplate>,
) -> Result<BTreeMap<String, JobTemplate>, Failure> {
    let api = kinds::api(&cluster.client, Some(&cluster.namespace), &kinds::templates());
    let intent = format!("read the templates in namespace `{}`", cluster.namespace);
    let found = pages::all(cluster, &intent, &api, ListParams::default()).await?;
    let known = found.into_iter().filter_map(|object| {
        let name = object.metadata.name.clone()?;
        let template = serde_json::from_value(serde_json::to_value(&object).ok()?).ok()?;
        named.contains_key(&name).then_some((name, template))
    });
    Ok(known.collect())
}

/// Where the flow stands, as its status tells it.
fn progress(flow: &JobFlow) -> Progress {
    let status = flow.status.clone().unwrap_or_default();
    let standing = |node: &NodeRecord| {
        let phase = core_phase(node.phase.unwrap_or_default());
        let usual = i64::from(!phase.is_undecided());
        let attempt = node.attempt.unwrap_or(usual);
        let standing = Standing {
            phase,
            attempt: u32::try_from(attempt).unwrap_or(0),
        };
        (node.name.clone(), standing)
    };
    Progress {
        phase: Some(core_flow_phase(
            status.state.and_then(|state| state.phase).unwrap_or_default(),
        )),
        entries: status.nodes.iter().flatten().map(standing).collect(),
    }
}
