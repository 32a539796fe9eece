//! `jobflow run`: a flow on this machine, to its end.

mod ending;
pub(in crate::command) mod input;
mod interrupt;
mod kit;
mod settings;
mod watch;

use std::fs::File;
use std::io::{self, Read};

use jobflow_core::FlowPhase;
use jobflow_k8s::extensions::Extensions;
use jobflow_local::client::Launch;
use jobflow_local::rundir::RunId;
use jobflow_local::runner::{self, Controls, End, RunError, Surroundings};

use crate::arguments::{Format, RunArguments};
use crate::console::Console;
use crate::diagnose;
use crate::display::{Outcome, Progress};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::{Past, now, refused, state_root};
use ending::Ending;
use watch::Watching;

const WITHOUT_ISOLATION: &str = "leave it out, and use a `workingDir` inside the mount with relative paths, or \
    --map /data=./data for a path that exists here; or let this user have user namespaces (sysctl \
    user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)";

/// A run that has come to rest.
struct Ended {
    run: RunId,
    end: End,
    ending: Option<Ending>,
}

/// Runs a flow, or goes on with a run.
pub(crate) fn run(
    arguments: &RunArguments,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let surroundings = surroundings(extensions)?;
    let Ended { run, end, ending } = match &arguments.resume {
        Some(wanted) => resume(wanted, arguments.output, &surroundings, console)?,
        None => start(arguments, &surroundings, console)?,
    };
    if let (End::Ended(_), Some(ending), false) = (end, ending, is_quiet(arguments)) {
        ending.show(run.as_str(), &surroundings.root.path(&run), console)?;
    }
    if matches!(end, End::Interrupted) {
        console.talk(&format!("interrupted; go on with: jobflow run --resume {run}\n"));
    }
    Ok(exit(end))
}

/// Whether the output of tasks is not to be shown.
fn is_quiet(arguments: &RunArguments) -> bool {
    arguments.no_output || matches!(arguments.output, Format::Json)
}

fn start(
    arguments: &RunArguments,
    surroundings: &Surroundings,
    console: &mut Console,
) -> Result<Ended, Failure> {
    let input::Read {
        mut manifests,
        input,
        flow,
    } = input::read(arguments, &surroundings.extensions, console)?;
    let settings = settings::of(arguments)?;
    let mut watching = Watching::new(Progress::new(console, arguments.output));
    let result = runner::start(input, settings, surroundings, &mut watching);
    match result {
        Ok((run, end)) => {
            let ending = watching.ended(outcome(end))?;
            Ok(Ended { run, end, ending })
        }
        Err(RunError::Faults(faults)) => {
            drop(watching);
            let faults = faults.into_iter().map(|fault| flow.place(fault)).collect();
            manifests.add(faults);
            diagnose::tell(&manifests, console);
            Err(Failure::Told(Exit::WrongInput))
        }
        Err(error) => Err(could_not_run(&error, watching)),
    }
}

fn resume(
    wanted: &str,
    format: Format,
    surroundings: &Surroundings,
    console: &mut Console,
) -> Result<Ended, Failure> {
    let past = Past::look()?;
    let entry = past.choose(Some(wanted).filter(|wanted| !wanted.is_empty()))?;
    let mut watching = Watching::new(Progress::new(console, format));
    match runner::resume(&entry.record.id, surroundings, &mut watching) {
        Ok(end) => {
            let ending = watching.ended(outcome(end))?;
            let run = entry.record.id.clone();
            Ok(Ended { run, end, ending })
        }
        Err(error) => Err(could_not_run(&error, watching)),
    }
}

/// What a run needs of this process and machine.
fn surroundings(extensions: &Extensions) -> Result<Surroundings, Failure> {
    let told = |error: &io::Error| Failure::could_not_run("cannot prepare a run").because(error);
    Ok(Surroundings {
        root: state_root()?,
        launch: Launch::this_program().map_err(|error| told(&error))?,
        interrupt: interrupt::flag().map_err(|error| told(&error))?,
        controls: Controls::default(),
        clock: now,
        random: random().map_err(|error| told(&error))?,
        extensions: extensions.clone(),
    })
}

fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn could_not_run(error: &RunError, watching: Watching<'_>) -> Failure {
    if let RunError::Folder(error) = error {
        return refused(error);
    }
    if let RunError::NoIsolation(_) = error {
        return Failure::could_not_run("--isolate can't be had here")
            .because(error)
            .with_help(WITHOUT_ISOLATION);
    }
    let failure = Failure::could_not_run("the flow could not be run to its end").because(error);
    match watching.broken_off() {
        Some(help) => failure.with_help(help),
        None => failure,
    }
}

const fn outcome(end: End) -> Outcome {
    match end {
        End::Ended(phase) => Outcome::Ended(phase),
        End::Interrupted => Outcome::Interrupted,
        End::Suspended => Outcome::Suspended,
    }
}

const fn exit(end: End) -> Exit {
    match end {
        End::Ended(FlowPhase::Succeed) | End::Suspended => Exit::Succeeded,
        End::Ended(FlowPhase::Failed | FlowPhase::Pending | FlowPhase::Running | FlowPhase::Terminating) => {
            Exit::FlowFailed
        }
        End::Interrupted => Exit::Interrupted,
    }
}
