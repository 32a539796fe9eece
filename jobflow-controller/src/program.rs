//! The program: arguments to settings, a log, signals, a runtime, and an exit code.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use jobflow_k8s::client::Extensions;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::info;

use crate::arguments::{Asked, Settings, Stopped, Tool, documented, parse};
use crate::controller::Controller;
use crate::escape;
use crate::exit::Exit;
use crate::logs;

/// Room for readers of expressions, which recurse; a thread uses what it needs of it.
const STACK: usize = 16 << 20;

/// Does what the arguments say; the first one is the program's own name.
///
/// ```
/// use jobflow_controller::{Extensions, run};
///
/// let code = run(["jobflow-controller", "--version"], Extensions::default());
/// assert_eq!(code, std::process::ExitCode::SUCCESS);
/// ```
pub fn run<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>, extensions: Extensions) -> ExitCode {
    let result = match parse(arguments.into_iter().map(Into::into).collect()) {
        Ok(Asked::Run(settings)) => serve(*settings, extensions),
        Ok(Asked::Dump(settings)) => dump(&settings),
        Ok(Asked::Tool(tool)) => use_tool(tool),
        Err(stopped) => return refuse(&stopped).into(),
    };
    match result {
        Ok(()) => Exit::Ended.into(),
        Err(error) => {
            complain(&*error);
            Exit::CouldNotRun.into()
        }
    }
}

fn serve(settings: Settings, extensions: Extensions) -> Result<(), Box<dyn Error>> {
    logs::begin(&settings.log)?;
    info!(
        version = env!("CARGO_PKG_VERSION"),
        dry_run = settings.dry_run,
        "starts"
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .build()?;
    let result = runtime.block_on(async {
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let controller = Controller::new(settings).with_extensions(extensions);
        controller.run_until(signalled(terminate, interrupt)).await?;
        Ok::<_, Box<dyn Error>>(())
    });
    // Whatever is still asleep has nothing left to do.
    runtime.shutdown_background();
    result
}

async fn signalled(mut terminate: Signal, mut interrupt: Signal) {
    tokio::select! {
        _ = terminate.recv() => info!("SIGTERM"),
        _ = interrupt.recv() => info!("SIGINT"),
    }
}

fn dump(settings: &Settings) -> Result<(), Box<dyn Error>> {
    let mut text = serde_json::to_string_pretty(settings)?;
    text.push('\n');
    Ok(print(text.as_bytes())?)
}

fn use_tool(tool: Tool) -> Result<(), Box<dyn Error>> {
    match tool {
        Tool::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut documented(), "jobflow-controller", &mut script);
            print(&script)?;
        }
        Tool::Man { folder } => write_pages(&folder)?,
    }
    Ok(())
}

fn write_pages(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(documented(), folder)
}

/// A reader that has gone wants no more of it.
fn print(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Help and version go to stdout and succeed, everything else is a wrong use.
fn refuse(stopped: &Stopped) -> Exit {
    match stopped {
        Stopped::Usage(error) => {
            // A closed stream is no reason to complain about help that nobody reads.
            let _ = error.print();
            match error.use_stderr() {
                true => Exit::WrongArguments,
                false => Exit::Ended,
            }
        }
        Stopped::Refused(refused) => {
            let faults = refused
                .0
                .iter()
                .map(|fault| format!("error: {}: {}\n", fault.argument, fault.message));
            talk(&faults.collect::<String>());
            talk("For what is right, try --help.\n");
            Exit::WrongArguments
        }
    }
}

fn complain(error: &dyn Error) {
    let mut text = format!("error: {}\n", escape::text(&error.to_string()));
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    for cause in causes {
        text.push_str(&format!("  because: {}\n", escape::text(&cause.to_string())));
    }
    talk(&text);
}

fn talk(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
