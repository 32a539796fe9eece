//! The programs of the control plane, built once a machine from the Go modules beside this crate.
//!
//! Comes in: nothing but the machine. Goes out: paths of programs that are whole. Deliberately absent: downloads of
//! finished programs, and any cleaning up of older versions.

mod build;
mod module;

use std::path::{Path, PathBuf};

pub use build::BuildFault;
pub use module::{ETCD_VERSION, HELM_VERSION, KUBERNETES_VERSION};

/// Where the programs are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    kubernetes: PathBuf,
    etcd: PathBuf,
}

impl Binaries {
    /// Finds the programs in the cache, and builds those that are missing: minutes, the first time on a machine.
    ///
    /// # Errors
    ///
    /// If `go` is missing, a build fails, or the cache can't be written.
    pub fn ready() -> Result<Self, BuildFault> {
        Self::ready_in(&cache()?)
    }

    /// The same in another cache.
    ///
    /// # Errors
    ///
    /// As for [`Binaries::ready`].
    pub fn ready_in(cache: &Path) -> Result<Self, BuildFault> {
        Ok(Self {
            etcd: build::ready(&module::ETCD, cache)?,
            kubernetes: build::ready(&module::KUBERNETES, cache)?,
        })
    }

    /// The program etcd.
    #[must_use]
    pub fn etcd(&self) -> PathBuf {
        self.etcd.join("etcd")
    }

    /// The API server.
    #[must_use]
    pub fn kube_apiserver(&self) -> PathBuf {
        self.kubernetes.join("kube-apiserver")
    }

    /// The controllers of Kubernetes.
    #[must_use]
    pub fn kube_controller_manager(&self) -> PathBuf {
        self.kubernetes.join("kube-controller-manager")
    }

    /// `kubectl` of the same version.
    #[must_use]
    pub fn kubectl(&self) -> PathBuf {
        self.kubernetes.join("kubectl")
    }
}

/// Helm, for tests of the chart: not part of a control plane, and built when it is first asked for.
///
/// # Errors
///
/// As for [`Binaries::ready`].
pub fn helm() -> Result<PathBuf, BuildFault> {
    let folder = build::ready(&module::HELM, &cache()?)?;
    Ok(folder.join("helm"))
}

/// `$XDG_CACHE_HOME/jobflow`, or `~/.cache/jobflow`.
fn cache() -> Result<PathBuf, BuildFault> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::home_dir().map(|home| home.join(".cache"));
    let base = named.filter(|path| path.is_absolute()).or(home);
    Ok(base.ok_or(BuildFault::NoCache)?.join("jobflow"))
}
