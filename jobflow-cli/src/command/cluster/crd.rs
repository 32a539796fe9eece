//! `kubectl jobflow crd --install`: our definitions by server-side apply, all or none; what that changes is said first.

pub(super) mod changes;

use std::time::Duration;

use jobflow_k8s::crd;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kube::core::{ObjectMeta, Status};

use crate::arguments::cluster::{CrdArguments, NameFormat};
use crate::cluster::Cluster;
use crate::cluster::refusal::refusal;
use crate::cluster::sending::MANAGER;
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use changes::{changes, told};

/// How long definitions may take to be served.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(200);

/// Installs the definitions.
pub(crate) async fn run(
    arguments: &CrdArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client.clone());
    let ours = crd::definitions().map(|(_, definition)| definition);
    let mut plans = Vec::new();
    for definition in &ours {
        plans.push(plan(definition, &api, arguments.force_conflicts, cluster).await?);
    }
    for (definition, plan) in ours.iter().zip(&plans) {
        console.talk(&format!(
            "{}: {}\n",
            name(definition),
            escape::terminal(&plan.said)
        ));
    }
    let conflicts: Vec<&str> = plans.iter().filter_map(|plan| plan.conflict.as_deref()).collect();
    if let Some(failure) = refused(&conflicts) {
        return Err(failure);
    }
    for definition in ours.iter().filter(|_| !arguments.dry_run) {
        let applied = send(definition, &api, false, arguments.force_conflicts, cluster).await?;
        applied.map_err(|status| refusal(&intent(definition), &kube::Error::Api(status)))?;
    }
    for definition in ours.iter().filter(|_| !arguments.dry_run) {
        served(name(definition), &api, cluster).await?;
    }
    let done = if arguments.dry_run {
        "would be installed"
    } else {
        "installed"
    };
    for definition in &ours {
        let title = format!(
            "customresourcedefinition.apiextensions.k8s.io/{}",
            name(definition)
        );
        console.data(&match arguments.output {
            NameFormat::Text => format!("{title} {done}\n"),
            NameFormat::Name => format!("{title}\n"),
        })?;
    }
    Ok(Exit::Succeeded)
}

/// What applying a definition would do.
struct Plan {
    said: String,
    conflict: Option<String>,
}

fn name(definition: &CustomResourceDefinition) -> &str {
    definition.metadata.name.as_deref().unwrap_or_default()
}

fn intent(definition: &CustomResourceDefinition) -> String {
    format!("install the definition {}", name(definition))
}

async fn plan(
    definition: &CustomResourceDefinition,
    api: &Api<CustomResourceDefinition>,
    force: bool,
    cluster: &Cluster,
) -> Result<Plan, Failure> {
    let there = cluster
        .ask(&intent(definition), api.get_opt(name(definition)))
        .await?;
    match send(definition, api, true, force, cluster).await? {
        Ok(after) => Ok(Plan {
            said: told(there.as_ref().map(|before| changes(before, &after)).as_ref()),
            conflict: None,
        }),
        Err(status) if status.code == 409 => Ok(Plan {
            said: format!(
                "{}; not ours yet",
                told(there.as_ref().map(|before| changes(before, definition)).as_ref())
            ),
            conflict: Some(conflict(name(definition), &status, there.as_ref())),
        }),
        Err(status) => Err(refusal(&intent(definition), &kube::Error::Api(status))),
    }
}

async fn send(
    definition: &CustomResourceDefinition,
    api: &Api<CustomResourceDefinition>,
    dry_run: bool,
    force: bool,
    cluster: &Cluster,
) -> Result<Result<CustomResourceDefinition, Box<Status>>, Failure> {
    let parameters = PatchParams {
        dry_run,
        force,
        field_manager: Some(MANAGER.to_owned()),
        ..PatchParams::default()
    }
    .validation_strict();
    let patch = Patch::Apply(definition);
    let call = api.patch(name(definition), &parameters, &patch);
    match cluster.attempt(&intent(definition), call).await? {
        Ok(applied) => Ok(Ok(applied)),
        Err(kube::Error::Api(status)) if !matches!(status.code, 401 | 403) => Ok(Err(status)),
        Err(error) => Err(refusal(&intent(definition), &error)),
    }
}

/// Whose a definition is, in words.
fn conflict(name: &str, status: &Status, there: Option<&CustomResourceDefinition>) -> String {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let mut owners: Vec<&str> = causes
        .filter_map(|cause| cause.message.split('"').nth(1))
        .collect();
    owners.sort_unstable();
    owners.dedup();
    let chart = there.and_then(|there| of_chart(&there.metadata));
    let chart = chart
        .map(|chart| format!(", by the chart `{chart}`"))
        .unwrap_or_default();
    format!("{name} was installed by `{}`{chart}", owners.join("`, `"))
}

fn of_chart(metadata: &ObjectMeta) -> Option<&str> {
    let annotations = metadata.annotations.as_ref()?;
    annotations.get("meta.helm.sh/release-name").map(String::as_str)
}

fn refused(conflicts: &[&str]) -> Option<Failure> {
    if conflicts.is_empty() {
        return None;
    }
    let failure = Failure::could_not_run("cannot install the definitions: somebody else's are there");
    let failure = conflicts
        .iter()
        .fold(failure, |failure, conflict| failure.caused_by(*conflict));
    Some(failure.with_help(
        "take them over with --force-conflicts; flows and templates stay, and Volcano's own fields mean the same. An \
         upgrade of Volcano's chart may put its own definitions back: `kubectl jobflow doctor` tells",
    ))
}

/// Waits until a definition is served.
async fn served(name: &str, api: &Api<CustomResourceDefinition>, cluster: &Cluster) -> Result<(), Failure> {
    let intent = format!("see whether {name} is served");
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let definition = cluster.ask(&intent, api.get(name)).await?;
        let conditions = definition
            .status
            .iter()
            .flat_map(|status| status.conditions.iter().flatten());
        let mut wrong = None;
        for condition in conditions {
            match (condition.type_.as_str(), condition.status.as_str()) {
                ("Established", "True") => return Ok(()),
                ("NamesAccepted", "False") => wrong.clone_from(&condition.message),
                _ => {}
            }
        }
        if tokio::time::Instant::now() > deadline {
            let why = wrong.unwrap_or_else(|| "the server has not said so yet".to_owned());
            return Err(
                Failure::could_not_run(format!("{name} is installed, and not served")).caused_by(why),
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
}
