//! Commands that speak with a cluster, a file each; here they get a runtime, and an end when somebody interrupts.

mod apply;
mod change;
mod complete;
mod crd;
mod delete;
mod describe;
mod diff;
mod doctor;
mod get;
mod list;
mod logs;
mod plan;
mod submit;
mod tree;
mod version;
mod wait;
mod watch;
mod why;

use std::ffi::OsString;

use jobflow_k8s::extensions::Extensions;
use tokio::runtime::Builder;

use crate::arguments::cluster::{
    CancelArguments, ClusterCommand, Connection, ResumeArguments, SuspendArguments,
};
use crate::cluster::Cluster;
use crate::cluster::edit::Wish;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Does what a command says.
pub(crate) fn run(
    connection: &Connection,
    command: &ClusterCommand,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    block_on(async {
        tokio::select! {
            biased;
            result = act(connection, command, extensions, console) => result,
            () = interrupted() => Err(Failure::Told(Exit::Interrupted)),
        }
    })
}

/// Prints what may come next, for kubectl.
pub(crate) fn complete(words: &[OsString], console: &mut Console) -> Result<Exit, Failure> {
    block_on(complete::run(words, console))
}

fn block_on(command: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| Failure::could_not_run("cannot prepare to speak with a cluster").because(&error))?;
    let result = runtime.block_on(command);
    // A name that is still being looked up keeps nobody waiting.
    runtime.shutdown_background();
    result
}

async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn act(
    connection: &Connection,
    command: &ClusterCommand,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let reach = || Cluster::reach(connection);
    match command {
        // These ask a server only when they are told to.
        ClusterCommand::Crd(arguments) if !arguments.install => super::crd::run(console),
        ClusterCommand::Version(arguments) => version::run(arguments, connection, console).await,
        ClusterCommand::Apply(arguments) => apply::run(arguments, connection, extensions, console).await,
        ClusterCommand::Submit(arguments) => submit::run(arguments, connection, extensions, console).await,
        ClusterCommand::List(arguments) => list::run(arguments, &reach().await?, console).await,
        ClusterCommand::Get(arguments) => get::run(arguments, &reach().await?, console).await,
        ClusterCommand::Describe(arguments) => describe::run(arguments, &reach().await?, console).await,
        ClusterCommand::Tree(arguments) => tree::run(arguments, &reach().await?, console).await,
        ClusterCommand::Watch(arguments) => watch::run(arguments, &reach().await?, console).await,
        ClusterCommand::Why(arguments) => why::run(arguments, &reach().await?, extensions, console).await,
        ClusterCommand::Plan(arguments) => plan::run(arguments, connection, extensions, console).await,
        ClusterCommand::Diff(arguments) => diff::run(arguments, &reach().await?, extensions, console).await,
        ClusterCommand::Logs(arguments) => logs::run(arguments, &reach().await?, console).await,
        ClusterCommand::Wait(arguments) => wait::run(arguments, &reach().await?, console).await,
        ClusterCommand::Delete(arguments) => delete::run(arguments, &reach().await?, console).await,
        ClusterCommand::Suspend(SuspendArguments { flow, running }) => {
            change::run(
                flow,
                &Wish::Suspend { running: *running },
                &reach().await?,
                console,
            )
            .await
        }
        ClusterCommand::Resume(ResumeArguments { flow }) => {
            change::run(flow, &Wish::Resume, &reach().await?, console).await
        }
        ClusterCommand::Cancel(CancelArguments { flow, now, reason }) => {
            let (now, reason) = (*now, reason.clone());
            change::run(flow, &Wish::Cancel { now, reason }, &reach().await?, console).await
        }
        ClusterCommand::Doctor(arguments) => doctor::run(arguments, &reach().await?, console).await,
        ClusterCommand::Crd(arguments) => crd::run(arguments, &reach().await?, console).await,
    }
}
