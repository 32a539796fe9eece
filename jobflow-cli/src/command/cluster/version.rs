//! `kubectl jobflow version`: of this program, and of the server.

use serde_json::{Value, json};

use crate::arguments::Format;
use crate::arguments::cluster::{Connection, VersionArguments};
use crate::cluster::Cluster;
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the versions; that of the program whatever the server says.
pub(crate) async fn run(
    arguments: &VersionArguments,
    connection: &Connection,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let client = env!("CARGO_PKG_VERSION");
    if arguments.output == Format::Text {
        console.data(&format!("jobflow {client}\n"))?;
    }
    if arguments.client {
        return finish(arguments, &json!({ "client": client }), console);
    }
    let cluster = Cluster::reach(connection).await?;
    let server = cluster
        .ask(
            "ask the server for its version",
            cluster.client.apiserver_version(),
        )
        .await?;
    let served = served(&cluster).await?;
    if arguments.output == Format::Text {
        let flows = served
            .as_deref()
            .unwrap_or("none; install them with: kubectl jobflow crd --install");
        let version = escape::terminal(&server.git_version);
        console.data(&format!(
            "server {version}\nflow.volcano.sh {}\n",
            escape::terminal(flows)
        ))?;
    }
    let all = json!({ "client": client, "server": server.git_version, "flow.volcano.sh": served });
    finish(arguments, &all, console)
}

fn finish(arguments: &VersionArguments, all: &Value, console: &mut Console) -> Result<Exit, Failure> {
    if arguments.output == Format::Json {
        console.data(&escape::json(all))?;
    }
    Ok(Exit::Succeeded)
}

/// The versions of our group that are served.
async fn served(cluster: &Cluster) -> Result<Option<String>, Failure> {
    let intent = "ask the server for its kinds";
    let groups = cluster.ask(intent, cluster.client.list_api_groups()).await?;
    let group = groups
        .groups
        .into_iter()
        .find(|group| group.name == jobflow_k8s::types::FLOW_GROUP);
    let versions = |versions: Vec<_>| {
        let names = versions.into_iter().map(
            |version: k8s_openapi::apimachinery::pkg::apis::meta::v1::GroupVersionForDiscovery| {
                version.version
            },
        );
        names.collect::<Vec<_>>().join(", ")
    };
    Ok(group.map(|group| versions(group.versions)))
}
