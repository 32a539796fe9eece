//! The stand-in as a test holds it.

use std::sync::{Arc, Mutex, PoisonError};

use kube::Client;
use tokio::task::JoinHandle;

use crate::engine;
use crate::fault::Fault;
use crate::options::Options;

/// Looks after Jobs until it is dropped. What it was about to do then isn't done, as when Volcano is killed.
#[derive(Debug)]
pub struct Volcano {
    task: JoinHandle<()>,
    complaints: Complaints,
}

/// What went wrong on the way, for whoever wonders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Complaints(Arc<Mutex<Vec<String>>>);

impl Volcano {
    /// Starts one in the present runtime; it makes the queue `default` if that isn't there.
    ///
    /// # Errors
    ///
    /// If the API server doesn't know Volcano's kinds, or refuses them.
    pub async fn start(client: Client, options: Options) -> Result<Self, Fault> {
        let complaints = Complaints::default();
        let engine = engine::start(client, options, complaints.clone()).await?;
        let task = tokio::spawn(engine.run());
        Ok(Self { task, complaints })
    }

    /// What the API server refused, and Jobs that can't be read; empty if all went well.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        self.complaints
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Complaints {
    pub(crate) fn add(&self, complaint: String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(complaint);
    }
}

impl Drop for Volcano {
    fn drop(&mut self) {
        self.task.abort();
    }
}
