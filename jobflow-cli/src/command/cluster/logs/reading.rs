//! One log as the server hands it on, piece by piece: it may be of any length.

use futures::AsyncReadExt;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::LogParams;

use super::choice::Log;
use super::{Unreadable, still_there};
use crate::arguments::cluster::LogsArguments;
use crate::cluster::Cluster;
use crate::cluster::refusal::refusal;
use crate::command::logs::Lines;
use crate::console::Console;
use crate::failure::Failure;

/// Bytes that are read at once.
pub(super) const PIECE: usize = 64 << 10;

/// What is asked of the server.
pub(super) fn parameters(container: &str, arguments: &LogsArguments, follow: bool) -> LogParams {
    LogParams {
        container: Some(container.to_owned()),
        follow,
        previous: arguments.previous,
        since_seconds: arguments
            .since
            .and_then(|since| i64::try_from(since.as_secs()).ok()),
        tail_lines: arguments.tail,
        timestamps: arguments.timestamps,
        ..LogParams::default()
    }
}

/// What is intended.
pub(super) fn intent(log: &Log) -> String {
    format!("read the log of {}", log.label)
}

/// Shows a whole log; what keeps it from being read is for whoever called to tell.
pub(super) async fn show(
    log: &Log,
    label: Option<&str>,
    arguments: &LogsArguments,
    cluster: &Cluster,
    lines: &mut Lines,
    console: &mut Console,
) -> Result<Result<(), Unreadable>, Failure> {
    let namespace = log
        .pod
        .pod
        .metadata
        .namespace
        .as_deref()
        .unwrap_or(&cluster.namespace);
    let api: Api<Pod> = Api::namespaced(cluster.client.clone(), namespace);
    let parameters = parameters(&log.container, arguments, false);
    let opened = cluster
        .attempt(&intent(log), api.log_stream(log.pod.name(), &parameters))
        .await;
    let mut stream = match opened {
        Ok(Ok(stream)) => Box::pin(stream),
        Ok(Err(kube::Error::Api(status)))
            if status.code == 404 && !still_there(log, cluster, namespace).await? =>
        {
            return Ok(Ok(()));
        }
        Ok(Err(error)) => return unreadable(refusal(&intent(log), &error)),
        Err(failure) => return unreadable(failure),
    };
    let mut piece = vec![0; PIECE];
    loop {
        match stream.read(&mut piece).await {
            Ok(0) => break,
            Ok(count) => {
                console.bytes(&lines.show(&log.label, label, piece.get(..count).unwrap_or_default()))?
            }
            Err(error) => {
                console.bytes(&lines.rest())?;
                return unreadable(Failure::could_not_run(format!("cannot {}", intent(log))).because(&error));
            }
        }
    }
    console.bytes(&lines.rest())?;
    console.flush()?;
    Ok(Ok(()))
}

fn unreadable(failure: Failure) -> Result<Result<(), Unreadable>, Failure> {
    match failure {
        Failure::Said(said) => Ok(Err(said)),
        Failure::Closed | Failure::Told(_) => Err(failure),
    }
}
