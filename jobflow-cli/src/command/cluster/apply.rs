//! `kubectl jobflow apply`: all or nothing, as far as a server lets itself be asked before.

use crate::arguments::cluster::{ApplyArguments, Connection, DryRun, NameFormat};
use crate::cluster::Cluster;
use crate::cluster::sending::{self, misaddressed};
use jobflow_k8s::extensions::Extensions;

use crate::console::Console;
use crate::diagnose;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifests::Manifests;

/// Applies manifests.
pub(crate) async fn run(
    arguments: &ApplyArguments,
    connection: &Connection,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let files: Vec<_> = arguments
        .manifests
        .iter()
        .chain(&arguments.filename)
        .cloned()
        .collect();
    let mut manifests = Manifests::read(&files)?;
    manifests.check(extensions);
    let misplaced = misaddressed(&manifests.documents, connection.namespace.as_deref());
    manifests.add(misplaced);
    refuse(&manifests, console)?;
    let sending = Sending {
        dry_run: arguments.dry_run,
        force: arguments.force_conflicts,
        output: Some(arguments.output),
    };
    let wanted: Vec<usize> = (0..manifests.documents.len()).collect();
    sending.send(&mut manifests, &wanted, connection, console).await?;
    Ok(Exit::Succeeded)
}

/// Tells the faults; ends if one of them is an error.
pub(super) fn refuse(manifests: &Manifests, console: &mut Console) -> Result<(), Failure> {
    diagnose::tell(manifests, console);
    match manifests.has_errors() {
        true => Err(Failure::Told(Exit::WrongInput)),
        false => Ok(()),
    }
}

/// How manifests are sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    /// Who only looks.
    pub(super) dry_run: Option<DryRun>,
    /// Whether fields of others are taken over.
    pub(super) force: bool,
    /// How it is told what became of each; not at all without.
    pub(super) output: Option<NameFormat>,
}

impl Sending {
    /// Sends some of the documents, which are without errors; answers the cluster that was asked, if one was.
    pub(super) async fn send(
        self,
        manifests: &mut Manifests,
        wanted: &[usize],
        connection: &Connection,
        console: &mut Console,
    ) -> Result<Option<Cluster>, Failure> {
        if self.dry_run == Some(DryRun::Client) {
            self.only_say(manifests, wanted, console)?;
            return Ok(None);
        }
        let cluster = Cluster::reach(connection).await?;
        let documents: Vec<_> = wanted
            .iter()
            .filter_map(|at| manifests.documents.get(*at).cloned())
            .collect();
        let parcels = match sending::addressed(&documents, &cluster).await? {
            Ok(parcels) => parcels,
            Err(faults) => return Err(told(faults, manifests, console)),
        };
        let versions = match sending::check(&parcels, self.force, &cluster).await? {
            Ok(versions) => versions,
            Err(faults) => return Err(told(faults, manifests, console)),
        };
        for (parcel, version) in parcels.iter().zip(&versions) {
            let done = match self.dry_run {
                Some(_) if version.is_none() => "would be created",
                Some(_) => "would be configured",
                None => match sending::apply(parcel, version.as_deref(), self.force, &cluster).await? {
                    Ok(done) => done.word(),
                    Err(faults) => return Err(told(faults, manifests, console)),
                },
            };
            self.say(&parcel.title(), done, console)?;
        }
        Ok(Some(cluster))
    }

    fn only_say(self, manifests: &Manifests, wanted: &[usize], console: &mut Console) -> Result<(), Failure> {
        for document in wanted.iter().filter_map(|at| manifests.documents.get(*at)) {
            let Some(key) = document.key() else { continue };
            let kind = key.kind.to_ascii_lowercase();
            let title = match key.group.as_str() {
                "" => format!("{kind}/{}", key.name),
                group => format!("{kind}.{group}/{}", key.name),
            };
            self.say(&title, "would be applied", console)?;
        }
        Ok(())
    }

    fn say(self, title: &str, done: &str, console: &mut Console) -> Result<(), Failure> {
        let title = escape::terminal(title);
        console.data(&match self.output {
            Some(NameFormat::Text) => format!("{title} {done}\n"),
            Some(NameFormat::Name) => format!("{title}\n"),
            None => return Ok(()),
        })?;
        console.flush()
    }
}

fn told(faults: Vec<jobflow_k8s::fault::Fault>, manifests: &mut Manifests, console: &mut Console) -> Failure {
    // Warnings were told before.
    manifests.faults.clear();
    manifests.add(faults);
    diagnose::tell(manifests, console);
    Failure::Told(Exit::WrongInput)
}
