//! What must be true of everything that was ever stored, whatever befell: looked up in the service's history of flows
//! and Jobs.

use std::collections::{BTreeMap, BTreeSet};

use jobflow_test_service::{Change, Service, What, kind, object};
use serde_json::Value;

/// The largest status of the small flows that tests make, in bytes.
const BUDGET: usize = 75_000;

/// Entry and instance of a flow, by the flow's UID.
type Place = (String, String);

/// What the status of a flow said last of a node.
#[derive(Clone, Debug, Default, PartialEq)]
struct Node {
    phase: String,
    attempt: u64,
    reason: String,
    uid: String,
    stopped: bool,
}

/// What was true so far.
#[derive(Default)]
struct Audit {
    nodes: BTreeMap<Place, Node>,
    /// Attempts whose intent was recorded.
    intents: BTreeSet<(Place, u64)>,
    /// UIDs that were recorded.
    recorded: BTreeSet<String>,
    /// Jobs that were ever made, by the attempt that they are of.
    made: BTreeMap<(Place, u64), Vec<String>>,
    /// Jobs that haven't ended and are there: their attempt, by UID.
    live: BTreeMap<String, (Place, u64)>,
    /// Those of them that nothing has stopped: neither deleted nor aborted.
    going: BTreeMap<String, (Place, u64)>,
    found: Vec<String>,
}

/// Every breach, in words.
pub(crate) fn violations(service: &Service) -> Vec<String> {
    let changes = service.act(|state| {
        let of = |plural| state.store.changes_after(kind(plural), 0).to_vec();
        let mut all: Vec<Change> = of("jobflows");
        all.extend(of("jobs"));
        all.sort_by_key(|change| change.version);
        all
    });
    let mut audit = Audit::default();
    for change in &changes {
        match (change.key.kind.kind, change.what) {
            ("Job", What::Deleted) => audit.job_gone(&change.object),
            ("Job", _) => audit.job(&change.object, change.what),
            (_, What::Deleted) => {}
            _ => audit.flow(&change.object),
        }
    }
    for flow in service.all("jobflows") {
        audit.is_told(&flow);
    }
    audit.found
}

