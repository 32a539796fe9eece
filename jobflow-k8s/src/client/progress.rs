//! Whether a driver still hears from the server: what probes of liveness and readiness ask.

use std::sync::Arc;
use std::time::Duration;

use super::settings::Settings;
use super::watch::Beat;

/// The kinds that are watched, by their plural names.
pub(super) const WATCHED: [&str; 3] = ["jobflows", "jobs", "jobtemplates"];

/// What all watches of a driver have heard.
#[derive(Clone, Debug)]
pub struct Progress {
    beats: Arc<[(Option<String>, Arc<Beat>)]>,
}

impl Progress {
    /// A watch of each kind, in each namespace that is named, or one for all.
    pub(super) fn of(settings: &Settings) -> Self {
        let mut scopes: Vec<Option<String>> = settings.namespaces.iter().cloned().map(Some).collect();
        if scopes.is_empty() {
            scopes.push(None);
        }
        let each = scopes
            .iter()
            .flat_map(|scope| WATCHED.map(|resource| (scope.clone(), Arc::new(Beat::new(resource)))));
        Self {
            beats: each.collect(),
        }
    }

    pub(super) fn watches(&self) -> impl Iterator<Item = &(Option<String>, Arc<Beat>)> {
        self.beats.iter()
    }

    /// Whether every watch has shown a whole list, so that flows are run.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.beats.iter().all(|(_, beat)| beat.is_listed())
    }

    /// How long the quietest watch has heard nothing, and of what it is. A server sends a bookmark about once a
    /// minute; watches begin anew every five.
    #[must_use]
    pub fn silence(&self) -> (Duration, &'static str) {
        let beats = self
            .beats
            .iter()
            .map(|(_, beat)| (beat.silence(), beat.resource()));
        beats.max().unwrap_or((Duration::ZERO, ""))
    }
}
