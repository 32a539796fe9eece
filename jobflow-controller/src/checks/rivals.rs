//! Looks at the metadata of some flows now and then, for traces of another controller.

use std::collections::BTreeSet;
use std::time::Duration;

use jobflow_k8s::types::JobFlow;
use kube::api::ListParams;
use kube::{Api, Client};
use tracing::debug;

use super::Reports;
use crate::arguments::Settings;
use crate::escape;
use crate::findings::Check;
use crate::findings::rivals::rival;

/// What we are called in the managed fields of a status.
const OURS: &str = jobflow_k8s::client::MANAGER;
/// How often there is a look.
const PERIOD: Duration = Duration::from_secs(60);
/// Flows in one look; the next one goes on after them.
const PAGE: u32 = 100;

/// For ever.
pub(super) async fn look(client: &Client, settings: &Settings, reports: &Reports) {
    let scopes: Vec<Api<JobFlow>> = match settings.namespaces.is_empty() {
        true => vec![Api::all(client.clone())],
        false => settings
            .namespaces
            .iter()
            .map(|namespace| Api::namespaced(client.clone(), namespace))
            .collect(),
    };
    loop {
        for flows in &scopes {
            through(flows, reports).await;
        }
    }
}

/// Page after page, to the end.
async fn through(flows: &Api<JobFlow>, reports: &Reports) {
    let mut parameters = ListParams::default().limit(PAGE);
    let mut rivals = BTreeSet::new();
    loop {
        tokio::time::sleep(PERIOD).await;
        let page = match flows.list_metadata(&parameters).await {
            Ok(page) => page,
            // A list that grew too old is begun anew, and rights are somebody else's to ask.
            Err(error) => return debug!(%error, "cannot look for other controllers"),
        };
        let found = page.items.iter().filter_map(|flow| rival(&flow.metadata, OURS));
        rivals.extend(found.map(|name| escape::cut(&escape::text(name), 128)));
        parameters.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
        if parameters.continue_token.is_none() || !rivals.is_empty() {
            break;
        }
    }
    let lines = rivals
        .into_iter()
        .take(5)
        .map(|name| format!("{name} writes the status of flows that were begun here"));
    reports.report("rivals", Check::AnotherController, lines.collect());
}
