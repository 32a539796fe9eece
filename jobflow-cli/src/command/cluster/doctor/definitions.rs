//! Whether the server serves the definitions that flows need, with our fields. It tells everybody what it serves; the
//! definitions themselves are often not for everybody.

use std::collections::BTreeSet;
use std::time::Duration;

use jobflow_k8s::crd;
use jobflow_k8s::types::{BATCH_GROUP, BUS_GROUP, FLOW_GROUP, VERSION};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::Value;

use super::finding::{Finding, State};
use crate::cluster::Cluster;
use crate::cluster::refusal::refusal;
use crate::command::cluster::crd::changes::{fields, listed, topmost};
use crate::failure::Failure;

const ABOUT: &str = "definitions";
/// How often a server that says nothing is asked again.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(500);
const INSTALL: &str = "install ours with: kubectl jobflow crd --install --force-conflicts";

/// What is served; and whether flows are.
pub(super) async fn look(cluster: &Cluster) -> Result<(Vec<Finding>, bool), Failure> {
    let Some(document) = openapi(FLOW_GROUP, VERSION, cluster).await? else {
        let bad = Finding::bad(ABOUT, format!("the server does not serve {FLOW_GROUP}/{VERSION}"));
        return Ok((
            vec![bad.with_help("install them with: kubectl jobflow crd --install")],
            false,
        ));
    };
    let mut findings: Vec<Finding> = crd::definitions()
        .iter()
        .map(|(_, definition)| {
            let names = &definition.spec.names;
            let ours = crd::schema(definition).map(fields).unwrap_or_default();
            compared(&names.kind, &ours, served(&document, &names.kind).as_ref())
        })
        .collect();
    let flows = served(&document, "JobFlow").is_some();
    findings.push(volcano(cluster).await?);
    Ok((findings, flows))
}

/// What is missing of a kind.
fn compared(kind: &str, ours: &BTreeSet<String>, served: Option<&BTreeSet<String>>) -> Finding {
    let Some(served) = served else {
        let said = format!("{kind} is not served");
        return match kind {
            // Only flows that use it need it.
            "JobFlowTemplate" => Finding::new(State::Note, ABOUT, said).with_help(INSTALL),
            _ => Finding::bad(ABOUT, said).with_help(INSTALL),
        };
    };
    let missing = topmost(ours.difference(served));
    match missing.as_slice() {
        [] => Finding::good(ABOUT, format!("{kind} is served with all of its fields")),
        missing => {
            let said = format!(
                "{kind} is served without {}: the server drops them",
                listed(missing)
            );
            Finding::bad(ABOUT, said).with_help(INSTALL)
        }
    }
}

/// The fields of a kind that are served; none if it isn't.
fn served(document: &Value, kind: &str) -> Option<BTreeSet<String>> {
    let schemas = document.pointer("/components/schemas")?.as_object()?;
    let end = format!(".{kind}");
    let (_, schema) = schemas.iter().find(|(name, _)| name.ends_with(&end))?;
    let schema: JSONSchemaProps = serde_json::from_value(schema.clone()).ok()?;
    Some(fields(&schema))
}

/// Whether Volcano's own kinds are served.
async fn volcano(cluster: &Cluster) -> Result<Finding, Failure> {
    let intent = "ask the server for its kinds";
    let groups = cluster.ask(intent, cluster.client.list_api_groups()).await?;
    let is_served = |group: &str| groups.groups.iter().any(|served| served.name == group);
    let needed = [BATCH_GROUP, BUS_GROUP, "scheduling.volcano.sh"];
    let missing: Vec<&str> = needed.into_iter().filter(|group| !is_served(group)).collect();
    Ok(match missing.as_slice() {
        [] => Finding::good("volcano", "its Jobs, Commands and queues are served"),
        missing => Finding::bad(
            "volcano",
            format!("the server does not serve {}", missing.join(", ")),
        )
        .with_help("flows are made of Volcano's Jobs: install Volcano (https://volcano.sh)"),
    })
}

/// What the server says of a group; none if it doesn't serve it. While definitions change, a server may say nothing.
async fn openapi(group: &str, version: &str, cluster: &Cluster) -> Result<Option<Value>, Failure> {
    let intent = format!("ask the server for the fields of {group}");
    let mut tried = 1;
    loop {
        let request = http::Request::get(format!("/openapi/v3/apis/{group}/{version}")).body(Vec::new());
        let request =
            request.map_err(|error| Failure::could_not_run(format!("cannot {intent}")).because(&error))?;
        let text = match cluster
            .attempt(&intent, cluster.client.request_text(request))
            .await?
        {
            Ok(text) => text,
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(None),
            Err(error) => return Err(refusal(&intent, &error)),
        };
        if text.is_empty() && tried < TRIES {
            tried += 1;
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let document = serde_json::from_str(&text).map_err(kube::Error::SerdeError);
        return document.map(Some).map_err(|error| refusal(&intent, &error));
    }
}
