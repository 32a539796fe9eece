//! Manifests from files onto the API server.
//!
//! Comes in: files and folders of YAML. Goes out: applied objects; definitions are in force when this is done. Objects
//! are sent as they stand in the file: no type of ours drops what it doesn't know.

use std::fs;
use std::path::{Path, PathBuf};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::core::{DynamicObject, GroupVersionKind, TypeMeta};
use kube::discovery::{self, Scope};
use kube::{Api, Client};
use serde_json::Value;

use crate::fault::Fault;
use crate::ready;

/// The definitions of JobFlow, JobTemplate and JobFlowTemplate that this project ships.
pub(crate) fn our_definitions() -> PathBuf {
    here().join("../../deploy/crds")
}

/// What Volcano ships for the same kinds, as far as tests need it.
pub(crate) fn volcanos_flow_definitions() -> PathBuf {
    here().join("volcano-flow-crds")
}

/// A folder or file beside this crate's manifest.
pub(crate) fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Ours, and those of Volcano's own kinds.
pub(crate) async fn definitions(client: &Client) -> Result<(), Fault> {
    for path in [our_definitions(), here().join("crds")] {
        apply(client, &path, "default").await?;
    }
    established(client).await
}

/// Applies definitions and waits until they are in force.
pub(crate) async fn folder(client: &Client, path: &Path) -> Result<(), Fault> {
    apply(client, path, "default").await?;
    established(client).await
}

/// Applies every object of a file, or of each file of a folder in the order of their names.
pub(crate) async fn apply(client: &Client, path: &Path, namespace: &str) -> Result<(), Fault> {
    for file in files(path)? {
        for object in objects(&file)? {
            apply_object(client, object, namespace).await?;
        }
    }
    Ok(())
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Fault> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let unread = |error: std::io::Error| manifest_fault(path, &error);
    let entries = fs::read_dir(path).map_err(unread)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(unread));
    let mut files: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    Ok(files)
}

fn objects(file: &Path) -> Result<Vec<DynamicObject>, Fault> {
    let text = fs::read_to_string(file).map_err(|error| manifest_fault(file, &error))?;
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(&text).map_err(|error| manifest_fault(file, &error))?;
    let objects = documents.into_iter().filter(|document| !document.is_null());
    let objects = objects
        .map(|document| serde_json::from_value(document).map_err(|error| manifest_fault(file, &error)));
    objects.collect()
}

async fn apply_object(client: &Client, object: DynamicObject, namespace: &str) -> Result<(), Fault> {
    let types = object.types.clone().unwrap_or_default();
    let name = object.metadata.name.clone().unwrap_or_default();
    let intention = format!("applying {} `{name}`", types.kind);
    let api = api_of(
        client,
        &types,
        object.metadata.namespace.as_deref().unwrap_or(namespace),
    )
    .await
    .map_err(Fault::api(&intention))?;
    let parameters = PatchParams::apply("jobflow-test-cluster").force();
    let patch = Patch::Apply(&object);
    let applied = api.patch(&name, &parameters, &patch).await;
    applied.map(|_| ()).map_err(Fault::api(intention))
}

async fn api_of(client: &Client, types: &TypeMeta, namespace: &str) -> kube::Result<Api<DynamicObject>> {
    let (group, version) = types
        .api_version
        .split_once('/')
        .unwrap_or(("", &types.api_version));
    let kind = GroupVersionKind::gvk(group, version, &types.kind);
    let (resource, capabilities) = discovery::pinned_kind(client, &kind).await?;
    Ok(match capabilities.scope {
        Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespaced => Api::namespaced_with(client.clone(), namespace, &resource),
    })
}

async fn established(client: &Client) -> Result<(), Fault> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let all_are = || async {
        let list = api.list(&Default::default()).await;
        let list = list.map_err(Fault::api("listing the definitions"))?;
        Ok(list.items.iter().all(is_established).then_some(()))
    };
    ready::wait_for("definitions coming into force", all_are).await
}

fn is_established(definition: &CustomResourceDefinition) -> bool {
    let status = definition.status.as_ref();
    let conditions = status
        .and_then(|status| status.conditions.as_ref())
        .into_iter()
        .flatten();
    let mut established = conditions.filter(|condition| condition.type_ == "Established");
    established.any(|condition| condition.status == "True")
}

fn manifest_fault(path: &Path, reason: &dyn std::fmt::Display) -> Fault {
    Fault::Manifest {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
