//! From a Job to the tasks of its containers: everything that can be wrong with it here is told ahead, and each
//! container's task is made when it is its time.
//!
//! Comes in: a rendered Job, what the user allows, ConfigMaps and Secrets. Goes out: the pods of the Job as `host`
//! takes them, what they ask of the machine, tasks for the executor. Deliberately absent: deciding when what starts.

mod commands;
mod task;

use std::{
    collections::BTreeMap,
    env,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use cap_std::fs::Dir;
use jobflow_core::{Span, gang::PodKey};
use jobflow_k8s::{
    fault::FieldPath,
    job::{JobView, TaskView},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use commands::Owner;

use crate::{
    host::{ContainerPlan, PodPlan},
    pod::{
        PodFault,
        addresses::{Addresses, Range},
        config::ConfigObjects,
        identity::JobIdentity,
        inherited::Inherit,
        outfit::Site,
        security::Own,
        shape::JobShape,
        template::PodTemplate,
        template_path,
    },
    resources::{Amounts, Books, Machine, gang_request, pod_request},
    volumes::VolumeOptions,
};

/// The longest that a pod gets to end in order, whatever it asks for.
const LONGEST_GRACE: u32 = 24 * 3600;

/// What the user says about containers, for a whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KitSettings {
    /// Folders of the user's for claims and mount paths, and paths of the machine that `hostPath` may reach.
    pub volumes: VolumeOptions,
    /// Whether mounts appear at their paths, in a namespace of each task's own.
    pub isolate: bool,
    /// Commands in the place of tasks' own; images, and so the commands in them, aren't here.
    pub commands: Vec<CommandFor>,
    /// Variables that tasks get from whoever started the run.
    pub inherit: Inherit,
    /// Where a container without a `workingDir` starts, absolute; the folder of whoever started the run.
    pub work: PathBuf,
    /// The program and the arguments that lead to [`crate::enter::main`]; without them, containers that need it are
    /// refused.
    pub enter: Vec<String>,
}

/// A command in the place of a task's own, which is that of its first container.
///
/// One for an entry wins over one for all; a later one wins over an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandFor {
    /// The entry; all entries when absent.
    pub entry: Option<String>,
    /// The task.
    pub task: String,
    /// Run by `sh -c`.
    pub command: String,
}

impl Default for KitSettings {
    fn default() -> Self {
        Self {
            volumes: VolumeOptions::default(),
            isolate: false,
            commands: Vec::new(),
            inherit: Inherit::Named(Vec::new()),
            work: PathBuf::from("/"),
            enter: Vec::new(),
        }
    }
}

/// What is the same for all Jobs of a run.
#[derive(Debug)]
pub struct Kit {
    site: Arc<Site>,
    folder: Arc<OnceLock<Dir>>,
    commands: Vec<CommandFor>,
    books: Books<()>,
}

/// A Job that can be run here.
#[derive(Debug)]
pub struct Prepared {
    site: Arc<Site>,
    folder: Arc<OnceLock<Dir>>,
    shape: JobShape,
    templates: Vec<PodTemplate>,
    requests: Vec<Amounts>,
    minimum: Amounts,
}

impl Kit {
    /// Describes the run in a folder, which need not be there yet.
    #[must_use]
    pub fn new(
        folder: &Path,
        settings: &KitSettings,
        objects: ConfigObjects,
        machine: &Machine,
        ignore_resources: bool,
    ) -> Self {
        let own = Own {
            user: nix::unistd::geteuid().as_raw(),
            group: nix::unistd::getegid().as_raw(),
        };
        let mut site = Site::new(
            folder.to_owned(),
            settings.work.clone(),
            settings.enter.clone(),
            own,
        );
        site.objects = objects;
        site.machine = machine.clone();
        site.own_environment = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect::<BTreeMap<_, _>>();
        site.inherit = settings.inherit.clone();
        site.volumes = settings.volumes.clone();
        site.isolate = settings.isolate;
        Self {
            site: Arc::new(site),
            folder: Arc::default(),
            commands: settings.commands.clone(),
            books: Books::new(machine.clone(), ignore_resources),
        }
    }

