//! Manifests on their way to a server: first all are checked by it, then all are applied, flows last.
//!
//! Comes in: documents. Goes out: what became of each, or everything that a server has against them. Deliberately
//! absent: what was found without a server.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_k8s::fault::{Code, Fault, FieldPath};
use jobflow_k8s::types::FLOW_GROUP;
use jobflow_k8s::yaml::Document;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::{Scope, pinned_kind};

use super::Cluster;
use super::answers::{faults, placed};
use super::refusal::refusal;
use crate::failure::Failure;

/// Who owns the fields that are applied.
pub(crate) const MANAGER: &str = "jobflow";

/// A document with its address.
#[derive(Clone, Debug)]
pub(crate) struct Parcel<'a> {
    /// What is sent.
    pub(crate) document: &'a Document,
    /// Its kind.
    pub(crate) resource: ApiResource,
    /// Where it goes; none for a kind without namespaces.
    pub(crate) namespace: Option<String>,
    /// Its name.
    pub(crate) name: String,
}

/// How parcels are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The server only checks.
    pub(crate) dry_run: bool,
    /// Fields of others are taken over.
    pub(crate) force: bool,
}

/// What became of a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// It was not there.
    Created,
    /// It was there, and is another now.
    Configured,
    /// It was there as it is wanted.
    Unchanged,
}

/// What is wrong with the addresses of documents; `named` is the namespace that whoever called has named.
pub(crate) fn misaddressed(documents: &[Document], named: Option<&str>) -> Vec<Fault> {
    let of = |document: &Document| -> Vec<Fault> {
        let metadata = FieldPath::root().field("metadata");
        let text = |field: &str| {
            document
                .value
                .get(field)
                .and_then(|value| value.as_str())
                .unwrap_or_default()
        };
        let missing =
            |path: FieldPath, what: &str| Fault::error(Code::MissingField, path, format!("no {what}"));
        let mut found = Vec::new();
        for field in ["apiVersion", "kind"] {
            if text(field).is_empty() {
                found.push(missing(FieldPath::root().field(field), &format!("`{field}`")));
            }
        }
        if document.name().is_none() {
            let fault = missing(metadata.field("name"), "name");
            found.push(fault.with_help("`submit` starts a flow under a new name each time"));
        }
        if let (Some(named), Some(written)) = (named, namespace(document))
            && named != written
        {
            let message = format!("the manifest goes to namespace `{written}`, the command to `{named}`");
            let fault = Fault::error(Code::Conflict, metadata.field("namespace"), message);
            found.push(fault.with_help("leave one of the two out"));
        }
        found.into_iter().map(|fault| placed(document, fault)).collect()
    };
    documents.iter().flat_map(of).collect()
}

fn namespace(document: &Document) -> Option<&str> {
    document
        .value
        .pointer("/metadata/namespace")
        .and_then(|value| value.as_str())
}

/// Addresses documents, in the order in which they are sent; kinds that the server doesn't know are faults.
pub(crate) async fn addressed<'a>(
    documents: impl IntoIterator<Item = &'a Document>,
    cluster: &Cluster,
) -> Result<Result<Vec<Parcel<'a>>, Vec<Fault>>, Failure> {
    let (mut parcels, mut unknown) = (Vec::new(), Vec::new());
    let mut kinds: BTreeMap<(String, String), Option<(ApiResource, Scope)>> = BTreeMap::new();
    for document in documents {
        let key = (
            document.api_version().unwrap_or_default().to_owned(),
            document.kind().unwrap_or_default().to_owned(),
        );
        if !kinds.contains_key(&key) {
            kinds.insert(key.clone(), kind(&key.0, &key.1, cluster).await?);
        }
        match kinds.get(&key).and_then(Option::as_ref) {
            Some((resource, scope)) => parcels.push(parcel(document, resource.clone(), scope, cluster)),
            None => unknown.push(unserved(document, &key)),
        }
    }
    if !unknown.is_empty() {
        return Ok(Err(unknown));
    }
    parcels.sort_by_key(|parcel| rank(&parcel.resource));
    Ok(Ok(parcels))
}

fn parcel<'a>(document: &'a Document, resource: ApiResource, scope: &Scope, cluster: &Cluster) -> Parcel<'a> {
    let written = namespace(document).map(str::to_owned);
    Parcel {
        document,
        namespace: match scope {
            Scope::Namespaced => Some(written.unwrap_or_else(|| cluster.namespace.clone())),
            Scope::Cluster => None,
        },
        name: document.name().unwrap_or_default().to_owned(),
        resource,
    }
}

/// What others need goes first, and flows go last.
fn rank(resource: &ApiResource) -> u8 {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") | ("apiextensions.k8s.io", _) => 0,
        (FLOW_GROUP, "JobFlow") => 3,
        (FLOW_GROUP, _) => 2,
        _ => 1,
    }
}

