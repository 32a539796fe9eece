//! `kubectl jobflow describe`: everything about one flow, for people.

mod sections;

use k8s_openapi::api::core::v1::Event;
use kube::Api;
use kube::api::ListParams;

use crate::arguments::cluster::DescribeArguments;
use crate::cluster::Cluster;
use crate::cluster::flow::Flow;
use crate::cluster::refusal::{refusal, said};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::now;

/// Events that are shown.
const MOST_EVENTS: u32 = 500;

/// Describes a flow. Events that the caller may not read are no failure.
pub(crate) async fn run(
    arguments: &DescribeArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let flow = Flow::find(cluster, &arguments.flow).await?;
    let text = sections::of_flow(&flow, flow.readable()?, now());
    console.data(&text)?;
    match events(cluster, &flow).await? {
        Ok(events) => console.data(&sections::of_events(&events, now()))?,
        Err(why) => console.talk(&format!(
            "events can't be shown: {}\n",
            crate::escape::terminal(&why)
        )),
    }
    Ok(Exit::Succeeded)
}

/// The events of a flow, oldest first; or why they can't be read.
async fn events(cluster: &Cluster, flow: &Flow) -> Result<Result<Vec<Event>, String>, Failure> {
    let api: Api<Event> = Api::namespaced(cluster.client.clone(), flow.namespace());
    let selection = ListParams::default()
        .fields(&format!("involvedObject.uid={}", flow.uid()))
        .limit(MOST_EVENTS);
    let intent = "list events";
    match cluster.attempt(intent, api.list(&selection)).await? {
        Ok(list) => {
            let mut events = list.items;
            events.sort_by_key(sections::last_seen);
            Ok(Ok(events))
        }
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(Err(said(&status))),
        Err(error) => Err(refusal(intent, &error)),
    }
}
