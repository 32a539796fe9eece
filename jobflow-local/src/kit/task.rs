//! The task of one life of one container.

use std::{collections::BTreeSet, path::PathBuf};

use cap_std::{ambient_authority, fs::Dir};

use super::Prepared;
use crate::{
    host::ContainerKey,
    pod::{
        PodFault,
        addresses::Addresses,
        identity::{PodIdentity, PodPlace},
        outfit::{Names, Outfit, Which, outfit},
        shape::JobShape,
        template::PodTemplate,
    },
    task::{LOG_LIMIT, TaskSpec},
};

impl Prepared {
    /// Everything that is wrong with the first pod of each task; the others differ in nothing that can be wrong.
    pub(super) fn faults(&self) -> Vec<PodFault> {
        let mut faults = Vec::new();
        for (task, template) in self.templates.iter().enumerate() {
            let pod = self.pod(&self.shape, task, 0, 0, 0);
            for container in 0..template.all_containers().count() {
                let which = Which {
                    job: &self.shape,
                    template,
                    pod: &pod,
                    folder: "check",
                    task,
                    index: 0,
                    container,
                    run: 0,
                };
                if let Err(more) = outfit(&self.site, which) {
                    faults.extend(more);
                }
            }
        }
        // A fault of the Job's own volumes is one of each container.
        let mut seen = BTreeSet::new();
        faults.retain(|fault| seen.insert(fault.clone()));
        faults
    }

    /// The task of one life of one container; its folders are made. What can't be made becomes a task that can't
    /// start and says why, so that the container fails as one whose command isn't there.
    #[must_use]
    pub fn task(&self, key: ContainerKey, version: u32, retry_count: u32, addresses: Addresses) -> TaskSpec {
        let folder = folder_of(&self.shape, key);
        match self.laid_out(key, &folder, version, retry_count, addresses) {
            Ok(spec) => spec,
            Err(message) => broken(&message, &folder, key.run),
        }
    }

    /// A command beside a container's own, with everything around it the same.
    ///
    /// # Errors
    ///
    /// Why it can't be run, in words.
    pub fn command(
        &self,
        key: ContainerKey,
        command: &[String],
        state: (u32, u32),
        addresses: Addresses,
    ) -> Result<TaskSpec, String> {
        let task = key.pod.task as usize;
        let mut template = self.templates.get(task).ok_or("there is no such task")?.clone();
        let spec = &mut template.spec;
        let mut containers = spec.init_containers.iter_mut().chain(&mut spec.containers);
        let container = containers
            .nth(key.container as usize)
            .ok_or("there is no such container")?;
        // Only a container's own command has references to variables; a `$` stands for itself here.
        container.command = command.iter().map(|word| word.replace('$', "$$")).collect();
        container.args = Vec::new();
        self.laid_out_as(&template, key, &folder_of(&self.shape, key), state, addresses)
    }

    fn laid_out(
        &self,
        key: ContainerKey,
        folder: &str,
        version: u32,
        retry_count: u32,
        addresses: Addresses,
    ) -> Result<TaskSpec, String> {
        let template = self.templates.get(key.pod.task as usize);
        let template = template.ok_or("there is no such task")?;
        self.laid_out_as(template, key, folder, (version, retry_count), addresses)
    }

    fn laid_out_as(
        &self,
        template: &PodTemplate,
        key: ContainerKey,
        folder: &str,
        (version, retry_count): (u32, u32),
        addresses: Addresses,
    ) -> Result<TaskSpec, String> {
        let task = key.pod.task as usize;
        let shape = JobShape {
            addresses,
            ..self.shape.clone()
        };
        let pod = self.pod(&shape, task, key.pod.index, version, retry_count);
        let which = Which {
            job: &shape,
            template,
            pod: &pod,
            folder,
            task,
            index: key.pod.index,
            container: key.container as usize,
            run: key.run,
        };
        let outfit: Outfit = outfit(&self.site, which).map_err(|faults| {
            faults
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")
        })?;
        let spec = outfit.lay_out(&self.site, self.dir()?);
        spec.map_err(|error| format!("{error}: {:?}", std::error::Error::source(&error)))
    }

    fn dir(&self) -> Result<&Dir, String> {
        if let Some(dir) = self.folder.get() {
            return Ok(dir);
        }
        let opened = Dir::open_ambient_dir(&self.site.run, ambient_authority());
        let dir = opened.map_err(|error| format!("cannot open the run's folder: {error}"))?;
        Ok(self.folder.get_or_init(|| dir))
    }

    fn pod(&self, shape: &JobShape, task: usize, index: u32, version: u32, retry_count: u32) -> PodIdentity {
        let template = &self.templates[task];
        let name = shape.tasks.get(task).map_or("", |task| task.name.as_str());
        PodIdentity::new(
            &shape.identity,
            PodPlace {
                task: name,
                index,
                version,
                retry_count,
            },
            &template.metadata,
            shape.addresses.of(shape.number(task, index)),
            "localhost",
            template.spec.service_account_name.as_deref(),
        )
    }
}

/// A name that no other pod of the run has: `NODE-INSTANCE-ATTEMPT.TASK-REPLICA-INCARNATION`.
fn folder_of(shape: &JobShape, key: ContainerKey) -> String {
    let task = shape
        .tasks
        .get(key.pod.task as usize)
        .map_or("", |task| task.name.as_str());
    let plain =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    let task: String = task.chars().filter(|character| plain(*character)).collect();
    format!(
        "{}-{}-{}.{task}-{}-{}",
        key.job.node.0, key.job.index, key.job.attempt, key.pod.index, key.pod.incarnation
    )
}

/// A command that can't be started: its name is the message.
fn broken(message: &str, folder: &str, run: u32) -> TaskSpec {
    TaskSpec {
        argv: vec![format!("/dev/null/{message}")],
        env: Vec::new(),
        cwd: PathBuf::from("/"),
        log: Names::new(folder, "jobflow", run).log,
        log_limit: LOG_LIMIT,
        umask: None,
        uid: None,
        gid: None,
    }
}
