//! Runs a flow on this machine: observes its Jobs, plans, writes the record, and acts; until the flow has ended.
//!
//! Comes in: objects from files, settings, a folder for the run. Goes out: the record, the journals and logs in that
//! folder, and events for whoever watches. Deliberately absent: any rule about flows or Jobs. The journal is the
//! truth: whatever is asked of the executor was written there before, so that a run that was killed goes on.

mod drive;
mod input;
mod ledger;
mod seen;
mod store;

use std::{
    collections::VecDeque,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use jobflow_core::{FlowGraph, FlowPhase, FlowRecord, plan::Change, report::Report, snapshot::CancelMode};
use jobflow_k8s::{extensions::Extensions, fault::Fault};
use serde::{Deserialize, Serialize};

pub use input::{Input, Prepared};
pub use ledger::{JOURNAL, Line};
pub use seen::{NodeLine, Reasons, Seen};
pub use store::Snapshotted;

use crate::{
    client::{ClientError, Launch},
    enter::{self, TrialError},
    host::Host,
    kit::KitSettings,
    rundir::{Identity, JournalError, RunDir, RunDirError, RunId, RunRecord, StateRoot},
};

/// The file with a copy of the present state, for whoever looks.
pub const CHECKPOINT: &str = "flow.json";

const INPUT: &str = "input.json";
const TRIAL: &str = "trial";

/// How a flow is run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// What containers get and may do here.
    pub kit: KitSettings,
    /// What this machine gives to Jobs.
    pub machine: crate::resources::Machine,
    /// Whether what Jobs ask for is not counted.
    pub ignore_resources: bool,
    /// Between SIGTERM and SIGKILL when the run is interrupted.
    pub grace: Duration,
}

/// What a run needs beside its input.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where runs are kept.
    pub root: StateRoot,
    /// How an executor is started.
    pub launch: Launch,
    /// Set by whoever hears that the run is to be interrupted.
    pub interrupt: Arc<AtomicBool>,
    /// What is asked of the run while it goes on.
    pub controls: Controls,
    /// The time, in milliseconds since 1970.
    pub clock: fn() -> i64,
    /// Sixteen bytes that nobody can guess.
    pub random: [u8; 16],
    /// Kinds of predicates of the program's own, and who answers their questions.
    pub extensions: Extensions,
}

/// What somebody asks of a run while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// End the flow.
    Cancel(CancelMode),
    /// Start nothing new; stop what runs, too, if so asked.
    Suspend {
        /// Whether running jobs are stopped.
        running: bool,
    },
    /// Go on.
    Resume,
    /// Delete the Job of an entry.
    DeleteJob(String),
    /// Take the pods of an entry's Job away, as when the machine under them goes.
    EvictPods(String),
}

/// Takes what is asked of a run to the run; clones lead to the same one.
#[derive(Clone, Debug, Default)]
pub struct Controls(Arc<Mutex<VecDeque<Control>>>);

impl Controls {
    /// Asks something.
    pub fn ask(&self, control: Control) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(control);
    }

    fn next(&self) -> Option<Control> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// How a run came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The flow ended.
    Ended(FlowPhase),
    /// It was interrupted, and can be resumed.
    Interrupted,
    /// The flow is suspended, and nothing of it runs.
    Suspended,
}

/// Why a flow could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The flow, or a Job of it, is wrong.
    #[error("the flow can't be run")]
    Faults(Vec<Fault>),
    /// The run's folder can't be used.
    #[error(transparent)]
    Folder(#[from] RunDirError),
    /// A journal can't be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The executor can't be used.
    #[error(transparent)]
    Executor(#[from] ClientError),
    /// What was saved of the run's input can't be read.
    #[error("cannot read what was saved of the run's input in {path}")]
    Saved {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: io::Error,
    },
    /// Tasks can't have mounts of their own here.
    #[error("this machine does not let tasks have mounts of their own")]
    NoIsolation(#[from] TrialError),
    /// The system refused something else.
    #[error("cannot run the flow")]
    System(#[from] io::Error),
}

/// What the flow looks like at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The flow's name.
    pub flow: &'a str,
    /// The run.
    pub run: &'a RunId,
    /// The graph.
    pub graph: &'a FlowGraph,
    /// The record.
    pub record: &'a FlowRecord,
    /// Why what has not ended stands where it does.
    pub report: &'a Report,
    /// The Jobs.
    pub host: &'a Host,
    /// The time, in milliseconds since 1970.
    pub now: i64,
}

/// Hears what happens to a run.
pub trait Watcher {
    /// The run begins, or goes on.
    fn began(&mut self, run: &RunId, folder: &Path, resumed: bool);

    /// Something happened to a node; `moment` is after it.
    fn changed(&mut self, change: &Change, moment: Moment<'_>);

    /// Time passed, or something happened; for displays that are drawn anew.
    fn passed(&mut self, moment: Moment<'_>);

    /// The executor starts nothing new for this reason, or goes on when there is none.
    fn blocked(&mut self, reason: Option<&str>);
}

/// Runs a flow to its end, or until it is interrupted.
///
/// # Errors
///
/// When it is wrong, or can't be run here; nothing was started then, unless the executor was lost for good.
pub fn start(
    input: Input,
    settings: Settings,
    surroundings: &Surroundings,
    watcher: &mut dyn Watcher,
) -> Result<(RunId, End), RunError> {
    let now = (surroundings.clock)();
    let name = input.name().to_owned();
    let token: String = surroundings
        .random
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let id = RunId::new(&input::short(&name), now, &token[..6])
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    // Faults come before the folder: a flow that can't be run leaves nothing behind.
    input.check(&settings, surroundings)?;
    let record = RunRecord {
        id: id.clone(),
        flow: name,
        created: now,
        identity: Identity::of_this_process(),
    };
    let folder = surroundings.root.create(record, &token)?;
    furnish(&folder, &input, &settings).inspect_err(|_| {
        // Nothing was started: no run is left behind.
        let _ = fs::remove_dir_all(folder.path());
    })?;
    let end = drive::run(folder, &input, &settings, surroundings, watcher)?;
    Ok((id, end))
}

/// Saves what the run is made from, once it is known that tasks can have what they are promised.
fn furnish(folder: &RunDir, input: &Input, settings: &Settings) -> Result<(), RunError> {
    if settings.kit.isolate {
        let scratch = folder.path().join(TRIAL);
        fs::create_dir(&scratch)?;
        let tried = enter::try_isolation(&settings.kit.enter, &scratch);
        fs::remove_dir_all(&scratch)?;
        tried?;
    }
    store::save(folder, INPUT, &Snapshotted { input, settings })
}

/// Takes up a run that was interrupted or killed, and runs it to its end.
///
/// # Errors
///
/// As for [`start`], and when there is no such run, or somebody else decides for it now.
pub fn resume(id: &RunId, surroundings: &Surroundings, watcher: &mut dyn Watcher) -> Result<End, RunError> {
    let folder = surroundings.root.open(id, &Identity::of_this_process())?;
    let (input, settings) = store::load(folder.path(), INPUT)?;
    drive::run(folder, &input, &settings, surroundings, watcher)
}

/// What the run in a folder is made from, for whoever looks at it.
///
/// # Errors
///
/// When it can't be read.
pub fn input(folder: &Path) -> Result<Input, RunError> {
    store::load(folder, INPUT).map(|(input, _)| input)
}
