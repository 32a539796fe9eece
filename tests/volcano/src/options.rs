//! How the stand-in works. Deliberately absent: what a single Job does, which is its [`Course`].

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::gang::JobPhase;

use crate::course::Course;
use crate::processes::Processes;

/// Tells whether somebody has seen a Job in this phase.
pub type Seen = Arc<dyn Fn(&Asked<'_>, JobPhase) -> bool + Send + Sync>;

/// How the stand-in works.
#[derive(Clone)]
pub struct Options {
    /// The only namespace whose Jobs are looked after; all without one.
    pub namespace: Option<String>,
    /// How many times as fast as the wall's clock Jobs live.
    pub speed: u32,
    /// Which statuses are written.
    pub detail: Detail,
    /// Whether there are Pod objects, and somebody may delete them.
    pub pods: bool,
    /// Whether a Job in a queue that isn't there is left alone as Volcano does.
    pub queues: bool,
    /// What a Job does that has no annotations; annotations win over it.
    pub course: Arc<dyn Fn(&Asked<'_>) -> Course + Send + Sync>,
    /// Nothing happens to a Job until somebody who must not miss its phase has seen it.
    pub seen: Seen,
    /// Containers run as processes; courses and speed count for nothing then.
    pub processes: Option<Processes>,
    /// Most requests to the API server at once.
    pub requests: usize,
}

/// A Job that is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its labels.
    pub labels: &'a BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: &'a BTreeMap<String, String>,
}

/// Which statuses are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Every one that Volcano writes: each change of counts, and each end twice.
    #[default]
    AsVolcano,
    /// One a phase, for many Jobs at once.
    Phases,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            namespace: None,
            speed: 1,
            detail: Detail::AsVolcano,
            pods: false,
            queues: true,
            course: Arc::new(|_| Course::default()),
            seen: Arc::new(|_, _| true),
            processes: None,
            requests: 64,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            namespace,
            speed,
            detail,
            pods,
            queues,
            course: _,
            seen: _,
            processes,
            requests,
        } = self;
        formatter
            .debug_struct("Options")
            .field("namespace", namespace)
            .field("speed", speed)
            .field("detail", detail)
            .field("pods", pods)
            .field("queues", queues)
            .field("processes", processes)
            .field("requests", requests)
            .finish_non_exhaustive()
    }
}
