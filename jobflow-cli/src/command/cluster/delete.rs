//! `kubectl jobflow delete`: exactly the flows that were looked at.

use kube::api::{DeleteParams, Preconditions, PropagationPolicy};

use crate::arguments::cluster::{Awaited, Cascade, DeleteArguments};
use crate::cluster::flow::Flow;
use crate::cluster::refusal::{gone, refusal};
use crate::cluster::{Cluster, kinds};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

use super::wait::{Wait, wait};

/// Deletes flows one after the other; one that isn't there keeps no other from being deleted.
pub(crate) async fn run(
    arguments: &DeleteArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let mut deleted = Vec::new();
    let mut exit = Exit::Succeeded;
    for name in &arguments.flows {
        match delete(name, arguments.cascade, cluster).await? {
            Some(uid) => {
                console.data(&format!("jobflow.flow.volcano.sh/{name} deleted\n"))?;
                deleted.push((name, uid));
            }
            None if arguments.ignore_not_found => {}
            None => {
                if let Failure::Said(said) = gone(name, &cluster.namespace) {
                    console.complain(&said);
                }
                exit = Exit::Gone;
            }
        }
    }
    for (name, uid) in deleted.into_iter().filter(|_| arguments.wait) {
        let wanted = Wait {
            flow: name,
            uid: Some(&uid),
            awaited: Awaited::Deletion,
            timeout: arguments.timeout,
        };
        let ended = wait(&wanted, cluster, console).await?;
        if ended != Exit::Succeeded {
            exit = ended;
        }
    }
    Ok(exit)
}

/// Deletes one; answers its UID, or none if it isn't there.
async fn delete(name: &str, cascade: Cascade, cluster: &Cluster) -> Result<Option<String>, Failure> {
    let Some(flow) = Flow::look(cluster, name).await? else {
        return Ok(None);
    };
    let parameters = DeleteParams {
        propagation_policy: Some(match cascade {
            Cascade::Background => PropagationPolicy::Background,
            Cascade::Foreground => PropagationPolicy::Foreground,
            Cascade::Orphan => PropagationPolicy::Orphan,
        }),
        preconditions: Some(Preconditions {
            uid: Some(flow.uid().to_owned()),
            resource_version: None,
        }),
        ..DeleteParams::default()
    };
    let api = kinds::api(&cluster.client, Some(flow.namespace()), &kinds::flows());
    let intent = format!("delete flow `{name}`");
    match cluster.attempt(&intent, api.delete(name, &parameters)).await? {
        Ok(_) => Ok(Some(flow.uid().to_owned())),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(refusal(&intent, &error)),
    }
}