fn is_end(phase: &str) -> bool {
    ["Succeeded", "Failed", "Skipped", "Cancelled"].contains(&phase)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

impl Audit {
    fn job(&mut self, job: &Value, what: What) {
        let Some((place, attempt)) = key(job) else { return };
        let uid = object::uid(job).to_owned();
        let phase = job["status"]["state"]["phase"].as_str().unwrap_or_default();
        if what == What::Added {
            self.made(&place, attempt, &uid);
        }
        if ["Completed", "Failed", "Terminated"].contains(&phase) {
            return self.job_gone(job);
        }
        if phase == "Aborted" || object::is_leaving(job) {
            self.going.remove(&uid);
        } else {
            self.going.insert(uid.clone(), (place.clone(), attempt));
        }
        self.live.insert(uid, (place, attempt));
    }

    fn job_gone(&mut self, job: &Value) {
        self.live.remove(object::uid(job));
        self.going.remove(object::uid(job));
    }

    fn made(&mut self, place: &Place, attempt: u64, uid: &str) {
        let (entry, key) = (&place.1, (place.clone(), attempt));
        if !self.intents.contains(&key) {
            self.found.push(format!(
                "a Job of {entry}, attempt {attempt}, without a recorded intent"
            ));
        }
        if self.live.values().any(|(other, _)| other == place) {
            self.found.push(format!("{entry} has two live Jobs"));
        }
        let before = self.made.entry(key).or_default();
        if before.iter().any(|uid| self.recorded.contains(uid)) {
            self.found.push(format!(
                "a second Job of {entry}, attempt {attempt}, whose first was recorded"
            ));
        }
        before.push(uid.to_owned());
    }

    fn flow(&mut self, flow: &Value) {
        let status = &flow["status"];
        let Some(nodes) = status["nodes"].as_array() else {
            // A status that somebody wiped says nothing of ends any more; intents and UIDs are known for ever.
            let uid = object::uid(flow);
            self.nodes.retain(|(of, _), _| of != uid);
            return;
        };
        for record in nodes {
            self.node(flow, record);
        }
        self.limits(flow);
        self.the_end(flow, nodes);
        if status.to_string().len() > BUDGET {
            self.found
                .push(format!("a status of {} bytes", status.to_string().len()));
        }
    }

    fn node(&mut self, flow: &Value, record: &Value) {
        let name = text(record, "name");
        let place = (object::uid(flow).to_owned(), name.to_owned());
        let node = Node {
            phase: record["phase"].as_str().unwrap_or("Waiting").to_owned(),
            attempt: record["attempt"].as_u64().unwrap_or(1),
            reason: text(record, "reason").to_owned(),
            uid: text(record, "uid").to_owned(),
            stopped: record["stop"].is_object(),
        };
        let before = self.nodes.get(&place).cloned().unwrap_or_default();
        let same =
            (&before.phase, before.attempt, &before.reason) == (&node.phase, node.attempt, &node.reason);
        if is_end(&before.phase) && !same {
            self.found
                .push(format!("{name} had ended {before:?} and became {node:?}"));
        }
        let key = (place.clone(), node.attempt);
        if is_end(&node.phase) && !is_end(&before.phase) && self.going.values().any(|other| *other == key) {
            self.found
                .push(format!("{name} became {node:?} while its Job is alive"));
        }
        if node.phase == "Submitting" {
            if self.intents.insert((place.clone(), node.attempt)) && node.attempt == 1 {
                self.starts_in_time(flow, name);
            }
            let newer = self
                .live
                .values()
                .find(|(other, attempt)| *other == place && *attempt < node.attempt);
            if let Some((_, attempt)) = newer {
                let words = format!(
                    "{name}: attempt {} is intended while {attempt} is alive",
                    node.attempt
                );
                self.found.push(words);
            }
        }
        if !node.uid.is_empty() {
            self.recorded.insert(node.uid.clone());
        }
        self.nodes.insert(place, node);
    }

    /// Entries that wait for others in the plainest way start when those have succeeded.
    fn starts_in_time(&mut self, flow: &Value, name: &str) {
        let entries = flow["spec"]["flows"].as_array().into_iter().flatten();
        let Some(entry) = entries.clone().find(|entry| entry["name"] == name) else {
            return;
        };
        let depends = &entry["dependsOn"];
        if depends
            .as_object()
            .is_none_or(|fields| fields.keys().any(|field| field != "targets"))
        {
            return;
        }
        let nodes = flow["status"]["nodes"].as_array();
        for target in depends["targets"].as_array().into_iter().flatten() {
            let excused = entries
                .clone()
                .any(|entry| entry["name"] == *target && entry["allowFailure"] == true);
            let satisfies = entry["onSkipped"] == "Satisfy";
            let record = nodes.into_iter().flatten().find(|node| node["name"] == *target);
            let phase = record.map_or("", |record| text(record, "phase"));
            let holds =
                phase == "Succeeded" || excused && phase == "Failed" || satisfies && phase == "Skipped";
            if !holds {
                self.found
                    .push(format!("{name} starts while {target} is {phase}"));
            }
        }
    }

    fn limits(&mut self, flow: &Value) {
        let Some(most) = flow["spec"]["parallelism"].as_u64() else {
            return;
        };
        let live = |node: &Node| {
            ["Submitting", "Queued", "Running", "Stopping", "Paused"].contains(&node.phase.as_str())
                && !node.stopped
        };
        let of_flow = self.nodes.iter().filter(|((uid, _), _)| uid == object::uid(flow));
        let alive = of_flow.filter(|(_, node)| live(node)).count();
        if alive as u64 > most {
            self.found.push(format!("{alive} jobs are alive of {most}"));
        }
    }

    /// A flow with nothing left has ended. The first write of a driver leaves Volcano's part as it was, so that this is
    /// asked of the last version only.
    fn is_told(&mut self, flow: &Value) {
        let nodes = flow["status"]["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        let open = nodes.iter().any(|node| !is_end(text(node, "phase")));
        let phase = flow["status"]["state"]["phase"].as_str().unwrap_or_default();
        if !nodes.is_empty() && !open && !["Succeed", "Failed"].contains(&phase) {
            self.found
                .push(format!("all nodes have ended, and the flow is {phase:?}"));
        }
    }

    fn the_end(&mut self, flow: &Value, nodes: &[Value]) {
        let spec = |list: &str| flow["spec"][list].as_array().map_or(0, Vec::len);
        let all = spec("flows") + spec("finally");
        let ended = nodes.iter().filter(|node| is_end(text(node, "phase"))).count();
        let phase = flow["status"]["state"]["phase"].as_str().unwrap_or_default();
        let told = ["Succeed", "Failed"].contains(&phase);
        if told && ended < nodes.len() && nodes.len() == all {
            self.found.push(format!(
                "{ended} of {all} nodes have ended, and the flow is {phase:?}"
            ));
        }
    }
}

/// Which attempt of which flow's entry a Job is of.
fn key(job: &Value) -> Option<(Place, u64)> {
    let owners = job["metadata"]["ownerReferences"].as_array()?;
    let owner = owners.iter().find(|owner| owner["controller"] == true)?;
    let told = job["metadata"]["annotations"]["flow.volcano.sh/node"].as_str()?;
    let mut parts = told.split('/');
    let (entry, index, attempt) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
    let place = if index == "0" {
        entry.to_owned()
    } else {
        format!("{entry}/{index}")
    };
    Some(((text(owner, "uid").to_owned(), place), attempt))
}
