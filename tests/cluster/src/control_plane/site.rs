//! Where a control plane lives: its folder, ports, keys, users and process group, before and between its programs.

use std::fs;
use std::path::{Path, PathBuf};

use kube::Client;

use crate::arguments::{self, Setting};
use crate::binaries::Binaries;
use crate::certificates::Certificates;
use crate::fault::Fault;
use crate::group::Group;
use crate::kubeconfig;
use crate::options::Options;
use crate::ports::Ports;
use crate::program::Program;
use crate::users::{Tokens, User};

/// Everything of a control plane but its programs.
#[derive(Debug)]
pub(super) struct Site {
    options: Options,
    binaries: Binaries,
    folder: PathBuf,
    ports: Ports,
    certificates: Certificates,
    group: Group,
}

impl Site {
    /// Prepares a folder of its own.
    pub(super) fn new(options: Options, binaries: Binaries) -> Result<Self, Fault> {
        let folder = folder()?;
        let removed = (!options.keeps_folder()).then_some(folder.as_path());
        let group = Group::new(removed).map_err(|source| Fault::Spawn {
            program: "/bin/sh".to_owned(),
            source,
        })?;
        let ports = Ports::find()?;
        let certificates = Certificates::make(&folder)?;
        let tokens = Tokens::new().map_err(Fault::file("/dev/urandom"))?;
        let file = folder.join("tokens.csv");
        fs::write(&file, tokens.file()).map_err(Fault::file(&file))?;
        let url = format!("https://127.0.0.1:{}", ports.api_server);
        kubeconfig::write(&folder, &url, &certificates, &tokens)?;
        Ok(Self {
            options,
            binaries,
            folder,
            ports,
            certificates,
            group,
        })
    }

    pub(super) fn start_etcd(&self) -> Result<Program, Fault> {
        self.start("etcd", &self.binaries.etcd(), arguments::etcd)
    }

    pub(super) fn start_api_server(&self) -> Result<Program, Fault> {
        self.start(
            "kube-apiserver",
            &self.binaries.kube_apiserver(),
            arguments::api_server,
        )
    }

    pub(super) fn start_controller_manager(&self) -> Result<Program, Fault> {
        let path = self.binaries.kube_controller_manager();
        self.start("kube-controller-manager", &path, arguments::controller_manager)
    }

    fn start(
        &self,
        name: &'static str,
        path: &Path,
        arguments: fn(&Setting<'_>) -> Vec<String>,
    ) -> Result<Program, Fault> {
        let setting = Setting {
            folder: &self.folder,
            ports: self.ports,
            certificates: &self.certificates,
            tokens: &self.folder.join("tokens.csv"),
            admin: &kubeconfig::path(&self.folder, User::Admin),
            options: &self.options,
        };
        Program::start(&self.group, name, path, &arguments(&setting), &self.folder)
    }

    pub(super) async fn client(&self, user: User) -> Result<Client, Fault> {
        super::client(&kubeconfig::path(&self.folder, user)).await
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    pub(super) const fn ports(&self) -> Ports {
        self.ports
    }
}

/// Readable for its owner only, since tokens are in it.
fn folder() -> Result<PathBuf, Fault> {
    let folder = tempfile::Builder::new().prefix("jobflow-cluster-").tempdir();
    Ok(folder.map_err(Fault::file(std::env::temp_dir()))?.keep())
}
