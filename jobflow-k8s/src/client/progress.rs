//! Whether a driver still hears from the server: what probes of liveness and readiness ask.

use std::sync::Arc;
use std::time::Duration;

use super::settings::Settings;
use super::watch::Beat;

/// The kinds that are watched in each namespace, by their plural names; pods only where they are wished for.
const WATCHED: [&str; 4] = ["jobflows", "jobs", "jobtemplates", PODS];

/// Flows are run without them, too.
pub(super) const PODS: &str = "pods";

/// The same. They stand in no namespace, and are watched only by those who serve all.
pub(super) const QUEUES: &str = "queues";

/// Whether flows are run although nothing may be heard of these.
fn is_optional(resource: &str) -> bool {
    [PODS, QUEUES].contains(&resource)
}

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
            .flat_map(|scope| WATCHED.map(|resource| (scope.clone(), Arc::new(Beat::new(resource)))))
            .filter(|(_, beat)| settings.pods || beat.resource() != PODS);
        let queues = scopes
            .contains(&None)
            .then(|| (None, Arc::new(Beat::new(QUEUES))));
        Self {
            beats: each.chain(queues).collect(),
        }
    }

    pub(super) fn watches(&self) -> impl Iterator<Item = &(Option<String>, Arc<Beat>)> {
        self.beats.iter()
    }

    /// Whether every watch has shown a whole list, so that flows are run.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        let is_settled =
            |beat: &Beat| beat.is_listed() || (is_optional(beat.resource()) && beat.has_failed());
        self.beats.iter().all(|(_, beat)| is_settled(beat))
    }

    /// How long the quietest watch has heard nothing, and of what it is. A server sends a bookmark about once a
    /// minute; watches begin anew every five.
    #[must_use]
    pub fn silence(&self) -> (Duration, &'static str) {
        // Where something may not be listed nothing is ever heard of it.
        let lives = |beat: &Beat| !is_optional(beat.resource()) || beat.is_listed();
        let living = self.beats.iter().filter(|(_, beat)| lives(beat));
        let beats = living.map(|(_, beat)| (beat.silence(), beat.resource()));
        beats.max().unwrap_or((Duration::ZERO, ""))
    }
}
