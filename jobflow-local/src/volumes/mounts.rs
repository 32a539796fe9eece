//! All that one container sees: its own mounts, its Job's volumes, the files of `svc`, and what the user maps.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use jobflow_k8s::fault::FieldPath;

use super::{
    Mounted, Source, VolumeFile, VolumeOptions,
    source::{absolute, claim, plain, relative, source},
};
use crate::pod::{
    PodFault,
    environment::Scope,
    expansion::expand,
    plugins,
    shape::{JobShape, JobVolume},
    template::{Container, VolumeMount},
};

/// What the mounts of a container are worked out from.
#[derive(Clone, Copy, Debug)]
pub struct MountPlan<'a> {
    /// What the user allows and asks for.
    pub options: &'a VolumeOptions,
    /// The Job.
    pub job: &'a JobShape,
    /// The pod.
    pub scope: Scope<'a>,
    /// The pod's own folder, below the run's.
    pub pod_folder: &'a Path,
    /// The container.
    pub container: &'a Container,
    /// Its path from the root of the Job, for faults.
    pub path: &'a FieldPath,
    /// Its declared variables, for `subPathExpr`.
    pub declared: &'a BTreeMap<String, String>,
}

impl MountPlan<'_> {
    pub(super) fn mapped(&self, name: &str) -> Option<&Path> {
        let mut maps = self.options.maps.iter();
        maps.find(|(from, _)| from == name)
            .map(|(_, folder)| folder.as_path())
    }
}

/// Works out what a container sees where.
///
/// # Errors
///
/// A fault for each mount that can't be.
pub fn mounts(plan: MountPlan<'_>) -> Result<Vec<Mounted>, Vec<PodFault>> {
    let mut found = Found::default();
    for (index, volume) in plan.job.volumes.iter().enumerate() {
        found.take(
            FieldPath::root().field("spec").field("volumes").index(index),
            job_volume(&plan, index, volume),
        );
    }
    for (index, mount) in plan.container.volume_mounts.iter().enumerate() {
        found.take(
            plan.path.field("volumeMounts").index(index),
            own_mount(&plan, mount),
        );
    }
    found.add_svc(&plan);
    found.add_maps(&plan);
    if found.faults.is_empty() {
        Ok(found.mounts.into_values().collect())
    } else {
        Err(found.faults)
    }
}

#[derive(Default)]
struct Found {
    mounts: BTreeMap<PathBuf, Mounted>,
    faults: Vec<PodFault>,
}

impl Found {
    fn take(&mut self, path: FieldPath, mounted: Result<Mounted, String>) {
        match mounted {
            Ok(mounted) => drop(self.mounts.insert(mounted.mount_path.clone(), mounted)),
            Err(message) => self.faults.push(PodFault::new(path, message)),
        }
    }

    fn add_svc(&mut self, plan: &MountPlan<'_>) {
        let Some(files) = plugins::files(plan.job) else {
            return;
        };
        let file = |(name, text): (String, String)| {
            (
                PathBuf::from(name),
                VolumeFile {
                    content: text.into_bytes(),
                    mode: 0o644,
                },
            )
        };
        let folder =
            plain(&plan.job.identity.name).map(|job| Path::new("volumes/jobs").join(job).join("svc"));
        let mounted = folder.map(|folder| Mounted {
            mount_path: plugins::SVC_MOUNT.into(),
            source: Source::Files(folder, files.into_iter().map(file).collect()),
            sub_path: PathBuf::new(),
            read_only: true,
        });
        self.take(FieldPath::root().field("metadata").field("name"), mounted);
    }

    /// A path that the user maps is there in every container, whatever the manifest says about it.
    fn add_maps(&mut self, plan: &MountPlan<'_>) {
        for (from, folder) in plan.options.maps.iter().filter(|(from, _)| from.starts_with('/')) {
            let Ok(mount_path) = absolute(from) else { continue };
            let source = Source::User(folder.clone());
            let read_only = self
                .mounts
                .get(&mount_path)
                .is_some_and(|mounted| mounted.read_only);
            let mounted = Mounted {
                mount_path: mount_path.clone(),
                source,
                sub_path: PathBuf::new(),
                read_only,
            };
            self.mounts.insert(mount_path, mounted);
        }
    }
}

fn job_volume(plan: &MountPlan<'_>, index: usize, volume: &JobVolume) -> Result<Mounted, String> {
    let source = match (volume.volume_claim_name.as_str(), &volume.volume_claim) {
        ("", Some(_)) => {
            let job = plain(&plan.job.identity.name)?;
            Source::Folder(Path::new("volumes/jobs").join(job).join(index.to_string()))
        }
        ("", None) => Source::Folder(plan.pod_folder.join("volumes").join(format!("job-{index}"))),
        (name, _) => claim(plan, name)?,
    };
    let mount_path = absolute(&volume.mount_path)?;
    Ok(Mounted {
        mount_path,
        source,
        sub_path: PathBuf::new(),
        read_only: false,
    })
}

fn own_mount(plan: &MountPlan<'_>, mount: &VolumeMount) -> Result<Mounted, String> {
    let mount_path = absolute(&mount.mount_path)?;
    // Mapped away: what the volume is does not matter then.
    let is_mapped = plan.mapped(&mount.mount_path).is_some();
    let volumes = &plan.scope.template.spec.volumes;
    let volume = volumes.iter().find(|volume| volume.name == mount.name);
    let source = match volume {
        _ if is_mapped => Source::Folder(PathBuf::new()),
        Some(volume) => source(plan, volume)?,
        None => return Err(format!("there is no volume `{}`", mount.name)),
    };
    let sub_path = match (&mount.sub_path, &mount.sub_path_expr) {
        (_, Some(text)) => expand(text, |name| plan.declared.get(name).map(String::as_str)),
        (Some(text), None) => text.clone(),
        (None, None) => String::new(),
    };
    let sub_path = relative(&sub_path)?;
    Ok(Mounted {
        mount_path,
        source,
        sub_path,
        read_only: mount.read_only == Some(true),
    })
}
