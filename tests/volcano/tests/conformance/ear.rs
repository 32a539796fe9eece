//! Hears the driver, and keeps the history of each namespace apart.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use jobflow_core::testing::{Moment, Script};
use jobflow_core::{Change, FlowGraph, FlowPhase, JobKey, Time};
use jobflow_k8s::client::{FlowRef, NodeChange, Observer};
use tokio::sync::watch;

/// A script that is being played, and what came of it so far.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) script: Script,
    pub(crate) graph: FlowGraph,
    pub(crate) history: Vec<Moment>,
    pub(crate) phase: FlowPhase,
}

/// Hears the driver.
#[derive(Debug, Default)]
pub(crate) struct Ear {
    parts: Mutex<BTreeMap<String, Part>>,
    news: watch::Sender<u64>,
}

impl Ear {
    /// From now on the flow of this namespace is that script's.
    pub(crate) fn begin(&self, namespace: &str, script: Script) {
        let part = Part {
            graph: script.graph().unwrap(),
            script,
            history: Vec::new(),
            phase: FlowPhase::default(),
        };
        self.parts().insert(namespace.to_owned(), part);
    }

    /// What was heard of a namespace.
    pub(crate) fn part(&self, namespace: &str) -> Option<Part> {
        self.parts().get(namespace).cloned()
    }

    /// Changes with everything that is heard.
    pub(crate) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    fn parts(&self) -> MutexGuard<'_, BTreeMap<String, Part>> {
        self.parts.lock().unwrap()
    }

    fn note(&self, flow: FlowRef<'_>, note: impl FnOnce(&mut Part)) {
        if let Some(part) = self.parts().get_mut(flow.namespace) {
            note(part);
        }
        self.news.send_modify(|number| *number += 1);
    }
}

impl Observer for Ear {
    fn node_changed(&self, flow: FlowRef<'_>, change: NodeChange<'_>) {
        self.note(flow, |part| {
            let key = JobKey {
                node: part.graph.find(change.node).unwrap(),
                index: 0,
                attempt: change.attempt,
            };
            part.history.push(Moment {
                change: Change {
                    key,
                    from: change.from,
                    to: change.to,
                    event: change.event,
                    at: change.at,
                },
                reason: change.reason,
            });
        });
    }

    fn flow_changed(&self, flow: FlowRef<'_>, _from: FlowPhase, to: FlowPhase, _at: Time) {
        self.note(flow, |part| part.phase = to);
    }
}
