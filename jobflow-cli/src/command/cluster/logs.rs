//! `kubectl jobflow logs`: what the pods of a flow wrote, those that failed first.

mod choice;
mod following;
mod reading;

use jobflow_k8s::fault::closest;

use crate::arguments::cluster::LogsArguments;
use crate::cluster::Cluster;
use crate::cluster::family::{self, OwnedJob, OwnedPod};
use crate::cluster::flow::Flow;
use crate::command::logs::Lines;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::standing::stored::entries;
use choice::{Choice, Log};

/// Shows what there is, and with `--follow` what comes.
pub(crate) async fn run(
    arguments: &LogsArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let flow = Flow::find(cluster, &arguments.flow).await?;
    let choice = Choice::of(arguments)?;
    known(&choice, &flow)?;
    let mut lines = Lines::new(arguments.raw, console.data_is_terminal());
    if arguments.follow {
        return following::follow(arguments, &choice, flow, cluster, &mut lines, console).await;
    }
    let (jobs, pods) = family(cluster, &flow).await?;
    let logs = choice.logs(&jobs, &pods)?;
    let mut exit = Exit::Succeeded;
    for log in &logs {
        let label = (logs.len() > 1).then_some(log.label.as_str());
        match reading::show(log, label, arguments, cluster, &mut lines, console).await? {
            Ok(()) => {}
            Err(failure) => {
                // The others can be shown nonetheless.
                console.complain(&failure);
                exit = Exit::CouldNotRun;
            }
        }
    }
    if logs.is_empty() {
        console.talk(&nothing(arguments, &jobs, &pods));
    }
    Ok(exit)
}

/// The jobs and pods of a flow.
async fn family(cluster: &Cluster, flow: &Flow) -> Result<(Vec<OwnedJob>, Vec<OwnedPod>), Failure> {
    let jobs = family::jobs(cluster, flow).await?;
    let pods = family::pods(cluster, flow.namespace(), &jobs).await?;
    Ok((jobs, pods))
}

/// Refuses the name of an entry that the flow doesn't have.
fn known(choice: &Choice, flow: &Flow) -> Result<(), Failure> {
    let (Some(wanted), Ok(read)) = (choice.node(), &flow.read) else {
        return Ok(());
    };
    let names: Vec<&str> = entries(&read.spec).map(|entry| entry.name.as_str()).collect();
    let records = read
        .status
        .iter()
        .flat_map(|status| status.nodes.iter().flatten());
    if names.contains(&wanted) || records.into_iter().any(|record| record.name == wanted) {
        return Ok(());
    }
    let failure = Failure::wrong_input(format!("flow {} has no entry `{wanted}`", flow.name()));
    Err(match closest(wanted, names.iter().copied()) {
        Some(near) => failure.with_help(format!("did you mean `{near}`?")),
        None => failure.with_help(format!("it has: {}", names.join(", "))),
    })
}

/// Why there is nothing to show.
fn nothing(arguments: &LogsArguments, jobs: &[OwnedJob], pods: &[OwnedPod]) -> String {
    let what = arguments.of.as_deref().unwrap_or(&arguments.flow);
    let why = match (jobs.is_empty(), pods.is_empty(), arguments.previous) {
        (true, ..) => "no job has been made yet, or none is kept",
        (false, true, _) => "no pods are left, or none have been made yet",
        (false, false, true) => "no container has been restarted",
        (false, false, false) => "no container of it has started",
    };
    format!("nothing to show of {}: {why}\n", crate::escape::terminal(what))
}

/// What is said of a log that can't be read.
type Unreadable = Box<crate::failure::Said>;

/// Where a log is asked for.
async fn still_there(log: &Log, cluster: &Cluster, namespace: &str) -> Result<bool, Failure> {
    Ok(family::pod(cluster, namespace, &log.pod).await?.is_some())
}
