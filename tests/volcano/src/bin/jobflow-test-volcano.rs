//! The stand-in for Volcano as a program: looks after the Jobs of a cluster, until it is told to end.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use jobflow_test_volcano::{Detail, Options, Processes, Volcano, serve_if_asked};
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};

/// Moves Volcano Jobs through their phases without Volcano, with made-up pods or with processes of this machine.
#[derive(Debug, Parser)]
struct Arguments {
    /// How to reach the API server [default: as kubectl does]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The only namespace whose Jobs are looked after [default: all]
    #[arg(long)]
    namespace: Option<String>,
    /// How many times as fast as the clock made-up pods live
    #[arg(long, default_value_t = 1)]
    speed: u32,
    /// Write one status a phase, for many Jobs at once
    #[arg(long)]
    brief: bool,
    /// Make Pod objects
    #[arg(long)]
    pods: bool,
    /// Run containers as processes, with logs and volumes in this folder
    #[arg(long, value_name = "FOLDER")]
    processes: Option<PathBuf>,
}

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked() {
        return code;
    }
    let arguments = Arguments::parse();
    let work = || tokio::runtime::Runtime::new()?.block_on(work(arguments));
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn work(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let client = client(arguments.kubeconfig.as_ref()).await?;
    let volcano = Volcano::start(client, options(arguments)?).await?;
    tokio::signal::ctrl_c().await?;
    drop(volcano);
    Ok(())
}

async fn client(kubeconfig: Option<&PathBuf>) -> Result<Client, Box<dyn std::error::Error>> {
    let Some(path) = kubeconfig else {
        return Ok(Client::try_default().await?);
    };
    let config = Kubeconfig::read_from(path)?;
    let config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

fn options(arguments: Arguments) -> std::io::Result<Options> {
    let Arguments {
        kubeconfig: _,
        namespace,
        speed,
        brief,
        pods,
        processes,
    } = arguments;
    let program = std::env::current_exe()?;
    Ok(Options {
        namespace,
        speed,
        detail: if brief { Detail::Phases } else { Detail::AsVolcano },
        pods,
        processes: processes.map(|folder| Processes {
            folder,
            program,
            network: None,
            inherit: Vec::new(),
        }),
        ..Options::default()
    })
}

#[expect(clippy::print_stderr, reason = "this is a program for terminals")]
fn complain(error: &dyn std::error::Error) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  because {error}");
        cause = error.source();
    }
}
