//! A running control plane: its start, the same for a whole test binary, and what may be done to it.

mod site;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};

use crate::binaries::Binaries;
use crate::fault::Fault;
use crate::options::Options;
use crate::program::Program;
use crate::users::User;
use crate::{etcd, install, kubeconfig, namespace, ready, rights};
use site::Site;

/// How often ports are looked for anew when others were faster.
const TRIES: usize = 3;

/// etcd, an API server and Kubernetes' controllers, with the definitions of jobflow and of Volcano's kinds.
///
/// Ends when it is dropped, or when this process ends by whatever cause.
#[derive(Debug)]
pub struct ControlPlane {
    etcd: Program,
    api_server: Program,
    controller_manager: Program,
    /// Last, since it holds the group that the programs are in.
    site: Site,
}

impl ControlPlane {
    /// Starts one: about six seconds, and minutes more the first time on a machine, when its programs are built.
    ///
    /// # Errors
    ///
    /// If the programs can't be built, or one of them doesn't become ready; the fault shows the end of its log.
    pub fn start(options: Options) -> Result<Self, Fault> {
        let binaries = Binaries::ready()?;
        let mut tried = 1;
        loop {
            match Self::try_start(options.clone(), binaries.clone()) {
                Err(fault) if fault.is_taken_port() && tried < TRIES => tried += 1,
                result => return result,
            }
        }
    }

    /// The one that all tests of this process share, started by the first of them.
    ///
    /// # Errors
    ///
    /// As for [`ControlPlane::start`], the same for all.
    pub fn shared() -> Result<&'static Self, &'static Fault> {
        static SHARED: OnceLock<Result<ControlPlane, Fault>> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(Options::default())).as_ref()
    }

    fn try_start(options: Options, binaries: Binaries) -> Result<Self, Fault> {
        let site = Site::new(options, binaries)?;
        let mut etcd = site.start_etcd()?;
        let mut api_server = site.start_api_server()?;
        ready::block_on(async {
            let client = site.client(User::Admin).await?;
            ready::api_server(&client, &mut [&mut etcd, &mut api_server]).await?;
            install::definitions(&client).await?;
            rights::install(&client).await
        })??;
        let controller_manager = site.start_controller_manager()?;
        Ok(Self {
            etcd,
            api_server,
            controller_manager,
            site,
        })
    }

    /// Fails if one of the programs has ended.
    ///
    /// # Errors
    ///
    /// The first that has, and the end of its log.
    pub fn check(&mut self) -> Result<(), Fault> {
        let programs = [&mut self.etcd, &mut self.api_server, &mut self.controller_manager];
        programs.into_iter().try_for_each(Program::check)
    }

    /// Kills the API server where it stands and leaves it dead; what it said it stored is stored.
    pub fn stop_api_server(&mut self) {
        self.api_server.kill();
    }

    /// Starts an API server that was stopped, at the same address.
    ///
    /// # Errors
    ///
    /// If it doesn't become ready.
    pub fn start_api_server(&mut self) -> Result<(), Fault> {
        self.api_server = self.site.start_api_server()?;
        let (site, etcd, api_server) = (&self.site, &mut self.etcd, &mut self.api_server);
        ready::block_on(async {
            let client = site.client(User::Admin).await?;
            ready::api_server(&client, &mut [etcd, api_server]).await
        })?
    }

    /// Kills the API server and starts it again: watches break, and its memory of past changes is gone.
    ///
    /// # Errors
    ///
    /// If it doesn't become ready.
    pub fn restart_api_server(&mut self) -> Result<(), Fault> {
        self.stop_api_server();
        self.start_api_server()
    }

    /// Makes etcd forget all changes but the last of each object; answers its revision. The API server still remembers
    /// recent ones: after a restart too, a watch from an old resource version is answered by 410.
    ///
    /// # Errors
    ///
    /// If etcd refuses.
    pub async fn compact_etcd(&self) -> Result<i64, Fault> {
        etcd::compact(self.site.ports().etcd).await
    }

    /// Puts the definitions of JobFlow and JobTemplate that a cluster has from Volcano in the place of ours.
    ///
    /// # Errors
    ///
    /// If the API server refuses one.
    pub async fn put_back_volcanos_definitions(&self) -> Result<(), Fault> {
        install::folder(
            &self.client(User::Admin).await?,
            &install::volcanos_flow_definitions(),
        )
        .await
    }

    /// Installs our definitions again.
    ///
    /// # Errors
    ///
    /// If the API server refuses one.
    pub async fn put_back_our_definitions(&self) -> Result<(), Fault> {
        install::folder(&self.client(User::Admin).await?, &install::our_definitions()).await
    }

    /// Applies every object of a file of manifests, or of a folder of them, as the administrator. Objects without a
    /// namespace go into `namespace` if their kind has one.
    ///
    /// # Errors
    ///
    /// If a file can't be read, or the API server refuses an object.
    pub async fn apply(&self, path: &Path, namespace: &str) -> Result<(), Fault> {
        install::apply(&self.client(User::Admin).await?, path, namespace).await
    }

    /// Makes a namespace that nothing else uses, whose name begins with `prefix`.
    ///
    /// # Errors
    ///
    /// If the API server refuses it, or its service account doesn't come.
    pub async fn namespace(&self, prefix: &str) -> Result<String, Fault> {
        namespace::make(&self.client(User::Admin).await?, prefix).await
    }

    /// Gives a user the rights of a tenant in a namespace.
    ///
    /// # Errors
    ///
    /// If the API server refuses it.
    pub async fn grant(&self, user: User, namespace: &str) -> Result<(), Fault> {
        rights::grant(&self.client(User::Admin).await?, user, namespace).await
    }

    /// A new client. Each test needs one of its own: it lives in the runtime that made it.
    ///
    /// # Errors
    ///
    /// If the kubeconfig can't be read any more.
    pub async fn client(&self, user: User) -> Result<Client, Fault> {
        self.site.client(user).await
    }

    /// The kubeconfig of a user, for programs.
    #[must_use]
    pub fn kubeconfig(&self, user: User) -> PathBuf {
        kubeconfig::path(self.site.folder(), user)
    }

    /// The folder with the logs, as `kube-apiserver.log`; gone with the control plane unless it is to be kept.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.site.folder()
    }

    /// The programs, `kubectl` among them.
    #[must_use]
    pub fn binaries(&self) -> &Binaries {
        self.site.binaries()
    }

    /// Process ids of etcd, the API server and the controller manager, as they are now.
    #[must_use]
    pub fn processes(&self) -> [u32; 3] {
        [&self.etcd, &self.api_server, &self.controller_manager].map(Program::id)
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        for program in [&mut self.controller_manager, &mut self.api_server, &mut self.etcd] {
            program.kill();
        }
    }
}

/// A client that speaks as the user of a kubeconfig.
async fn client(path: &Path) -> Result<Client, Fault> {
    let config = Kubeconfig::read_from(path)?;
    let config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?;
    Client::try_from(config).map_err(Fault::api("making a client"))
}
