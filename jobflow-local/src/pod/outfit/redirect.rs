//! Paths that must not be made on the machine: the termination message, and the files of the `svc` plugin.
//!
//! In a namespace they are where a manifest expects them. Without one they are replaced by the real ones in the command,
//! its arguments and its variables; and variables say where they are, for programs that a manifest only names.

use std::path::{Path, PathBuf};

use jobflow_k8s::fault::FieldPath;

use super::{Outfit, Site};
use crate::{
    pod::{PodFault, plugins::SVC_MOUNT},
    volumes::{Mounted, Source, mentions, redirected},
};

/// The variable that holds the real path of the termination message.
pub const TERMINATION_VARIABLE: &str = "JOBFLOW_TERMINATION_LOG";
/// The variable that holds the real path of the folder with the files of the `svc` plugin.
pub const SVC_VARIABLE: &str = "JOBFLOW_SVC_DIR";

struct Redirection {
    variable: &'static str,
    from: PathBuf,
    to: PathBuf,
}

/// Whether it is the folder of `svc`; one that the user maps there is the user's, and treated like any other.
pub(super) fn is_svc(mounted: &Mounted) -> bool {
    mounted.mount_path == Path::new(SVC_MOUNT) && matches!(mounted.source, Source::Files(..))
}

impl Outfit {
    /// Puts real paths in the place of those that are not there.
    pub(super) fn redirect(&mut self, site: &Site, path: &FieldPath) -> Result<(), Vec<PodFault>> {
        let mut faults = Vec::new();
        for redirection in self.redirections(site) {
            let Redirection { variable, from, to } = redirection;
            let to = to.to_string_lossy().into_owned();
            if !self.isolate && !self.redirect_texts(&from, &to) {
                let from = from.display();
                let message = format!(
                    "uses {from}, which is {to} here, and a shell would not read that as it stands: choose a state \
                     folder without spaces and signs (JOBFLOW_STATE_DIR), or run with --isolate"
                );
                faults.push(PodFault::new(path.field("command"), message));
            }
            self.env.insert(variable.to_owned(), to);
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn redirections(&self, site: &Site) -> Vec<Redirection> {
        let message = Redirection {
            variable: TERMINATION_VARIABLE,
            from: self.message_path.clone(),
            to: site.run.join(&self.names.message),
        };
        let svc = self.mounts.iter().find(|mounted| is_svc(mounted));
        let svc = svc.map(|mounted| Redirection {
            variable: SVC_VARIABLE,
            from: mounted.mount_path.clone(),
            to: mounted.real_path(&site.run),
        });
        std::iter::once(message).chain(svc).collect()
    }

    /// Replaces a path; false if the other one could mean something else to a shell.
    fn redirect_texts(&mut self, from: &Path, to: &str) -> bool {
        let texts = self.argv.iter_mut().chain(self.env.values_mut());
        let mut mentioning = texts.filter(|text| mentions(text, from)).peekable();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        if mentioning.peek().is_some() && !to.chars().all(plain) {
            return false;
        }
        for text in mentioning {
            *text = redirected(text, from, to);
        }
        true
    }
}
