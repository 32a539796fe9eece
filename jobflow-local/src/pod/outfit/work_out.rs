//! What a run of a container needs, worked out without a change to anything.

use std::path::{Component, Path, PathBuf};

use jobflow_k8s::fault::FieldPath;

use super::{Names, Outfit, Site, Which, redirect};
use crate::{
    pod::{
        PodFault,
        environment::{Scope, command, declared},
        identity::PodIdentity,
        inherited::inherited,
        plugins::{self, Target},
        security::security,
        template::Container,
        template_path,
    },
    volumes::{MountPlan, Mounted, folder_of, mounts, unreachable},
};

/// A container in its place, for faults.
#[derive(Clone, Copy)]
struct Placed<'a> {
    which: Which<'a>,
    container: &'a Container,
    /// From the root of the Job.
    path: &'a FieldPath,
}

/// Works out what a run of a container needs.
///
/// # Errors
///
/// A fault for each thing that can't be had here, with its path from the root of the Job.
pub fn outfit(site: &Site, which: Which<'_>) -> Result<Outfit, Vec<PodFault>> {
    let template = template_path(which.task);
    let Some((path, container)) = which.template.all_containers().nth(which.container) else {
        let message = format!("there is no container {}", which.container);
        return Err(vec![PodFault::new(template, message)]);
    };
    let path = &template.join(&path);
    let placed = Placed {
        which,
        container,
        path,
    };
    let mut outfit = parts(site, placed, &template.field("spec"))?;
    let mut faults = Vec::new();
    outfit.cwd = keep(working_folder(site, placed, &outfit.mounts), &mut faults);
    keep(outfit.check_helper(site, path), &mut faults);
    keep(outfit.check_reach(site, placed), &mut faults);
    keep(outfit.redirect(site, path), &mut faults);
    outfit.complete_environment(site, which.pod);
    if faults.is_empty() {
        Ok(outfit)
    } else {
        Err(faults)
    }
}

/// The parts that can be wrong each by itself; its working folder follows from them.
fn parts(site: &Site, placed: Placed<'_>, pod: &FieldPath) -> Result<Outfit, Vec<PodFault>> {
    let Placed {
        which,
        container,
        path,
    } = placed;
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
        init: which.container < which.template.spec.init_containers.len(),
    };
    let mut faults = Vec::new();
    let given = plugins::variables(which.job, target);
    let declared = keep(declared(scope, path, container, &given), &mut faults);
    let security = security(&which.template.spec, (pod, path), container, site.own);
    let security = keep(security, &mut faults);
    let plan = MountPlan {
        options: &site.volumes,
        job: which.job,
        scope,
        pod_folder: &names.pod,
        container,
        path,
        declared: &declared,
    };
    let mounts = keep(mounts(plan), &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let message_path = container.termination_message_path.as_deref();
    let message_path = message_path.filter(|text| !text.is_empty());
    Ok(Outfit {
        argv: command(container, &declared),
        env: declared,
        cwd: PathBuf::new(),
        mounts,
        security,
        message_path: PathBuf::from(message_path.unwrap_or("/dev/termination-log")),
        names,
        isolate: site.isolate,
    })
}

/// Takes the value, or its faults.
fn keep<T: Default>(result: Result<T, Vec<PodFault>>, faults: &mut Vec<PodFault>) -> T {
    result.unwrap_or_else(|more| {
        faults.extend(more);
        T::default()
    })
}

fn working_folder(site: &Site, placed: Placed<'_>, mounts: &[Mounted]) -> Result<PathBuf, Vec<PodFault>> {
    let wanted = placed.container.working_dir.as_deref();
    let Some(wanted) = wanted.filter(|text| !text.is_empty()) else {
        return Ok(site.work.clone());
    };
    let fault = |message| vec![PodFault::new(placed.path.field("workingDir"), message)];
    let folder = Path::new(wanted);
    if !folder.is_absolute() || folder.components().any(|part| part == Component::ParentDir) {
        return Err(fault(format!("{wanted:?} is no absolute path without `..`")));
    }
    if site.isolate {
        return Ok(folder.to_owned());
    }
    folder_of(mounts, &site.run, folder).ok_or_else(|| {
        fault(format!(
            "{wanted} is in no mount, and the image that has it isn't here: give it a folder with --map {wanted}=DIR"
        ))
    })
}

impl Placed<'_> {
    /// Where it is said that something is mounted at a path.
    fn field_of(self, mounted: &Mounted) -> FieldPath {
        let is_it = |path: &str| Path::new(path) == mounted.mount_path;
        let own = &self.container.volume_mounts;
        let own = own.iter().position(|mount| is_it(&mount.mount_path));
        let of_job = &self.which.job.volumes;
        let of_job = of_job.iter().position(|volume| is_it(&volume.mount_path));
        match (own, of_job) {
            (Some(index), _) => self.path.field("volumeMounts").index(index),
            (None, Some(index)) => FieldPath::root().field("spec").field("volumes").index(index),
            (None, None) => self.path.field("command"),
        }
    }
}

impl Outfit {
    fn check_helper(&self, site: &Site, path: &FieldPath) -> Result<(), Vec<PodFault>> {
        if !site.enter.is_empty() || !(self.isolate || self.security.no_new_privileges) {
            return Ok(());
        }
        let message =
            "needs a namespace or fewer rights, and the program that runs it has no way to give it those";
        Err(vec![PodFault::new(path.clone(), message)])
    }

    /// Without a namespace, a mount is not where the manifest says.
    fn check_reach(&self, site: &Site, placed: Placed<'_>) -> Result<(), Vec<PodFault>> {
        if self.isolate {
            return Ok(());
        }
        let texts = self.argv.iter().chain(self.env.values());
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        let elsewhere = unreachable(&self.mounts, &site.run, &texts);
        let fault = |mounted: &Mounted| {
            let at = mounted.mount_path.display();
            let name = &placed.container.name;
            let message = format!(
                "container `{name}` uses the absolute path {at}, which is elsewhere on this machine: set workingDir to \
                 {at} and use relative paths, or --map {at}={at} if it exists here, or run with --isolate"
            );
            PodFault::new(placed.field_of(mounted), message)
        };
        let not_redirected = elsewhere.into_iter().filter(|mounted| !redirect::is_svc(mounted));
        let faults: Vec<PodFault> = not_redirected.map(fault).collect();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn complete_environment(&mut self, site: &Site, pod: &PodIdentity) {
        let (home, temporary) = match self.security.uid {
            None => (site.run.join("home"), site.run.join(&self.names.temporary)),
            // The run's folder is private, and another user can't get into it.
            Some(_) => (PathBuf::from("/"), PathBuf::from("/tmp")),
        };
        let mut env = inherited(&site.own_environment, &site.inherit, &home, &temporary);
        env.insert("HOSTNAME".to_owned(), pod.name.clone());
        env.append(&mut self.env);
        self.env = env;
    }
}