    /// Works a Job out.
    ///
    /// # Errors
    ///
    /// Everything that can't be had here, each with its path from the root of the Job.
    pub fn prepare(
        &self,
        entry: &str,
        identity: JobIdentity,
        spec: &Map<String, Value>,
        view: &JobView,
    ) -> Result<Prepared, Vec<PodFault>> {
        let names: Vec<&str> = view.tasks.iter().map(|task| task.name.as_str()).collect();
        let mut faults = commands::strangers(&self.commands, entry, &names);
        let mut tasks = Vec::new();
        for (place, task) in view.tasks.iter().enumerate() {
            match self.task(entry, task) {
                Ok(task) => tasks.push(task),
                Err(more) => faults.extend(more.into_iter().map(|fault| fault.within(&template_path(place)))),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let (templates, requests): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
        let prepared = Prepared {
            minimum: minimum(view, &requests),
            site: Arc::clone(&self.site),
            folder: Arc::clone(&self.folder),
            shape: JobShape::read(spec, view, identity, Addresses::at_the_beginning_of(Range::FIRST))?,
            templates,
            requests,
        };
        faults.extend(prepared.faults());
        faults.extend(self.shortage(&prepared));
        if faults.is_empty() {
            Ok(prepared)
        } else {
            Err(faults)
        }
    }

    /// A task's template as it runs here, and what one pod of it asks for.
    fn task(&self, entry: &str, task: &TaskView) -> Result<(PodTemplate, Amounts), Vec<PodFault>> {
        let mut template = PodTemplate::read(&Value::Object(task.template.clone()))?;
        let owner = Owner {
            entry,
            task: &task.name,
        };
        commands::give(&self.commands, owner, &mut template);
        let mut faults = commands::missing(owner, &template);
        match pod_request(&template) {
            Ok(request) if faults.is_empty() => return Ok((template, request)),
            Ok(_) => {}
            Err(more) => faults.extend(more),
        }
        Err(faults)
    }

    /// A gang that is larger than the machine would wait for ever.
    fn shortage(&self, prepared: &Prepared) -> Option<PodFault> {
        let shortage = self.books.never_fits(&prepared.minimum)?;
        let message = format!(
            "the pods that must run together ask for {} of {}, and there is {}: give it more with {}, or don't count \
             with --ignore-resources",
            shortage.wanted,
            shortage.resource,
            shortage.total,
            match shortage.resource.as_str() {
                "cpu" => "--cpus N".to_owned(),
                "memory" => "--memory N".to_owned(),
                other => format!("--resources {other}=N"),
            }
        );
        let path = FieldPath::root().field("spec").field("minAvailable");
        Some(PodFault::new(path, message))
    }
}

impl Prepared {
    /// A pod of each task, as it lives.
    #[must_use]
    pub fn pods(&self) -> Vec<PodPlan> {
        self.templates.iter().map(pod_plan).collect()
    }

    /// Where a pod listens.
    #[must_use]
    pub fn address(&self, pod: PodKey, addresses: Addresses) -> Ipv4Addr {
        addresses.of(self.shape.number(pod.task as usize, pod.index))
    }

    /// The names of its tasks, in order.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.shape.tasks.iter().map(|task| task.name.as_str())
    }

    /// Whether a container of a task says that it listens at this port.
    #[must_use]
    pub fn declares(&self, task: usize, port: u16) -> bool {
        let containers = self.templates.get(task).map(|template| &template.spec.containers);
        let mut ports = containers
            .into_iter()
            .flatten()
            .flat_map(|container| &container.ports);
        ports.any(|declared| declared.container_port == port)
    }

    /// What one pod of each task asks for.
    #[must_use]
    pub fn requests(&self) -> &[Amounts] {
        &self.requests
    }

    /// What must be free before any pod starts.
    #[must_use]
    pub const fn minimum(&self) -> &Amounts {
        &self.minimum
    }
}

fn minimum(view: &JobView, requests: &[Amounts]) -> Amounts {
    let count = |number: i32| u32::try_from(number).unwrap_or(0);
    let tasks: Vec<(Amounts, u32, u32)> = view
        .tasks
        .iter()
        .zip(requests)
        .map(|(task, request)| (request.clone(), count(task.replicas), count(task.min_available)))
        .collect();
    gang_request(&tasks, count(view.min_available))
}

fn pod_plan(template: &PodTemplate) -> PodPlan {
    let spec = &template.spec;
    let named = |init: bool| {
        move |container: &crate::pod::template::Container| ContainerPlan {
            name: container.name.clone(),
            init,
            // What can't be looked at was told before.
            readiness: container
                .readiness(&FieldPath::root())
                .ok()
                .flatten()
                .filter(|_| !init),
        }
    };
    let grace = spec
        .termination_grace_period_seconds
        .unwrap_or(30)
        .min(LONGEST_GRACE);
    PodPlan {
        containers: spec
            .init_containers
            .iter()
            .map(named(true))
            .chain(spec.containers.iter().map(named(false)))
            .collect(),
        restart_policy: spec.restart_policy,
        deadline: spec
            .active_deadline_seconds
            .map(|seconds| Span::from_secs(u64::from(seconds))),
        grace: Duration::from_secs(u64::from(grace)),
    }
}

#[cfg(test)]
mod tests;
