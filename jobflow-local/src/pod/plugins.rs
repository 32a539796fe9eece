//! What Volcano's job plugins put into pods, with loopback addresses in place of host names.
//!
//! `env` and `svc` and `mpi` give to init containers too, `pytorch` and `tensorflow` don't. `ssh` has nothing to give
//! on one machine. A plugin's variable wins over the manifest's own, for Volcano appends it.

mod arguments;
mod mpi;
mod pytorch;
mod svc;
mod tensorflow;

pub use svc::files;

use super::shape::JobShape;

/// The folder in which a container sees the files of `svc`.
pub const SVC_MOUNT: &str = "/etc/volcano";

/// A variable.
pub type Variable = (String, String);

/// Which container of which pod is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Place of the task in the Job.
    pub task: usize,
    /// The replica.
    pub index: u32,
    /// Whether it is an init container.
    pub init: bool,
}

/// Lists the variables that a Job's plugins give to a container.
pub fn variables(job: &JobShape, target: Target) -> Vec<Variable> {
    let mut variables = Vec::new();
    for (plugin, arguments) in &job.plugins {
        match plugin.as_str() {
            "env" => variables.extend(env(target)),
            "svc" => variables.extend(svc::variables(job)),
            "mpi" => variables.extend(mpi::variables(job, arguments, target)),
            "pytorch" if !target.init => variables.extend(pytorch::variables(job, arguments, target)),
            "tensorflow" if !target.init => variables.extend(tensorflow::variables(job, arguments, target)),
            _ => {}
        }
    }
    variables
}

fn env(target: Target) -> [Variable; 2] {
    ["VK_TASK_INDEX", "VC_TASK_INDEX"].map(|name| (name.to_owned(), target.index.to_string()))
}

#[cfg(test)]
mod tests;
