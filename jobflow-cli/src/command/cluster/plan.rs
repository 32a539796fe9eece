//! `kubectl jobflow plan`: what a flow would start in which order, with templates of the cluster where manifests lack them.

use std::collections::BTreeSet;

use jobflow_k8s::extensions::Extensions;
use kube::api::ListParams;

use crate::arguments::cluster::{Connection, PlanAgainstArguments};
use crate::cluster::{Cluster, kinds, pages};
use crate::command::plan;
use crate::command::run::input::Read;
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::standing::stored::entries;

/// Plays a flow through. Without `--against` nothing is asked of anybody.
pub(crate) async fn run(
    arguments: &PlanAgainstArguments,
    connection: &Connection,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let PlanAgainstArguments { plan, against } = arguments;
    let mut read = plan::read(plan, extensions, console)?;
    if *against {
        let cluster = Cluster::reach(connection).await?;
        complete(&mut read, &cluster, console).await?;
    }
    plan::show(read, plan, extensions, console)
}

/// Adds templates of the cluster that entries name and the manifests don't hold.
async fn complete(read: &mut Read, cluster: &Cluster, console: &mut Console) -> Result<(), Failure> {
    let flow = &read.input.flow;
    let named = entries(&flow.spec).filter(|entry| entry.job_spec.is_none());
    let named = named.map(|entry| entry.template.clone().unwrap_or_else(|| entry.name.clone()));
    let missing: BTreeSet<String> = named
        .filter(|name| !read.input.templates.contains_key(name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let namespace = flow
        .metadata
        .namespace
        .as_deref()
        .unwrap_or(&cluster.namespace)
        .to_owned();
    let api = kinds::api(&cluster.client, Some(&namespace), &kinds::templates());
    let intent = format!("read the templates in namespace `{namespace}`");
    for object in pages::all(cluster, &intent, &api, ListParams::default()).await? {
        let name = object.metadata.name.clone().unwrap_or_default();
        if !missing.contains(&name) {
            continue;
        }
        let template = serde_json::to_value(&object).and_then(serde_json::from_value);
        let template = template.map_err(|error| {
            Failure::could_not_run(format!(
                "cannot read template `{name}` of namespace `{namespace}`"
            ))
            .because(&error)
        })?;
        console.talk(&escape::terminal(&format!(
            "note: `{name}` is the one in namespace `{namespace}`"
        )));
        console.talk("\n");
        read.input.templates.insert(name, template);
    }
    Ok(())
}
