//! `kubectl jobflow suspend`, `resume`, `cancel`: an edit of the spec that holds only for what was looked at.

use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::cluster::edit::{Edit, Wish, edit};
use crate::cluster::flow::Flow;
use crate::cluster::refusal::{refusal, said};
use crate::cluster::{Cluster, kinds};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Statuses are written often, and each writing raises the version of the object.
const TRIES: usize = 10;
/// Who owns the fields that are changed.
const MANAGER: &str = "jobflow";

/// Changes the flow; says so if there is nothing to change.
pub(crate) async fn run(
    name: &str,
    wish: &Wish,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let intent = format!("{} flow `{name}`", verb(wish));
    let mut uid: Option<String> = None;
    let mut refused = String::new();
    for _ in 0..TRIES {
        let flow = Flow::find(cluster, name).await?;
        let known = uid.get_or_insert_with(|| flow.uid().to_owned());
        if known.as_str() != flow.uid() {
            return Err(Failure::with_exit(
                Exit::Gone,
                format!("cannot {intent}: another flow has taken its name"),
            ));
        }
        let change = match edit(flow.readable()?, flow.has_ended(), wish) {
            Edit::Change(change) => change,
            Edit::Already(why) => {
                console.talk(&format!("flow {name}: {why} already\n"));
                return Ok(Exit::Succeeded);
            }
            Edit::Pointless(why) => return Err(Failure::wrong_input(format!("cannot {intent}: {why}"))),
        };
        match write(&flow, change, &intent, cluster).await? {
            Ok(()) => {
                console.data(&format!("jobflow.flow.volcano.sh/{name} {}\n", done(wish)))?;
                return Ok(Exit::Succeeded);
            }
            Err(why) => refused = why,
        }
    }
    Err(Failure::could_not_run(format!("cannot {intent}"))
        .caused_by(refused)
        .with_help("somebody changes it all the time; try again"))
}

/// Writes a change of the spec of exactly this version; what somebody else wrote in between comes back as a reason.
async fn write(
    flow: &Flow,
    change: serde_json::Value,
    intent: &str,
    cluster: &Cluster,
) -> Result<Result<(), String>, Failure> {
    let api = kinds::api(&cluster.client, Some(flow.namespace()), &kinds::flows());
    let metadata = &flow.object.metadata;
    let patch = json!({
        "metadata": { "uid": metadata.uid, "resourceVersion": metadata.resource_version },
        "spec": change,
    });
    let parameters = PatchParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PatchParams::default()
    }
    .validation_strict();
    let result = cluster
        .attempt(intent, api.patch(flow.name(), &parameters, &Patch::Merge(&patch)))
        .await?;
    match result {
        Ok(_) => Ok(Ok(())),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Err(said(&status))),
        Err(error) => Err(refusal(intent, &error)),
    }
}

const fn verb(wish: &Wish) -> &'static str {
    match wish {
        Wish::Suspend { .. } => "suspend",
        Wish::Resume => "resume",
        Wish::Cancel { .. } => "cancel",
    }
}

const fn done(wish: &Wish) -> &'static str {
    match wish {
        Wish::Suspend { .. } => "suspended",
        Wish::Resume => "resumed",
        Wish::Cancel { .. } => "is being cancelled",
    }
}
