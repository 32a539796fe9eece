//! Everything that one run of one container needs: its command, environment, folders and files.
//!
//! [`outfit`] works it out and changes nothing, so that all faults of a flow are known before anything starts;
//! [`Outfit::lay_out`] makes the folders and returns the task for the executor.

mod folders;
mod redirect;
mod termination;
mod work_out;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub use folders::LayOutError;
pub use redirect::{SVC_VARIABLE, TERMINATION_VARIABLE};
pub use termination::termination_message;
pub use work_out::outfit;

use super::{
    config::ConfigObjects,
    identity::PodIdentity,
    inherited::Inherit,
    security::{Own, Security},
    shape::JobShape,
    template::PodTemplate,
};
use crate::{
    resources::Machine,
    task::LOG_LIMIT,
    volumes::{Mounted, VolumeOptions},
};

/// What is the same for all containers of a run.
#[derive(Clone, Debug)]
pub struct Site {
    /// The run's folder, absolute.
    pub run: PathBuf,
    /// Where a container without a `workingDir` starts, absolute.
    pub work: PathBuf,
    /// ConfigMaps and Secrets.
    pub objects: ConfigObjects,
    /// What the machine has.
    pub machine: Machine,
    /// The variables of this process.
    pub own_environment: BTreeMap<String, String>,
    /// Which of them tasks get, beside the few they always get.
    pub inherit: Inherit,
    /// What the user says about volumes.
    pub volumes: VolumeOptions,
    /// Whether mounts appear at their paths, in a namespace of the task's own.
    pub isolate: bool,
    /// The program and arguments that lead to [`crate::enter::main`]; the plan follows. Without them, containers that
    /// need it are refused.
    pub enter: Vec<String>,
    /// The user and group of this process.
    pub own: Own,
    /// The most bytes of a container's output that are kept.
    pub log_limit: u64,
}

impl Site {
    /// A site with nothing special: no ConfigMaps, nothing inherited, nothing mapped, not isolated.
    pub fn new(run: PathBuf, work: PathBuf, enter: Vec<String>, own: Own) -> Self {
        Self {
            run,
            work,
            objects: ConfigObjects::default(),
            machine: Machine::default(),
            own_environment: BTreeMap::new(),
            inherit: Inherit::Named(Vec::new()),
            volumes: VolumeOptions::default(),
            isolate: false,
            enter,
            own,
            log_limit: LOG_LIMIT,
        }
    }
}

/// Which run of which container of which pod.
#[derive(Clone, Copy, Debug)]
pub struct Which<'a> {
    /// The Job.
    pub job: &'a JobShape,
    /// The pod's template.
    pub template: &'a PodTemplate,
    /// The pod.
    pub pod: &'a PodIdentity,
    /// A name of the pod that no other pod of the run ever has, made of letters, digits, `-` and `.`.
    pub folder: &'a str,
    /// Place of the task in the Job.
    pub task: usize,
    /// The replica of the task.
    pub index: u32,
    /// Place of the container in the pod, init containers first.
    pub container: usize,
    /// How often it was started before.
    pub run: u32,
}

/// Everything that one run of one container needs.
#[derive(Clone, PartialEq, Eq)]
pub struct Outfit {
    /// The command and its arguments.
    argv: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    mounts: Vec<Mounted>,
    security: Security,
    /// Where the container thinks that its termination message is.
    message_path: PathBuf,
    names: Names,
    isolate: bool,
}

/// Where the files of one run of one container are, below the run's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The pod's folder; most pods have nothing in it, and then it isn't made.
    pub pod: PathBuf,
    /// The pod's temporary folder.
    pub temporary: PathBuf,
    /// The container's output.
    pub log: PathBuf,
    /// Its termination message.
    pub message: PathBuf,
}

impl Names {
    /// Names the files of a run of a container.
    pub fn new(folder: &str, container: &str, run: u32) -> Self {
        Self {
            pod: Path::new("pods").join(folder),
            temporary: Path::new("tmp").join(folder),
            log: Path::new("logs")
                .join(folder)
                .join(format!("{container}.{run}.log")),
            message: Path::new("messages").join(format!("{folder}.{container}.{run}")),
        }
    }
}

impl Outfit {
    /// Where the files of this run are.
    pub fn names(&self) -> &Names {
        &self.names
    }
}

// Written by hand: the environment may hold secrets, which must not reach a log through `{:?}`.
impl std::fmt::Debug for Outfit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            argv,
            env,
            cwd,
            mounts,
            security,
            message_path,
            names,
            isolate,
        } = self;
        formatter
            .debug_struct("Outfit")
            .field("argv", &argv.first())
            .field("env", &env.keys().collect::<Vec<_>>())
            .field("cwd", cwd)
            .field("mounts", mounts)
            .field("security", security)
            .field("message_path", message_path)
            .field("names", names)
            .field("isolate", isolate)
            .finish()
    }
}

#[cfg(test)]
mod tests;
