//! What the machine of a flow costs at 1,000 nodes: from a parsed event to the bytes of the last create that follows
//! from it, the bytes of the status included.
//!
//! `cargo bench -p jobflow-k8s --all-features` prints the figures with their bound, and fails if it is broken.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark reads the clock, prints what it found, and says so when something is missing"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use jobflow_core::Time;
use jobflow_k8s::client::flow::{FlowDriver, Input, Surroundings};
use jobflow_k8s::client::request::{Request, Response, Ticket, Written};
use jobflow_k8s::client::{Extensions, Settings, Silent};
use jobflow_k8s::observe::{SlimJob, SlimTemplate};
use jobflow_k8s::schema::Schemas;
use jobflow_k8s::types::JobFlow;
use serde_json::{Value, json};

/// Chains side by side: each end of a Job releases one other.
const CHAINS: usize = 50;
const LENGTH: usize = 20;
const BOUND: Duration = Duration::from_millis(1);

struct Bench {
    driver: FlowDriver,
    schemas: Schemas,
    templates: BTreeMap<String, Arc<SlimTemplate>>,
    keeps: AtomicBool,
    now: Time,
    version: u64,
    object: JobFlow,
}

fn main() {
    let mut bench = Bench::new();
    let mut live = bench.start();
    let mut samples = Vec::new();
    while let Some(name) = live.pop() {
        let (took, next) = bench.end(&name);
        samples.extend(next.is_some().then_some(took));
        live.splice(0..0, next);
    }
    samples.sort_unstable();
    let at = |percent: usize| samples[(samples.len() - 1) * percent / 100];
    println!(
        "event to the bytes of the last create, {} nodes, {} samples: median {:?}, p99 {:?} (bound {BOUND:?}), fastest {:?}",
        CHAINS * LENGTH,
        samples.len(),
        at(50),
        at(99),
        at(0)
    );
    assert!(at(99) < BOUND, "p99 {:?} is over {BOUND:?}", at(99));
}

impl Bench {
    fn new() -> Self {
        let entry = |chain: usize, at: usize| {
            let targets = if at == 0 {
                json!([])
            } else {
                json!([format!("c{chain}-{}", at - 1)])
            };
            json!({"name": format!("c{chain}-{at}"), "template": "t", "dependsOn": {"targets": targets}})
        };
        let entries: Vec<Value> = (0..CHAINS)
            .flat_map(|chain| (0..LENGTH).map(move |at| entry(chain, at)))
            .collect();
        let object: JobFlow = serde_json::from_value(json!({
            "apiVersion": "flow.volcano.sh/v1alpha1",
            "kind": "JobFlow",
            "metadata": {"name": "f", "namespace": "ns", "uid": "u", "generation": 1, "resourceVersion": "1"},
            "spec": {"flows": entries},
        }))
        .unwrap();
        let template = json!({"metadata": {"name": "t", "namespace": "ns", "uid": "t", "generation": 1}, "spec": spec()});
        let now = Time(1_800_000_000_000);
        Self {
            driver: FlowDriver::new(Arc::new(object.clone()), now),
            schemas: Schemas::new(),
            templates: [(
                "t".to_owned(),
                Arc::new(serde_json::from_value(template).unwrap()),
            )]
            .into(),
            keeps: AtomicBool::new(true),
            now,
            version: 1,
            object,
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut FlowDriver, &Surroundings<'_>, Time) -> T) -> T {
        let templates = |name: &str| self.templates.get(name).map(Arc::clone);
        let around = Surroundings {
            settings: &Settings::default(),
            schemas: &self.schemas,
            templates: &templates,
            queues: &|_| None,
            is_alive: &|_| false,
            extensions: &Extensions::default(),
            schema_keeps: &self.keeps,
            observer: &Silent,
        };
        act(&mut self.driver, &around, self.now)
    }

    fn step(&mut self) -> Vec<(Ticket, Request)> {
        self.with(|driver, around, now| driver.step(around, now).requests)
    }

    fn receive(&mut self, input: Input) {
        self.with(|driver, around, now| driver.receive(input, around, now));
    }

    /// What a server answers; the flow's status and mark are kept. None for a create.
    fn answer(&mut self, ticket: Ticket, request: &Request) -> Option<String> {
        let response = if let Request::CreateJob { name, .. } = request {
            let name = name.clone();
            let job = Box::new(self.job(&name, ""));
            self.receive(Input::Answered(ticket, Response::Job(job)));
            return Some(name);
        } else if let Request::WriteStatus { body } = request {
            self.version += 1;
            let sent: Value = serde_json::from_slice(body).unwrap();
            self.object.status = serde_json::from_value(sent["status"].clone()).unwrap();
            self.object.metadata.resource_version = Some(self.version.to_string());
            Response::Written(Box::new(Written {
                version: self.version.to_string(),
                status: self.object.status.clone().unwrap(),
            }))
        } else {
            if let Request::MarkBirth { body } = request {
                let mark: Value = serde_json::from_slice(body).unwrap();
                self.version += 1;
                self.object.metadata.annotations =
                    serde_json::from_value(mark["metadata"]["annotations"].clone()).unwrap();
                self.object.metadata.resource_version = Some(self.version.to_string());
            }
            Response::Flow(Box::new(self.object.clone()))
        };
        self.receive(Input::Answered(ticket, response));
        None
    }

    fn job(&mut self, name: &str, phase: &str) -> SlimJob {
        self.version += 1;
        let entry = name.trim_start_matches("f-");
        serde_json::from_value(json!({
            "metadata": {
                "name": name, "namespace": "ns", "uid": format!("uid-of-{name}"),
                "resourceVersion": format!("{}", 1_000_000 + self.version),
                "creationTimestamp": "2027-01-15T08:00:00Z",
                "annotations": {"flow.volcano.sh/node": format!("{entry}/0/1")},
                "ownerReferences": [{
                    "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "f", "uid": "u", "controller": true,
                }],
            },
            "spec": spec(),
            "status": {
                "state": {"phase": phase, "lastTransitionTime": "2027-01-15T08:00:10Z"},
                "taskStatusCount": {"main": {"phase": {"Running": 1}}},
            },
        }))
        .unwrap()
    }

    /// Answers everything until the first Job of each chain is there.
    fn start(&mut self) -> Vec<String> {
        let mut created = Vec::new();
        loop {
            let requests = self.step();
            if requests.is_empty() && created.len() == CHAINS {
                return created;
            }
            for (ticket, request) in requests {
                created.extend(self.answer(ticket, &request));
            }
        }
    }

    /// A Job completes: how long it takes, without the server, until the create that follows is there to be sent.
    fn end(&mut self, name: &str) -> (Duration, Option<String>) {
        self.now = Time(self.now.0 + 300);
        let job = Arc::new(self.job(name, "Completed"));
        let began = Instant::now();
        self.receive(Input::Job(job));
        let mut requests = self.step();
        let mut took = began.elapsed();
        let mut created = None;
        while !requests.is_empty() {
            let wrote = requests
                .iter()
                .any(|(_, request)| matches!(request, Request::WriteStatus { .. }));
            for (ticket, request) in requests {
                let answered = self.answer(ticket, &request);
                created = created.or(answered);
            }
            let began = Instant::now();
            requests = self.step();
            if wrote {
                took += began.elapsed();
            }
        }
        (took, created)
    }
}

fn spec() -> Value {
    json!({"minAvailable": 1, "queue": "default", "tasks": [{"name": "main", "replicas": 1, "template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.36", "command": ["true"]}],
    }}}]})
}
