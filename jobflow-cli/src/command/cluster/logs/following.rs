//! Logs that grow: of pods that are there, and of those that come, until the flow has ended.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use futures::stream::{self, SelectAll};
use futures::{AsyncReadExt, Stream, StreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use tokio::time::{Instant, sleep_until};

use super::choice::{Choice, Log};
use super::family;
use super::reading::{PIECE, intent, parameters};
use crate::arguments::cluster::LogsArguments;
use crate::cluster::Cluster;
use crate::cluster::flow::Flow;
use crate::cluster::refusal::refusal;
use crate::command::logs::Lines;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// How often it is looked for new pods.
const INTERVAL: Duration = Duration::from_secs(2);

type Pieces = Pin<Box<dyn Stream<Item = (String, Vec<u8>)> + Send>>;

struct Following<'a> {
    arguments: &'a LogsArguments,
    cluster: &'a Cluster,
    known: BTreeSet<(String, String, i32)>,
    refused: BTreeSet<(String, String, i32)>,
    pieces: SelectAll<Pieces>,
}

/// Shows everything that is written until the flow has ended and nothing is left to read.
pub(super) async fn follow(
    arguments: &LogsArguments,
    choice: &Choice,
    flow: Flow,
    cluster: &Cluster,
    lines: &mut Lines,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let mut following = Following {
        arguments,
        cluster,
        known: BTreeSet::new(),
        refused: BTreeSet::new(),
        pieces: SelectAll::new(),
    };
    let mut flow = Some(flow);
    loop {
        if let Some(flow) = &flow {
            let (jobs, pods) = family(cluster, flow).await?;
            for log in choice.logs(&jobs, &pods)? {
                following.open(&log, console).await?;
            }
        }
        let is_over = flow.as_ref().is_none_or(Flow::has_ended);
        following.show(lines, console, is_over).await?;
        if is_over {
            console.bytes(&lines.rest())?;
            return Ok(Exit::Succeeded);
        }
        let uid = flow.as_ref().map(|flow| flow.uid().to_owned());
        let next = Flow::look(cluster, &arguments.flow).await?;
        flow = next.filter(|next| Some(next.uid()) == uid.as_deref());
    }
}

impl Following<'_> {
    /// Begins to read a log, unless it is being read already; a restarted container has a new one.
    async fn open(&mut self, log: &Log, console: &mut Console) -> Result<(), Failure> {
        let key = key(log);
        if self.known.contains(&key) {
            return Ok(());
        }
        let namespace = log
            .pod
            .pod
            .metadata
            .namespace
            .as_deref()
            .unwrap_or(&self.cluster.namespace);
        let api: Api<Pod> = Api::namespaced(self.cluster.client.clone(), namespace);
        let parameters = parameters(&log.container, self.arguments, true);
        let opened = self
            .cluster
            .attempt(&intent(log), api.log_stream(log.pod.name(), &parameters))
            .await;
        match opened {
            Ok(Ok(stream)) => {
                self.known.insert(key);
                self.pieces.push(pieces(log.label.clone(), stream));
            }
            Ok(Err(error)) => self.complain(key, refusal(&intent(log), &error), console)?,
            Err(failure) => self.complain(key, failure, console)?,
        }
        Ok(())
    }

    /// Tells once that a log can't be read; it is tried again.
    fn complain(
        &mut self,
        key: (String, String, i32),
        failure: Failure,
        console: &mut Console,
    ) -> Result<(), Failure> {
        match failure {
            Failure::Said(said) => {
                if self.refused.insert(key) {
                    console.complain(&said);
                }
                Ok(())
            }
            Failure::Closed | Failure::Told(_) => Err(failure),
        }
    }

    /// Shows what comes, for a while; or all that is left to come.
    async fn show(
        &mut self,
        lines: &mut Lines,
        console: &mut Console,
        to_the_end: bool,
    ) -> Result<(), Failure> {
        let until = Instant::now() + INTERVAL;
        loop {
            let next = tokio::select! {
                next = self.pieces.next(), if !self.pieces.is_empty() => next,
                () = sleep_until(until), if !to_the_end || self.pieces.is_empty() => return Ok(()),
            };
            if let Some((label, bytes)) = next {
                let shown = (self.known.len() > 1).then_some(label.as_str());
                console.bytes(&lines.show(&label, shown, &bytes))?;
                console.flush()?;
            }
        }
    }
}

/// Which log it is: pod, container, and how often that was restarted.
fn key(log: &Log) -> (String, String, i32) {
    let pod = &log.pod.pod;
    let status = pod.status.iter();
    let mut all = status.flat_map(|status| {
        let first = status.init_container_statuses.iter().flatten();
        first.chain(status.container_statuses.iter().flatten())
    });
    let restarts = all
        .find(|status| status.name == log.container)
        .map_or(0, |status| status.restart_count);
    (
        pod.metadata.uid.clone().unwrap_or_default(),
        log.container.clone(),
        restarts,
    )
}

/// A log piece by piece; that it breaks off is its end.
fn pieces(label: String, log: impl futures::AsyncBufRead + Send + 'static) -> Pieces {
    let begin = (label, Box::pin(log));
    Box::pin(stream::unfold(begin, |(label, mut log)| async move {
        let mut piece = vec![0; PIECE];
        let count = log.read(&mut piece).await.unwrap_or(0);
        piece.truncate(count);
        (count > 0).then(|| ((label.clone(), piece), (label, log)))
    }))
}
