//! Lists, page by page: no answer is larger than it must be, however many objects there are.

use kube::Api;
use kube::api::{DynamicObject, ListParams};

use super::Cluster;
use super::refusal::{is_unserved, refusal, said};
use crate::failure::Failure;

/// Objects in one answer.
const PAGE: u32 = 500;
/// How often a list that took too long is begun anew.
const TRIES: usize = 3;

/// All objects that a selection matches; `intent` completes "cannot …".
pub(crate) async fn all(
    cluster: &Cluster,
    intent: &str,
    api: &Api<DynamicObject>,
    selection: ListParams,
) -> Result<Vec<DynamicObject>, Failure> {
    let mut tried = 1;
    loop {
        match once(cluster, intent, api, &selection).await? {
            // The server forgot where the list was: what was read is no list of one moment.
            Err(kube::Error::Api(status)) if status.code == 410 && tried < TRIES => tried += 1,
            result => return result.map_err(|error| refusal(intent, &error)),
        }
    }
}

/// The same for what the caller may have no right to see, or the cluster may not have at all: why not, then.
pub(crate) async fn seen(
    cluster: &Cluster,
    intent: &str,
    api: &Api<DynamicObject>,
    selection: ListParams,
) -> Result<Result<Vec<DynamicObject>, String>, Failure> {
    match once(cluster, intent, api, &selection).await? {
        Ok(objects) => Ok(Ok(objects)),
        Err(kube::Error::Api(status)) if status.code == 403 || is_unserved(&status) => Ok(Err(said(&status))),
        Err(error) => Err(refusal(intent, &error)),
    }
}

async fn once(
    cluster: &Cluster,
    intent: &str,
    api: &Api<DynamicObject>,
    selection: &ListParams,
) -> Result<kube::Result<Vec<DynamicObject>>, Failure> {
    let mut objects = Vec::new();
    let mut page = selection.clone().limit(PAGE);
    loop {
        let list = match cluster.attempt(intent, api.list(&page)).await? {
            Ok(list) => list,
            Err(error) => return Ok(Err(error)),
        };
        objects.extend(list.items);
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(Ok(objects)),
        }
    }
}
