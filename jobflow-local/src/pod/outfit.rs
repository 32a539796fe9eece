//! Everything that one run of one container needs: its command, environment, folders and files.
//!
//! [`outfit`] works it out and changes nothing, so that all faults of a flow are known before anything starts;
//! [`Outfit::lay_out`] makes the folders and returns the task for the executor.

mod folders;
mod redirect;
mod termination;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub use folders::LayOutError;
pub use redirect::{SVC_VARIABLE, TERMINATION_VARIABLE};
pub use termination::termination_message;

use super::{
    PodFault,
    config::ConfigObjects,
    environment::{Scope, command, declared},
    identity::PodIdentity,
    inherited::{Inherit, inherited},
    plugins::{self, Target},
    security::{Own, Security, security},
    shape::JobShape,
    template::{Container, PodTemplate},
};
use crate::{
    resources::Machine,
    task::LOG_LIMIT,
    volumes::{MountPlan, Mounted, VolumeOptions, folder_of, mounts, unreachable},
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
    /// The pod's folder.
    pub pod: PathBuf,
    /// The container's output.
    pub log: PathBuf,
    /// Its termination message.
    pub message: PathBuf,
}

impl Names {
    /// Names the files of a run of a container.
    pub fn new(folder: &str, container: &str, run: u32) -> Self {
        let pod = Path::new("pods").join(folder);
        let message = pod.join(format!("{container}.{run}.message"));
        Self {
            log: Path::new("logs")
                .join(folder)
                .join(format!("{container}.{run}.log")),
            message,
            pod,
        }
    }
}

/// Works out what a run of a container needs.
///
/// # Errors
///
/// A fault for each thing that can't be had here.
pub fn outfit(site: &Site, which: Which<'_>) -> Result<Outfit, Vec<PodFault>> {
    let Some((path, container)) = which.template.all_containers().nth(which.container) else {
        return Err(vec![PodFault::new(
            "spec.containers",
            format!("there is no container {}", which.container),
        )]);
    };
    let init = which.container < which.template.spec.init_containers.len();
    let names = Names::new(which.folder, &container.name, which.run);
    let scope = Scope {
        pod: which.pod,
        template: which.template,
        objects: &site.objects,
        machine: &site.machine,
    };
    let target = Target {
        task: which.task,
        index: which.index,
        init,
    };
    let declared = declared(scope, &path, container, &plugins::variables(which.job, target))?;
    let security = security(&which.template.spec, &path, container, site.own)?;
    let plan = MountPlan {
        options: &site.volumes,
        job: which.job,
        scope,
        pod_folder: &names.pod,
        container,
        path: &path,
        declared: &declared,
    };
    let mounts = mounts(plan)?;
    let message_path = container
        .termination_message_path
        .as_deref()
        .filter(|text| !text.is_empty());
    let message_path = PathBuf::from(message_path.unwrap_or("/dev/termination-log"));
    let mut outfit = Outfit {
        argv: command(container, &declared),
        cwd: working_folder(site, &path, container, &mounts)?,
        env: declared,
        mounts,
        security,
        message_path,
        names,
        isolate: site.isolate,
    };
    outfit.check_helper(site, &path)?;
    outfit.check_reach(site, &path)?;
    outfit.redirect(site, &path)?;
    outfit.complete_environment(site, which.pod);
    Ok(outfit)
}

fn working_folder(
    site: &Site,
    path: &str,
    container: &Container,
    mounts: &[Mounted],
) -> Result<PathBuf, Vec<PodFault>> {
    let Some(wanted) = container.working_dir.as_deref().filter(|text| !text.is_empty()) else {
        return Ok(site.work.clone());
    };
    let fault = |message| vec![PodFault::new(format!("{path}.workingDir"), message)];
    let folder = Path::new(wanted);
    if !folder.is_absolute()
        || folder
            .components()
            .any(|part| part == std::path::Component::ParentDir)
    {
        return Err(fault(format!("{wanted:?} is no absolute path without `..`")));
    }
    if site.isolate {
        return Ok(folder.to_owned());
    }
    folder_of(mounts, &site.run, folder).ok_or_else(|| {
        fault(format!("{wanted} is in no mount, and the image that has it isn't here: give it a folder with --map {wanted}=DIR"))
    })
}

impl Outfit {
    /// Where the files of this run are.
    pub fn names(&self) -> &Names {
        &self.names
    }

    fn check_helper(&self, site: &Site, path: &str) -> Result<(), Vec<PodFault>> {
        if !site.enter.is_empty() || !(self.isolate || self.security.no_new_privileges) {
            return Ok(());
        }
        let message =
            "needs a namespace or fewer rights, and the program that runs it has no way to give it those";
        Err(vec![PodFault::new(path, message)])
    }

    /// Without a namespace, a mount is not where the manifest says.
    fn check_reach(&self, site: &Site, path: &str) -> Result<(), Vec<PodFault>> {
        if self.isolate {
            return Ok(());
        }
        let texts: Vec<&str> = self
            .argv
            .iter()
            .chain(self.env.values())
            .map(String::as_str)
            .collect();
        let mut faults = Vec::new();
        for mounted in unreachable(&self.mounts, &site.run, &texts) {
            if redirect::is_svc(mounted) {
                continue;
            }
            let at = mounted.mount_path.display();
            let message = format!(
                "uses the absolute path {at}, which is elsewhere on this machine: set workingDir to {at} and use \
                 relative paths, or --map {at}={at} if it exists here, or run with --isolate"
            );
            faults.push(PodFault::new(format!("{path}.volumeMounts[{at}]"), message));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn complete_environment(&mut self, site: &Site, pod: &PodIdentity) {
        let (home, temporary) = match self.security.uid {
            None => (site.run.join("home"), site.run.join(&self.names.pod).join("tmp")),
            // The run's folder is private, and another user can't get into it.
            Some(_) => (PathBuf::from("/"), PathBuf::from("/tmp")),
        };
        let mut env = inherited(&site.own_environment, &site.inherit, &home, &temporary);
        env.insert("HOSTNAME".to_owned(), pod.name.clone());
        env.append(&mut self.env);
        self.env = env;
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