async fn kind(
    api_version: &str,
    kind: &str,
    cluster: &Cluster,
) -> Result<Option<(ApiResource, Scope)>, Failure> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let wanted = GroupVersionKind::gvk(group, version, kind);
    let intent = format!("ask the server about the kind {kind} of {api_version}");
    match cluster
        .attempt(&intent, pinned_kind(&cluster.client, &wanted))
        .await?
    {
        Ok((resource, capabilities)) => Ok(Some((resource, capabilities.scope))),
        Err(kube::Error::Discovery(_)) => Ok(None),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(refusal(&intent, &error)),
    }
}

fn unserved(document: &Document, (api_version, kind): &(String, String)) -> Fault {
    let message = format!("the server does not know the kind {kind} of {api_version}");
    let fault = Fault::error(Code::UnknownKind, FieldPath::root().field("kind"), message);
    let fault = match api_version.starts_with(FLOW_GROUP) {
        true => fault.with_help("install the definitions with: kubectl jobflow crd --install"),
        false => fault,
    };
    placed(document, fault)
}

impl Parcel<'_> {
    /// As kubectl names it.
    pub(crate) fn title(&self) -> String {
        let kind = self.resource.kind.to_ascii_lowercase();
        match self.resource.group.as_str() {
            "" => format!("{kind}/{}", self.name),
            group => format!("{kind}.{group}/{}", self.name),
        }
    }

    fn api(&self, cluster: &Cluster) -> Api<DynamicObject> {
        super::kinds::api(&cluster.client, self.namespace.as_deref(), &self.resource)
    }

    /// Whether its namespace is made by another parcel, and may not be there as long as nothing is applied.
    fn waits_for(&self, made: &BTreeSet<&str>) -> bool {
        self.namespace
            .as_deref()
            .is_some_and(|namespace| made.contains(namespace))
    }
}

/// Lets the server check all parcels.
///
/// What it has against them comes back as faults; what becomes of each otherwise. One whose namespace is still to be
/// made can't be checked, and counts as one that is created.
pub(crate) async fn check(
    parcels: &[Parcel<'_>],
    force: bool,
    cluster: &Cluster,
) -> Result<Result<Vec<Option<String>>, Vec<Fault>>, Failure> {
    let made: BTreeSet<&str> = parcels
        .iter()
        .filter(|parcel| rank(&parcel.resource) == 0 && parcel.resource.kind == "Namespace")
        .map(|parcel| parcel.name.as_str())
        .collect();
    let (mut versions, mut found) = (Vec::new(), Vec::new());
    for parcel in parcels {
        match send(parcel, Way { dry_run: true, force }, cluster).await? {
            Ok(object) => versions.push(object.metadata.resource_version),
            Err(status) if status.code == 404 && parcel.waits_for(&made) => versions.push(None),
            Err(status) => found.extend(faults(parcel.document, &status)),
        }
    }
    match found.is_empty() {
        true => Ok(Ok(versions)),
        false => Ok(Err(found)),
    }
}

/// Applies one parcel; `version` is that of the object before, none if there was none.
pub(crate) async fn apply(
    parcel: &Parcel<'_>,
    version: Option<&str>,
    force: bool,
    cluster: &Cluster,
) -> Result<Result<Done, Vec<Fault>>, Failure> {
    match send(
        parcel,
        Way {
            dry_run: false,
            force,
        },
        cluster,
    )
    .await?
    {
        Ok(object) => Ok(Ok(match version {
            None => Done::Created,
            Some(version) if object.metadata.resource_version.as_deref() == Some(version) => Done::Unchanged,
            Some(_) => Done::Configured,
        })),
        Err(status) => Ok(Err(faults(parcel.document, &status))),
    }
}

async fn send(
    parcel: &Parcel<'_>,
    way: Way,
    cluster: &Cluster,
) -> Result<Result<DynamicObject, Box<kube::core::Status>>, Failure> {
    let parameters = PatchParams {
        dry_run: way.dry_run,
        force: way.force,
        field_manager: Some(MANAGER.to_owned()),
        ..PatchParams::default()
    }
    .validation_strict();
    let intent = format!("apply {}", parcel.title());
    let api = parcel.api(cluster);
    let patch = Patch::Apply(&parcel.document.value);
    match cluster
        .attempt(&intent, api.patch(&parcel.name, &parameters, &patch))
        .await?
    {
        Ok(object) => Ok(Ok(object)),
        Err(kube::Error::Api(status)) if status.code != 401 => Ok(Err(status)),
        Err(error) => Err(refusal(&intent, &error)),
    }
}

impl Done {
    /// The word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
        }
    }
}
