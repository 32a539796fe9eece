//! A stand-in for Volcano's controllers and scheduler, and for a node, on the service.
//!
//! Comes in: Jobs, Commands and deleted Pods as the store has them, and what the pods of each attempt are to do. Goes
//! out: statuses of Jobs as the core's model of Volcano writes them, and Pods that live their lives. The garbage
//! collector runs along. Deliberately absent: PodGroups, several nodes, room that runs out.

mod gang;
mod node;
mod status;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use jobflow_core::gang::Command;
use jobflow_core::testing::Life;
use jobflow_k8s::schema::Schemas;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};

use super::kind::kind;
use super::store::{Change, Key, What};
use super::{Service, object};
use gang::Gang;

/// Which attempt of which entry a Job is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt {
    /// The entry; the Job's name for a Job of no flow.
    pub entry: String,
    /// The instance.
    pub index: u32,
    /// The attempt, from 1.
    pub attempt: u32,
}

/// Tells what the pods of an attempt do.
pub type Lives = Arc<dyn Fn(&Attempt) -> Life + Send + Sync>;

/// How long Volcano takes to notice something.
const REACTION: Duration = Duration::from_millis(2);

/// How long it waits when nothing is to be done.
const IDLE: Duration = Duration::from_secs(3_600);

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::new);

/// The stand-in.
pub struct Volcano {
    service: Service,
    lives: Lives,
    gangs: BTreeMap<String, Gang>,
    seen: u64,
}

impl fmt::Debug for Volcano {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Volcano")
            .field("gangs", &self.gangs.len())
            .finish_non_exhaustive()
    }
}

impl Volcano {
    /// One that has seen nothing yet.
    #[must_use]
    pub fn new(service: &Service, lives: Lives) -> Self {
        Self {
            service: service.clone(),
            lives,
            gangs: BTreeMap::new(),
            seen: 0,
        }
    }

    /// Works for ever.
    pub async fn run(mut self) {
        let mut news = self.service.news();
        loop {
            news.mark_unchanged();
            let next = self.round();
            tokio::select! {
                biased;
                () = news.changed() => sleep(REACTION).await,
                () = sleep_until(next) => {}
            }
        }
    }

    /// Does what is to be done now; when there is more to do even if nothing changes.
    fn round(&mut self) -> Instant {
        let mut garbage = false;
        for change in self.changes() {
            garbage |= change.what == What::Deleted || object::is_leaving(&change.object);
            self.take_in(&change);
        }
        let now = Instant::now();
        let mut next = now + IDLE;
        for gang in self.gangs.values_mut() {
            gang.play(&self.service, now);
            gang.decide(&self.service, now);
            next = next.min(gang.next().unwrap_or(next));
        }
        // The pods of a Job outlive it for a moment.
        self.gangs.retain(|_, gang| !gang.gone || gang.has_pods());
        if garbage {
            self.service.collect_garbage();
        }
        next
    }

    /// What changed since the last round, in order.
    fn changes(&mut self) -> Vec<Change> {
        let state = self.service.lock();
        let plurals = ["jobflows", "jobs", "commands", "pods"];
        let of_kind = |plural| state.store.changes_after(kind(plural), self.seen).iter().cloned();
        let mut changes: Vec<Change> = plurals.into_iter().flat_map(of_kind).collect();
        changes.sort_by_key(|change| change.version);
        self.seen = state.store.version();
        changes
    }

    fn take_in(&mut self, change: &Change) {
        match change.key.kind.kind {
            "Job" => self.job_changed(change),
            "Command" if change.what == What::Added => self.command_came(&change.key, &change.object),
            "Pod" => {
                let owners = object::owners(&change.object);
                let gang = owners
                    .iter()
                    .find_map(|(owner, _)| self.gangs.get(owner).map(|_| owner.clone()));
                if let Some(gang) = gang.and_then(|owner| self.gangs.get_mut(&owner)) {
                    gang.pod_changed(change);
                }
            }
            _ => {}
        }
    }

    fn job_changed(&mut self, change: &Change) {
        let uid = object::uid(&change.object).to_owned();
        if let Some(gang) = self.gangs.get_mut(&uid) {
            gang.gone |= change.what == What::Deleted;
            gang.leaving |= gang.gone || object::is_leaving(&change.object);
            return;
        }
        if change.what == What::Deleted {
            return;
        }
        let attempt = attempt(&change.object);
        let life = (self.lives)(&attempt);
        let now = self.service.clock().milliseconds();
        if let Some(gang) = Gang::new(&change.key, &change.object, life, now, &SCHEMAS) {
            self.gangs.insert(uid, gang);
        }
    }

    /// Volcano deletes a Command before it acts on it, and acts by name.
    fn command_came(&mut self, key: &Key, object: &Value) {
        let deleted = self.service.delete(key, "Background");
        let name = object["target"]["name"].as_str().unwrap_or_default();
        let command = Command::parse(object["action"].as_str().unwrap_or_default());
        let gang = self
            .gangs
            .values_mut()
            .find(|gang| !gang.gone && gang.key.namespace == key.namespace && gang.key.name == name);
        if let (Ok(_), Some(command), Some(gang)) = (deleted, command, gang) {
            gang.command(command);
        }
    }
}

/// What the annotation on a Job says.
fn attempt(job: &Value) -> Attempt {
    let told = job["metadata"]["annotations"]["flow.volcano.sh/node"]
        .as_str()
        .unwrap_or_default();
    let parts: Vec<&str> = told.split('/').collect();
    let number = |text: &str| text.parse().unwrap_or(0);
    match parts.as_slice() {
        [entry, index, attempt] => Attempt {
            entry: (*entry).to_owned(),
            index: number(index),
            attempt: number(attempt),
        },
        _ => Attempt {
            entry: object::name(job).to_owned(),
            index: 0,
            attempt: 1,
        },
    }
}

/// A reference to the owner of a pod.
fn owner(job: &Key, uid: &str) -> Value {
    json!([{
        "apiVersion": job.kind.api_version(), "kind": job.kind.kind, "name": job.name, "uid": uid,
        "controller": true, "blockOwnerDeletion": true,
    }])
}
